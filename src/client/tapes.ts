import type { Requests } from './requests.ts';
import type { Operations } from './schema.ts';
import { booksOfTape, type TapeBooks } from './tapeBooks.ts';
import { fixedColumns, unframed } from './tapeBytes.ts';

type Ticker = Operations['GET /v1/tapes/markets']['query']['ticker'];
type EventType = Operations['GET /v1/tapes/markets']['query']['event_type'];
type Source = NonNullable<Operations['GET /v1/tapes']['query']['source']>;
type Dataset = Operations['GET /v1/tapes']['query']['dataset'];

/** A period that cannot be trusted; `knownMs` is the time of its detection. */
export interface TapeGap {
  readonly startMs: number;
  readonly knownMs: number;
  readonly endMs: number | null;
  readonly knownSeq?: number;
  readonly endSeq?: number;
  /** The gap is one of these rows alone, because the operator had some removed or thinned; absent: of all. */
  readonly of?: 'books' | 'quotes' | 'trades';
}

/** A market as recorded, with the members that a replay reads; times are Unix milliseconds. */
export interface RecordedMarket {
  readonly marketId: string;
  readonly slug: string;
  readonly ticker: Ticker;
  readonly eventType: EventType;
  readonly status: 'open' | 'closed' | 'resolved';
  readonly startTimeMs: number;
  readonly endTimeMs: number;
  readonly strikePrice: number | null;
  readonly strikeKnownTimeMs: number | null;
  readonly takerFeeRate: number | null;
  readonly takerFeeExponent: number | null;
  readonly takerDelayMs: number | null;
  readonly twapLookbackSeconds: number | null;
  readonly decidingFeed:
    | 'chainlink_spot'
    | 'chainlink_twap'
    | 'binance_spot'
    | 'binance_futures'
    | 'unknown'
    | null;
  readonly outcome: 'Up' | 'Down' | null;
  readonly payoutYes: number | null;
  readonly resolvedTimeMs: number | null;
}

/** A line of `GET /v1/tapes/markets`. */
export interface TapeListing {
  readonly market: RecordedMarket;
  readonly gaps: readonly TapeGap[];
  /** The feed that decides the market. */
  readonly source: Source;
}

/** Prices of the underlying. */
export interface TapePrices {
  readonly seq: Float64Array;
  readonly receivedMs: Float64Array;
  readonly eventMs: Float64Array;
  readonly price: Float64Array;
}

/**
 * The recording of one market as the engine reads it (`MarketTape` of `@underround/engine`): prices are 1/10000 USDC,
 * sizes 1/1,000,000 share, times Unix milliseconds of receipt, NaN no value.
 */
export interface Tape {
  readonly market: Omit<RecordedMarket, 'slug' | 'status' | 'outcome' | 'payoutYes' | 'resolvedTimeMs'>;
  readonly quotes: {
    readonly seq: Float64Array;
    readonly receivedMs: Float64Array;
    readonly trusted: Uint8Array;
    readonly yesBid: Float64Array;
    readonly yesAsk: Float64Array;
    readonly noBid: Float64Array;
    readonly noAsk: Float64Array;
    readonly underlying: Float64Array;
  };
  readonly books: TapeBooks | null;
  readonly prices: TapePrices | null;
  readonly trades: (TapePrices & { readonly side: Uint8Array; readonly size: Float64Array }) | null;
  readonly gaps: readonly TapeGap[];
}

export interface TapeOptions {
  /** Levels per side, 200 by default; null: no books. */
  readonly depth?: number | null;
  /** Prices of the feed that decides the market, by default read. */
  readonly prices?: boolean;
  /** Trades of the venue, by default not read: orders that rest need them. */
  readonly trades?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A tape begins an hour before the window and ends a minute after it. */
const BEFORE_MS = 3_600_000;
const AFTER_MS = 60_000;
const DEPTH = 200;
/** The columns of rows of fixed width. */
const DOUBLES = { quotes: 7, prices: 4, trades: 5 } as const;

/** The markets of a series with what their tapes need, oldest first. */
export async function tapeListings(
  requests: Requests,
  query: Operations['GET /v1/tapes/markets']['query'],
  signal?: AbortSignal,
): Promise<TapeListing[]> {
  return await requests.call('GET /v1/tapes/markets', { query, signal }, async (answer) => {
    const [, ...lines] = (await answer.text()).trimEnd().split('\n');
    return lines.map((line) => requests.parsed<TapeListing>(line));
  });
}

/** Reads the tape of one market. @throws {NoAnswerError} If an answer was cut or damaged. */
export async function readTape(
  requests: Requests,
  { market, gaps, source }: TapeListing,
  { depth = DEPTH, prices = true, trades = false, signal }: TapeOptions = {},
): Promise<Tape> {
  const { marketId, ticker, startTimeMs, endTimeMs } = market;
  const [start, end] = [startTimeMs - BEFORE_MS, endTimeMs + AFTER_MS].map((ms) =>
    new Date(ms).toISOString(),
  ) as [string, string];
  const read = (dataset: Dataset, subject: object) => {
    const query = { dataset, start, end, ...subject };
    return requests.call('GET /v1/tapes', { query, signal }, async (answer) =>
      unframed(new Uint8Array(await answer.arrayBuffer())),
    );
  };
  const ofMarket = { market_id: marketId };
  const rows = fixedColumns(await read('quotes', ofMarket), DOUBLES.quotes);
  const books = depth === null ? null : booksOfTape(await read('books', { ...ofMarket, depth }));
  const priced = prices ? fixedColumns(await read('prices', { ticker, source }), DOUBLES.prices) : null;
  const traded = trades ? fixedColumns(await read('trades', ofMarket), DOUBLES.trades) : null;
  const [seq, receivedMs, yesBid, yesAsk, noBid, noAsk, underlying] = rows.columns as Columns<7>;
  const { slug: _slug, status: _status, outcome: _outcome, payoutYes: _payout, ...known } = market;
  return {
    market: known,
    quotes: { seq, receivedMs, trusted: rows.flags, yesBid, yesAsk, noBid, noAsk, underlying },
    books,
    prices: priced === null || priced.flags.length === 0 ? null : pricesOf(priced.columns),
    trades:
      traded === null
        ? null
        : { ...pricesOf(traded.columns), side: traded.flags, size: traded.columns[4] as Float64Array },
    gaps,
  };
}

/** How the venue resolved the market, as a replay needs it; null while it is not resolved. */
export function resolutionOf({ status, payoutYes, resolvedTimeMs, endTimeMs }: RecordedMarket) {
  return status === 'resolved' ? { payoutYes, resolvedTimeMs: resolvedTimeMs ?? endTimeMs } : null;
}

type Columns<N extends number> = N extends 7
  ? [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array, Float64Array, Float64Array]
  : never;

function pricesOf(columns: readonly Float64Array[]): TapePrices {
  const [seq, receivedMs, eventMs, price] = columns as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  return { seq, receivedMs, eventMs, price };
}
