/** The body of an action, the most frequent message: its fields by position, its ladders as packed bytes. */
import type { StreamBodies } from '../recordStream.ts';
import { decodeLadders, encodeLadders } from './ladders.ts';

type Action = StreamBodies['action'];
type Book = NonNullable<Action['book']>;
type Quote = NonNullable<Action['quote']>;

/** Null instead of a market id means the message's key. */
type PackedBook = readonly [
  marketId: string | null,
  eventTimeMs: number,
  receivedTimeMs: number,
  trusted: boolean,
  underlyingPrice: number | null,
  ladders: Uint8Array,
];
type PackedQuote = readonly [
  marketId: string | null,
  eventTimeMs: number,
  receivedTimeMs: number,
  trusted: boolean,
  underlyingPrice: number | null,
  yesChanged: boolean,
  yesBid: number | null,
  yesAsk: number | null,
  noBid: number | null,
  noAsk: number | null,
];
type PackedAction = readonly [
  book: PackedBook | null,
  quote: PackedQuote | null,
  ladderHash: string,
  occurrence: number,
  isRepeated: boolean,
];

export function encodeAction(action: Action, key: string | null): PackedAction {
  const { book, quote, ladderHash, occurrence, isRepeated } = action;
  const packed = [book && packBook(book, key), quote && packQuote(quote, key)] as const;
  return [...packed, ladderHash, occurrence, isRepeated];
}

/** @throws {Error} When the value is not one of `encodeAction`. */
export function decodeAction(packed: object, key: string | null): Action {
  const [book, quote, ladderHash, occurrence, isRepeated] = packed as PackedAction;
  return {
    book: book === null ? null : unpackBook(book, key),
    quote: quote === null ? null : unpackQuote(quote, key),
    ...{ ladderHash, occurrence, isRepeated },
  };
}

function packBook(book: Book, key: string | null): PackedBook {
  const { marketId, eventTimeMs, receivedTimeMs, trusted, underlyingPrice } = book;
  const owner = marketId === key ? null : marketId;
  return [owner, eventTimeMs, receivedTimeMs, trusted, underlyingPrice, encodeLadders(book)];
}

function unpackBook(packed: PackedBook, key: string | null): Book {
  const [owner, eventTimeMs, receivedTimeMs, trusted, underlyingPrice, ladders] = packed;
  const times = { marketId: marketOf(owner, key), eventTimeMs, receivedTimeMs };
  return { ...times, ...decodeLadders(ladders), trusted, underlyingPrice };
}

function packQuote(quote: Quote, key: string | null): PackedQuote {
  const { marketId, eventTimeMs, receivedTimeMs, trusted, underlyingPrice, yesChanged } = quote;
  const owner = marketId === key ? null : marketId;
  const { yesBid, yesAsk, noBid, noAsk } = quote;
  const about = [owner, eventTimeMs, receivedTimeMs, trusted, underlyingPrice, yesChanged] as const;
  return [...about, yesBid, yesAsk, noBid, noAsk];
}

function unpackQuote(packed: PackedQuote, key: string | null): Quote {
  const [owner, eventTimeMs, receivedTimeMs, trusted, underlyingPrice, yesChanged, ...prices] = packed;
  const [yesBid, yesAsk, noBid, noAsk] = prices;
  const times = { marketId: marketOf(owner, key), eventTimeMs, receivedTimeMs };
  return { ...times, yesBid, yesAsk, noBid, noAsk, yesChanged, trusted, underlyingPrice };
}

function marketOf(owner: string | null, key: string | null): string {
  const marketId = owner ?? key;
  if (marketId === null) throw new TypeError('an action without a market id');
  return marketId;
}
