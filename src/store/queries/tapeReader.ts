/**
 * Reads a recorded market into the arrays of a replay: streamed, into memory that threads share, within a size limit.
 */
import type { Readable } from 'node:stream';
import {
  BEFORE_FIRST_SEQ,
  type MarketTape,
  TAPE_AFTER_MS,
  TAPE_BEFORE_MS,
  type TapeGap,
  type TapePrices,
  type TapeQuotes,
  type TapeTrades,
} from '../../core/session/tape.ts';
import { tapeMarketOf } from '../../core/session/tapeMarket.ts';
import { decidingSource } from '../../core/venueRules.ts';
import { StoreUnavailableError, TooMuchDataError } from '../../runtime/errors.ts';
import type { PerpDepthEvent, PerpVenueName, UnderlyingSource } from '../../schema/events.ts';
import type { Market, Ticker } from '../../schema/market.ts';
import type { StoreReader } from '../reader.ts';
import { BOOK_FORMAT } from '../tables/bookRowReader.ts';
import { SharedColumn } from '../tables/sharedColumn.ts';
import { TapeBookBuilder } from './tapeBookBuilder.ts';
import {
  PRICE_DOUBLES,
  QUOTE_DOUBLES,
  STRETCH_END,
  TAPE_BOOKS,
  TAPE_PERP_DEPTH,
  TAPE_PRICES,
  TAPE_QUOTES,
  TAPE_TRADES,
  TRADE_DOUBLES,
} from './tapes.ts';

/** Rows of one stream and levels of all books of one market: about 300 MB. */
const ROWS_MAX = 4_000_000;
const LEVELS_MAX = 20_000_000;

export interface TapeTerms {
  /** Levels per side; null: no books. */
  readonly depth: number | null;
  /** The underlying's own prices, from an hour before the window. */
  readonly prices: boolean;
  /** The venue's trades, which fill orders that rest. */
  readonly trades?: boolean;
}

/** Arrival numbers: greater than `afterSeq`, up to and including `toSeq`. */
export interface SeqRange {
  readonly afterSeq: number;
  readonly toSeq: number;
}

const ALL: SeqRange = { afterSeq: BEFORE_FIRST_SEQ, toSeq: Number.MAX_SAFE_INTEGER };

type PerpDepthRow = PerpDepthEvent & { readonly seq: number };

/** Answers the statements of tapes: a store, or a service that has one. */
export type TapeRows = Pick<StoreReader, 'stream'>;

interface Read {
  readonly reader: TapeRows;
  readonly signal: AbortSignal;
}

/**
 * @param gaps Gaps of this market.
 * @param stretch The part of it to read; everything by default.
 * @throws {TooMuchDataError} When it exceeds the limit.
 * @throws {StoreUnavailableError} When the store cannot be reached.
 */
export async function loadTape(
  reader: TapeRows,
  {
    market,
    gaps,
    terms,
    stretch = ALL,
  }: { market: Market; gaps: readonly TapeGap[]; terms: TapeTerms; stretch?: SeqRange },
  signal: AbortSignal,
): Promise<MarketTape> {
  const read = { reader, signal };
  const range = rangeOf(market, stretch);
  const rows = { market_id: market.marketId, ...range };
  const [quotes, books, prices, trades] = await Promise.all([
    loadQuotes(read, rows),
    terms.depth === null ? null : loadBooks(read, { ...rows, depth: terms.depth }),
    terms.prices
      ? loadPrices(read, { ticker: market.ticker, source: decidingSource(market), ...range })
      : null,
    terms.trades ? loadTrades(reader, { market, stretch }, signal) : null,
  ]);
  return {
    market: tapeMarketOf(market),
    ...{ quotes, books, prices, gaps: gapsRead(gaps, terms) },
    ...(trades === null ? {} : { trades }),
  };
}

/** The gaps of what the tape reads. */
function gapsRead(gaps: readonly TapeGap[], { depth, trades = false }: TapeTerms): TapeGap[] {
  const isRead = { quotes: true, books: depth !== null, trades };
  return gaps.flatMap(({ of, ...gap }) => (of === undefined || isRead[of] ? [gap] : []));
}

/**
 * Finds where the next `books` books of a market end, so that its tape can be read in parts of bounded size.
 * @returns The last arrival number; null where fewer remain.
 */
export async function stretchEnd(
  reader: StoreReader,
  market: Market,
  { afterSeq, books }: { afterSeq: number; books: number },
): Promise<number | null> {
  const range = rangeOf(market, { ...ALL, afterSeq });
  const params = { market_id: market.marketId, ...range, books };
  const [end] = await reader.rows<{ books: number; toSeq: number }>(STRETCH_END, params);
  return end !== undefined && end.books === books ? end.toSeq : null;
}

function rangeOf({ startTimeMs, endTimeMs }: Market, { afterSeq, toSeq }: SeqRange) {
  const times = { from_ms: startTimeMs - TAPE_BEFORE_MS, to_ms: endTimeMs + TAPE_AFTER_MS };
  return { ...times, after_seq: afterSeq, to_seq: toSeq };
}

async function loadQuotes(read: Read, params: object): Promise<TapeQuotes> {
  const trusted = new SharedColumn(Uint8Array);
  const columns = await loadFixed(read, TAPE_QUOTES, {
    ...{ params, doubles: QUOTE_DOUBLES },
    onFlag: (flag) => trusted.push(flag),
  });
  const [seq, receivedMs, yesBid, yesAsk, noBid, noAsk, underlying] = columns as Columns<7>;
  return { seq, receivedMs, trusted: trusted.shared(), yesBid, yesAsk, noBid, noAsk, underlying };
}

/** Null where nothing was recorded: then the prices stored with the quotes are used to the end. */
async function loadPrices(read: Read, params: object): Promise<TapePrices | null> {
  const columns = await loadFixed(read, TAPE_PRICES, { params, doubles: PRICE_DOUBLES, onFlag: () => {} });
  const [seq, receivedMs, eventMs, price] = columns as Columns<4>;
  return seq.length === 0 ? null : { seq, receivedMs, eventMs, price };
}

/** The recorded prices of one feed in a range of their own time; null without any. */
export function loadFeedPrices(
  reader: StoreReader,
  feed: { ticker: Ticker; source: UnderlyingSource; fromMs: number; toMs: number },
): Promise<TapePrices | null> {
  const { ticker, source, fromMs, toMs } = feed;
  const read = { reader, signal: new AbortController().signal };
  const { afterSeq: after_seq, toSeq: to_seq } = ALL;
  return loadPrices(read, { ticker, source, from_ms: fromMs, to_ms: toMs, after_seq, to_seq });
}

async function loadBooks(read: Read, params: object) {
  const columns = new TapeBookBuilder();
  await stream(read, TAPE_BOOKS, {
    ...{ params, format: BOOK_FORMAT },
    onBytes: (bytes) => {
      columns.read(bytes);
      if (columns.levels > LEVELS_MAX) throw new TooMuchDataError(`more than ${LEVELS_MAX} levels`);
    },
    isWhole: () => columns.isWhole,
  });
  return columns.shared();
}

/** Trades of a market within the times of its tape. */
async function loadTrades(
  reader: TapeRows,
  { market, stretch = ALL }: { market: Market; stretch?: SeqRange },
  signal: AbortSignal,
): Promise<TapeTrades> {
  const side = new SharedColumn(Uint8Array);
  const columns = await loadFixed({ reader, signal }, TAPE_TRADES, {
    params: { market_id: market.marketId, ...rangeOf(market, stretch) },
    doubles: TRADE_DOUBLES,
    onFlag: (flag) => side.push(flag),
  });
  const [seq, receivedMs, eventMs, price, size] = columns as Columns<5>;
  return { seq, receivedMs, eventMs, side: side.shared(), price, size };
}

/** A span of times, and within it of arrival numbers. */
interface FeedSpan {
  readonly fromMs: number;
  readonly toMs: number;
  readonly stretch?: SeqRange;
}

/** Prices of a feed whose own time and receipt are in the span; null without any. */
export function loadPriceSpan(
  reader: TapeRows,
  { ticker, source, ...span }: FeedSpan & { readonly ticker: Ticker; readonly source: UnderlyingSource },
  signal: AbortSignal,
): Promise<TapePrices | null> {
  return loadPrices({ reader, signal }, { ticker, source, ...spanParams(span) });
}

/** Order books of a perpetual venue that were received in the span. */
export async function loadPerpSpan(
  reader: TapeRows,
  { ticker, venue, ...span }: FeedSpan & { readonly ticker: Ticker; readonly venue: PerpVenueName },
  signal: AbortSignal,
): Promise<PerpDepthRow[]> {
  const lines = new LineReader();
  const rows: PerpDepthRow[] = [];
  await stream({ reader, signal }, TAPE_PERP_DEPTH, {
    params: { ticker, venue, ...spanParams(span) },
    format: 'JSONEachRow',
    onBytes: (bytes) => {
      for (const line of lines.read(bytes))
        rows.push({ kind: 'perp_depth', venue, ticker, ...JSON.parse(line) });
      if (rows.length > ROWS_MAX) throw new TooMuchDataError(`more than ${ROWS_MAX} rows`);
    },
    isWhole: () => lines.isWhole,
  });
  return rows;
}

function spanParams({ fromMs, toMs, stretch = ALL }: FeedSpan) {
  return { from_ms: fromMs, to_ms: toMs, after_seq: stretch.afterSeq, to_seq: stretch.toSeq };
}

type Columns<N extends 4 | 5 | 7> = N extends 4
  ? [Float64Array, Float64Array, Float64Array, Float64Array]
  : N extends 5
    ? [...Columns<4>, Float64Array]
    : [...Columns<4>, Float64Array, Float64Array, Float64Array];

async function loadFixed(
  read: Read,
  query: string,
  { params, doubles, onFlag }: { params: object; doubles: number; onFlag: (flag: number) => void },
): Promise<Float64Array[]> {
  const rows = new FixedRowReader(doubles);
  const columns = Array.from({ length: doubles }, () => new SharedColumn(Float64Array));
  const onRow = (flag: number, values: Float64Array) => {
    onFlag(flag);
    for (let i = 0; i < doubles; i++) (columns[i] as SharedColumn<Float64Array>).push(values[i] as number);
  };
  await stream(read, query, {
    ...{ params, format: 'RowBinary' },
    onBytes: (bytes) => {
      rows.read(bytes, onRow);
      if ((columns[0]?.length ?? 0) > ROWS_MAX) throw new TooMuchDataError(`more than ${ROWS_MAX} rows`);
    },
    isWhole: () => rows.isWhole,
  });
  return columns.map((column) => column.shared());
}

async function stream(
  { reader, signal }: Read,
  query: string,
  {
    params,
    format,
    onBytes,
    isWhole,
  }: { params: object; format: string; onBytes: (bytes: Buffer) => void; isWhole: () => boolean },
): Promise<void> {
  const body: Readable = await reader.stream(query, { ...params }, { format, signal });
  for await (const bytes of body) onBytes(bytes as Buffer);
  if (!isWhole()) throw new StoreUnavailableError('the store ended an answer within a row');
}

/** Reads binary rows of one flag and a fixed number of doubles; chunks may be cut at any byte. */
class FixedRowReader {
  readonly #doubles: number;
  readonly #values: Float64Array;
  #rest: Buffer = Buffer.alloc(0);

  constructor(doubles: number) {
    this.#doubles = doubles;
    this.#values = new Float64Array(doubles);
  }

  /** @param onRow Receives an array that is reused: copy the values you keep. */
  read(bytes: Buffer, onRow: (flag: number, values: Float64Array) => void): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const width = 1 + 8 * this.#doubles;
    let at = 0;
    for (; at + width <= all.length; at += width) {
      for (let i = 0; i < this.#doubles; i++) this.#values[i] = all.readDoubleLE(at + 1 + 8 * i);
      onRow(all[at] as number, this.#values);
    }
    this.#rest = all.subarray(at);
  }

  /** Whether the last row was received completely. */
  get isWhole(): boolean {
    return this.#rest.length === 0;
  }
}

/** Cuts bytes into lines; chunks may be cut at any byte. */
class LineReader {
  #rest: Buffer = Buffer.alloc(0);

  read(bytes: Buffer): string[] {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const end = all.lastIndexOf(0x0a) + 1;
    this.#rest = all.subarray(end);
    return end === 0 ? [] : all.toString('utf8', 0, end - 1).split('\n');
  }

  get isWhole(): boolean {
    return this.#rest.length === 0;
  }
}
