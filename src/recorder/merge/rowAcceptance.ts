import type { StreamAction, StreamBodies } from '../../bus/recordStream.ts';
import type { RowTimes } from '../../schema/gap.ts';
import { bestPrices } from '../publish/streamSink.ts';
import { type MergedMarket, noteRecentProven, type QuoteState } from './mergedMarket.ts';
import type { MergedRecord } from './mergedRecord.ts';
import { timesOf } from './rowOrder.ts';
import {
  isInOwnGap,
  noteLastBook,
  noteTrade,
  type SenderSight,
  sees,
  TRADE_IDS_MAX,
  wasBlindAt,
  wasDelivered,
} from './senderSight.ts';

/**
 * The stream drops a copy that follows within 2 minutes. A row older than this may be a copy of a stored row; 30 s are
 * left for clocks that differ.
 */
export const COPIES_DROPPED_MS = 90_000;
/** Accepted books that are remembered: more than a doubt of a second can publish again. */
const RECENT_BOOKS_MAX = 64;
/** Digits of a hash that tell the books of one venue time apart: 60 bits. */
const BOOK_KEY_DIGITS = 10;
/** A trade behind a newer one that arrives later than this is not live. */
const LIVE_TRADE_MS = 5_000;

/** One message of a sender, as far as the acceptance of its rows depends on it. */
interface Delivery {
  readonly sender: string;
  readonly sight: SenderSight;
  /** Gives the number of a record: 0 for the quote of an action, 1 for its book. */
  readonly seq: (part: 0 | 1) => number;
  /** The stream's time. */
  readonly timeMs: number;
}

type Book = NonNullable<StreamAction['book']>;
type Quote = NonNullable<StreamAction['quote']>;

/** Accepts or drops an action: its records, or none. */
export function acceptAction(market: MergedMarket, action: StreamAction, delivery: Delivery): MergedRecord[] {
  const row = action.book ?? action.quote;
  if (row === null) return [];
  const { sight } = delivery;
  if (isSentAgain(market, action, { row, delivery })) return [];
  if (action.book?.trusted)
    noteLastBook(sight, { key: bookKey(action.book, action.ladderHash), eventTimeMs: row.eventTimeMs });
  if (!row.trusted && action.isRepeated) return acceptSettled(market, action, delivery);
  sight.isInDoubt = !row.trusted;
  if (!row.trusted) return acceptUntrusted(market, action, delivery);
  // The sender itself has reported that it was blind then.
  if (isInOwnGap(sight, row)) return [];
  noteRecentProven(market, timesOf(row));
  return action.book === null
    ? acceptTrustedQuote(market, action, delivery)
    : acceptTrustedBook(market, { ...action, book: action.book }, delivery);
}

/** Whether the sender sends a row again that the stream stored before an outage, and no longer recognises. */
function isSentAgain(
  { newest, recentBooks }: MergedMarket,
  { book, ladderHash }: StreamAction,
  { row, delivery: { sight, timeMs } }: { row: Book | Quote; delivery: Delivery },
): boolean {
  if (newest === null || row.eventTimeMs >= newest.eventTimeMs) return false;
  if (timeMs - row.receivedTimeMs <= COPIES_DROPPED_MS) return false;
  if (wasDelivered(sight, row)) return true;
  if (book === null) return false;
  const key = bookKey(book, ladderHash);
  return (sight.lastBooks?.keys.includes(key) ?? false) || recentBooks.includes(key);
}

function acceptTrustedBook(
  market: MergedMarket,
  action: StreamAction & { readonly book: Book },
  delivery: Delivery,
): MergedRecord[] {
  const { book } = action;
  const { newest } = market;
  if (newest !== null && book.eventTimeMs < newest.eventTimeMs) return acceptLate(market, action, delivery);
  const isKnown = isBookKnown(market, action);
  // A book of this time that another one has replaced.
  if (isKnown && newest?.ladderHash !== action.ladderHash) return [];
  market.untrustedFrom = null;
  return acceptLive(market, action, isKnown, delivery);
}

/** A return of trust whose book was accepted before; otherwise its book was published with it. */
function acceptTrustedQuote(market: MergedMarket, action: StreamAction, delivery: Delivery): MergedRecord[] {
  const { newest } = market;
  const quote = action.quote as Quote;
  if (newest !== null && (quote.eventTimeMs < newest.eventTimeMs || newest.ladderHash !== action.ladderHash))
    return [];
  market.untrustedFrom = null;
  return acceptLive(market, action, true, delivery);
}

/** An untrusted state is accepted only while no other sender sees the market, and of one sender only. */
function acceptUntrusted(market: MergedMarket, action: StreamAction, delivery: Delivery): MergedRecord[] {
  const { sender } = delivery;
  const { newest, sights, untrustedFrom } = market;
  const others = Object.entries(sights).filter(([name]) => name !== sender);
  if (others.some(([, sight]) => sees(sight))) return [];
  if (untrustedFrom !== null && untrustedFrom !== sender) return [];
  const row = action.book ?? (action.quote as Quote);
  const isKnown = action.book === null || isBookKnown(market, action);
  const isOther = isKnown && newest?.ladderHash !== action.ladderHash;
  // Its state is not the newest one, but that one is in doubt too: no sender sees the market.
  if (newest !== null && (row.eventTimeMs < newest.eventTimeMs || isOther))
    return withdrawTrust(market, { seq: delivery.seq(0), timeMs: delivery.timeMs });
  market.untrustedFrom = sender;
  return acceptLive(market, action, isKnown, delivery);
}

/** An untrusted book that was right, as its sender knows now. It is stored unless it was accepted before. */
function acceptSettled(
  market: MergedMarket,
  { book, ladderHash }: StreamAction,
  { seq }: Delivery,
): MergedRecord[] {
  // One of the newest venue time would follow that book in the archive, and is older.
  if (book === null || market.newest === null || book.eventTimeMs >= market.newest.eventTimeMs) return [];
  if (!noteBook(market, book, ladderHash)) return [];
  return [{ kind: 'book', record: { ...book, seq: seq(1) }, isLate: true }];
}

function bookKey({ eventTimeMs }: Book, ladderHash: string): string {
  return `${eventTimeMs}:${ladderHash.slice(0, BOOK_KEY_DIGITS)}`;
}

/** Remembers an accepted book. @returns Whether it was new. */
function noteBook(market: MergedMarket, book: Book, ladderHash: string): boolean {
  const key = bookKey(book, ladderHash);
  if (market.recentBooks.includes(key)) return false;
  market.recentBooks.push(key);
  if (market.recentBooks.length > RECENT_BOOKS_MAX) market.recentBooks.shift();
  return true;
}

/** Whether the book was accepted before, from this sender or another one. */
function isBookKnown(
  { newest }: MergedMarket,
  { book, ladderHash, occurrence, isRepeated }: StreamAction,
): boolean {
  if (newest === null) return false;
  if (isRepeated && newest.ladderHash === ladderHash) return true;
  if (book?.eventTimeMs !== newest.eventTimeMs) return false;
  return newest.hashes.filter((hash) => hash === ladderHash).length > occurrence;
}

function acceptLive(
  market: MergedMarket,
  { book, quote, ladderHash }: StreamAction,
  isBookKnown: boolean,
  { seq }: Delivery,
): MergedRecord[] {
  const row = book ?? (quote as Quote);
  const { eventTimeMs, receivedTimeMs } = row;
  const isSameTime = market.newest?.eventTimeMs === eventTimeMs;
  const hashes = isSameTime ? (market.newest?.hashes ?? []) : [];
  if (!isBookKnown) hashes.push(ladderHash);
  market.newest = { eventTimeMs, receivedTimeMs, hashes, ladderHash };
  market.isTrustWithdrawn = false;
  const state = book === null ? stateOf(quote as Quote) : { ...bestPrices(book), trusted: book.trusted };
  const records: MergedRecord[] = [];
  const changed = quoteOf({ row, state, last: market.quote, seq: seq(0) });
  market.quote = state;
  if (changed !== null) records.push({ kind: 'quote', record: changed, isLate: false });
  if (book !== null && !isBookKnown) {
    noteBook(market, book, ladderHash);
    records.push({ kind: 'book', record: { ...book, seq: seq(1) }, isLate: false });
  }
  return records;
}

/**
 * A row behind the newest one. It is stored and never changes live state. Its quote is stored only where no other sender
 * saw the market: elsewhere the quotes of that time are complete.
 */
function acceptLate(
  market: MergedMarket,
  { book, ladderHash }: StreamAction & { readonly book: Book },
  delivery: Delivery,
): MergedRecord[] {
  const { seq, timeMs, sender } = delivery;
  const isAlone = isOnlySight(sender, market, book);
  // The book that answers a subscription has the time of the last change.
  if (!isAlone && timeMs - Math.min(book.eventTimeMs, book.receivedTimeMs) > COPIES_DROPPED_MS) return [];
  noteBook(market, book, ladderHash);
  const record = { ...book, seq: seq(1) };
  if (!isAlone) return [{ kind: 'book', record, isLate: true }];
  const state = { ...bestPrices(book), trusted: book.trusted };
  const quote = quoteOf({ row: book, state, last: market.lateQuote, seq: seq(0) });
  market.lateQuote = state;
  const late = { kind: 'book', record, isLate: true } as const;
  return quote === null ? [late] : [{ kind: 'quote', record: quote, isLate: true }, late];
}

/** Whether only this sender can have delivered a row of this time, and has not done so before. */
function isOnlySight(sender: string, { sights }: MergedMarket, row: RowTimes): boolean {
  return Object.entries(sights).every(([name, sight]) => name === sender || wasBlindAt(sight, row));
}

/** A trade is accepted unless it may be a copy that the stream no longer drops. */
export function acceptTrade(
  market: MergedMarket,
  { id, body }: { readonly id: string; readonly body: StreamBodies['trade'] },
  { seq, timeMs, sender, sight }: Delivery,
): MergedRecord[] {
  const newest = market.newestTrade;
  const isBehind = newest !== null && body.eventTimeMs < newest.eventTimeMs;
  const ageMs = timeMs - body.receivedTimeMs;
  const wasDeliveredBefore = noteTrade(sight, { id, eventTimeMs: body.eventTimeMs });
  if (isBehind && ageMs > COPIES_DROPPED_MS)
    if (wasDeliveredBefore || !isOnlySight(sender, market, body)) return [];
  if (!isBehind) {
    const ids = newest?.eventTimeMs === body.eventTimeMs ? newest.ids : [];
    if (ids.includes(id)) return [];
    market.newestTrade = { eventTimeMs: body.eventTimeMs, ids: [...ids, id].slice(-TRADE_IDS_MAX) };
  }
  const record = { ...body, seq: seq(0) };
  return [{ kind: 'trade', record, isLate: isBehind && ageMs > LIVE_TRADE_MS }];
}

/** The untrusted quote of a market that no sender sees any more and whose last sender could not publish one. */
export function withdrawTrust(market: MergedMarket, at: { seq: number; timeMs: number }): MergedRecord[] {
  if (market.quote?.trusted !== true) return [];
  market.isTrustWithdrawn = true;
  return quoteAgain(market, false, at);
}

/** The trusted quote of a market whose sender was presumed dead and saw all the time that nothing changed. */
export function returnTrust(market: MergedMarket, at: { seq: number; timeMs: number }): MergedRecord[] {
  if (!market.isTrustWithdrawn) return [];
  market.isTrustWithdrawn = false;
  return quoteAgain(market, true, at);
}

function quoteAgain(
  market: MergedMarket,
  trusted: boolean,
  { seq, timeMs }: { seq: number; timeMs: number },
): MergedRecord[] {
  const { marketId, newest, quote } = market;
  if (newest === null || quote === null) return [];
  market.quote = { ...quote, trusted };
  const { eventTimeMs } = newest;
  const receivedTimeMs = Math.max(timeMs, newest.receivedTimeMs);
  const times = { seq, marketId, eventTimeMs, receivedTimeMs };
  const record = { ...times, ...market.quote, yesChanged: true, underlyingPrice: null };
  return [{ kind: 'quote', record, isLate: false }];
}

function stateOf({ yesBid, yesAsk, noBid, noAsk, trusted }: Quote): QuoteState {
  return { yesBid, yesAsk, noBid, noAsk, trusted };
}

/** The quote of a row where a best price or the trust changed; else null. */
function quoteOf({
  row,
  state,
  last,
  seq,
}: {
  row: Book | Quote;
  state: QuoteState;
  last: QuoteState | null;
  seq: number;
}) {
  const yesChanged =
    last === null ||
    state.trusted !== last.trusted ||
    state.yesBid !== last.yesBid ||
    state.yesAsk !== last.yesAsk;
  if (!yesChanged && state.noBid === last.noBid && state.noAsk === last.noAsk) return null;
  const { marketId, eventTimeMs, receivedTimeMs, underlyingPrice } = row;
  return { seq, marketId, eventTimeMs, receivedTimeMs, ...state, yesChanged, underlyingPrice };
}
