/**
 * The client of an Underround service, for Node and browsers. `client/` packs this folder; it imports nothing else.
 * docs/CLIENTS.md describes it.
 */
export { type Book, booksOf, type DeltaRow, LiveBooks } from './book.ts';
export { Underround } from './client.ts';
export type { ClientClock } from './clock.ts';
export {
  ApiError,
  BookGapError,
  type ErrorCode,
  type FieldProblem,
  NoAnswerError,
  SignatureError,
  StreamError,
  UnderroundError,
} from './errors.ts';
export type { AnswerOf, ClientOptions, InputOf, OperationName } from './requests.ts';
export type * from './schema.ts';
export type { StreamOptions } from './stream.ts';
export type {
  GapMessage,
  OpportunityMessage,
  SnapshotMessage,
  StreamMessage,
  Subscription,
} from './streamMessages.ts';
export type { TapeBooks, TapeSide } from './tapeBooks.ts';
export {
  type RecordedMarket,
  resolutionOf,
  type Tape,
  type TapeGap,
  type TapeListing,
  type TapeOptions,
  type TapePrices,
} from './tapes.ts';
export { verifyWebhook, type WebhookEvent } from './webhook.ts';
