import { VenueRefusedError } from '../runtime/errors.ts';
import type { PerpDepthEvent, PerpVenueName } from '../schema/events.ts';
import type { Ticker } from '../schema/market.ts';
import type { MessageKinds } from './drift/knownKeys.ts';
import type { HttpRefusedError } from './http.ts';

/** The feed of each venue's polls, as named in logs, metrics and readiness. */
export const PERP_FEEDS: Readonly<Record<PerpVenueName, string>> = {
  bybit: 'bybit.rest',
  // `binance.rest` is the client that reads candles.
  binance: 'binance.perp',
  okx: 'okx.perp',
  hyperliquid: 'hyperliquid.perp',
};

/**
 * After older states for this long, the newest one is taken to have had a wrong time: no cache is assumed to lag so far.
 */
export const OUTDATED_MAX_MS = 10_000;

/**
 * What a refusal means for the next polls: `banned` and `rate_limited` apply to the address and so to every symbol,
 * `refused` to one symbol.
 */
export type Refusal = 'banned' | 'rate_limited' | 'refused';

/** A venue refused a poll in a readable answer, by a code of its own. */
export class PerpRefusedError extends VenueRefusedError {
  readonly refusal: Refusal;

  constructor(message: string, refusal: Refusal) {
    super(message);
    this.refusal = refusal;
  }
}

/** One request for a book; without `body` it is a GET, with it a POST of that JSON. */
export interface BookRequest {
  /** Appended to the base URL. */
  readonly path: string;
  readonly body?: object;
}

/** Receive time and round trip of an answer; the round trip is null in recordings, where nobody measured it. */
export interface AnswerTimes {
  readonly receivedTimeMs: number;
  readonly roundTripMs: number | null;
}

/** A venue whose perpetual books are polled. `PerpPoller` does the rest in one way for all of them. */
export interface PerpVenue {
  readonly name: PerpVenueName;
  /** The venue's symbols; null where it lists none. */
  readonly symbols: Readonly<Record<Ticker, string | null>>;
  /** Least time between two requests from one address: at most four fifths of the venue's limit. */
  readonly spacingMs: number;
  /** The known fields of an answer, the kind `orderbook`. */
  readonly kinds: MessageKinds;
  request(symbol: string): BookRequest;
  /**
   * Maps a parsed answer.
   * @throws {PerpRefusedError} When the answer is a refusal.
   * @throws {VenueMessageError} When the answer has the wrong shape or is a book of another symbol.
   */
  map(answer: unknown, asked: AnswerTimes & { ticker: Ticker }): PerpDepthEvent;
  /** Classifies a refusal by HTTP status. */
  refusalOf(error: HttpRefusedError): Refusal;
}

/** The meaning of an HTTP status at a venue without rules of its own. */
export function refusalOfStatus({ status }: HttpRefusedError): Refusal {
  return status === 429 ? 'rate_limited' : 'refused';
}
