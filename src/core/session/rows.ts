/**
 * The input of a strategy: one row per event, in the order of receipt, every value as known at that time. The same
 * builder makes the rows of a recording (all kept) and of a live market (only the newest kept), so the two cannot
 * differ.
 */
import type { SideView } from '../../schema/records.ts';
import type { Best, BestPrices } from '../fills/engine.ts';
import { TICKS_PER_USDC } from '../money.ts';
import { FairValueModel } from '../signals/fairValueModel.ts';
import type { Token } from '../signals/signal.ts';
import { isDecidingPriceRecorded, settlementOfMarket } from '../venueRules.ts';
import type { TapeMarket } from './tape.ts';
import type { UnderlyingMeasure, UnderlyingState } from './underlyingState.ts';

/** Levels per side that the imbalance uses. */
const IMBALANCE_LEVELS = 5;

const ROW_QUOTE = 0;
export const ROW_BOOK = 1;
const ROW_PRICE = 2;
export const ROW_GAP_KNOWN = 3;
const ROW_GAP_ENDED = 4;
type RowKind =
  | typeof ROW_QUOTE
  | typeof ROW_BOOK
  | typeof ROW_PRICE
  | typeof ROW_GAP_KNOWN
  | typeof ROW_GAP_ENDED;

/** Columns; only the first `count` entries are valid. Prices in ticks, NaN if there is no value. */
export interface Rows {
  readonly count: number;
  readonly kind: Uint8Array;
  /** Receive time. It never decreases, except that rows after a gap may be earlier than those inside it. */
  readonly timeMs: Float64Array;
  /** 1: the book is proven, no gap is open, and the book or its best prices were received since the last gap ended. */
  readonly trusted: Uint8Array;
  readonly yesBid: Float64Array;
  readonly yesAsk: Float64Array;
  readonly noBid: Float64Array;
  readonly noAsk: Float64Array;
  /** Number of the book in force, for `Ladders`; -1 before the first. */
  readonly book: Int32Array;
  /** (bids - asks) / (bids + asks) of YES over its best levels; NO's is its negative. */
  readonly imbalance: Float64Array;
  /** (price of the underlying - strike) / strike. */
  readonly distance: Float64Array;
  /** In standard deviations of the deciding price; infinite if nothing can change the outcome. */
  readonly distanceSigma: Float64Array;
  /** P(Up) by the model. */
  readonly yesProb: Float64Array;
  /** Start of the gap that the row reports. */
  readonly gapStartMs: Float64Array;
  /**
   * The column of a measure. Rows that are all kept have only those named in their needs; rows of which the newest is
   * kept have any, from the next row on.
   */
  readonly measured: (measure: UnderlyingMeasure) => Float64Array;
}

/** The first row from `from` on that passes, or at which a gap becomes known; `rows.count` if there is none. */
export function firstRow(rows: Rows, from: number, passes: (row: number) => boolean): number {
  const { kind, count } = rows;
  let row = from;
  while (row < count && kind[row] !== ROW_GAP_KNOWN && !passes(row)) row++;
  return row;
}

/** Whether a row is a message of the market that arrived after a time. */
export function isMessageAfter({ kind, timeMs }: Rows, row: number, afterMs: number): boolean {
  return (kind[row] as number) <= ROW_BOOK && (timeMs[row] as number) > afterMs;
}

/**
 * The first message of the market from `from` on that arrived after a time, or row at which a gap becomes known;
 * `rows.count` if there is none. Written out: every order in flight of every cell of a sweep asks for it.
 */
export function firstMessageAfter(rows: Rows, from: number, afterMs: number): number {
  const { kind, count } = rows;
  let row = from;
  while (row < count && kind[row] !== ROW_GAP_KNOWN && !isMessageAfter(rows, row, afterMs)) row++;
  return row;
}

/** The first row from `from` on at which a gap becomes known; `rows.count` if there is none. */
export function firstGapKnown({ kind, count }: Rows, from: number): number {
  const row = kind.indexOf(ROW_GAP_KNOWN, from);
  return row < 0 || row > count ? count : row;
}

/** Best prices of a token at a row. */
export function bestAt({ yesBid, yesAsk, noBid, noAsk }: Rows, row: number, token: Token): Best {
  return token === 'yes'
    ? { bid: yesBid[row] as number, ask: yesAsk[row] as number }
    : { bid: noBid[row] as number, ask: noAsk[row] as number };
}

/** Best prices of both tokens at a row. */
export function bestPricesAt({ yesBid, yesAsk, noBid, noAsk }: Rows, row: number): BestPrices {
  return {
    yesBid: yesBid[row] as number,
    yesAsk: yesAsk[row] as number,
    noBid: noBid[row] as number,
    noAsk: noAsk[row] as number,
  };
}

const FLOAT_COLUMNS = [
  'timeMs',
  'yesBid',
  'yesAsk',
  'noBid',
  'noAsk',
  'imbalance',
  'distance',
  'distanceSigma',
  'yesProb',
  'gapStartMs',
] as const;

type FloatColumns = { readonly [K in (typeof FLOAT_COLUMNS)[number]]: Float64Array };

/** The needs of a strategy that cost computing time. */
export interface RowNeeds {
  /** Any value that depends on the underlying: distance to the strike, volatility, probability, moves. */
  readonly model: boolean;
  readonly measures?: readonly UnderlyingMeasure[];
}

/** The needs of several strategies that read the same rows. */
export function needsOfAll(all: readonly RowNeeds[]): RowNeeds {
  const measures = new Map<string, UnderlyingMeasure>();
  for (const measure of all.flatMap((needs) => needs.measures ?? [])) {
    measures.set(`${measure.of} ${measure.windowSeconds}`, measure);
  }
  return { model: all.some(({ model }) => model), measures: [...measures.values()] };
}

interface QuoteEvent {
  readonly receivedMs: number;
  readonly trusted: boolean;
  readonly yesBid: number;
  readonly yesAsk: number;
  readonly noBid: number;
  readonly noAsk: number;
}

interface BookEvent {
  readonly receivedMs: number;
  readonly trusted: boolean;
  /** Its number in the ladders. */
  readonly book: number;
  readonly yesBids: SideView;
  readonly yesAsks: SideView;
  /** Best prices of NO; omitted if NO is the mirror of YES. */
  readonly no?: { readonly bid: number; readonly ask: number };
}

export class RowBuilder {
  readonly rows: Rows;
  readonly #columns: FloatColumns;
  readonly #measured: { readonly measure: UnderlyingMeasure; readonly column: Float64Array }[] = [];
  readonly #keepAll: boolean;
  readonly #capacity: number;
  #market: TapeMarket;
  readonly #underlying: UnderlyingState | null;
  readonly #model: FairValueModel | null;
  #count = 0;
  #timeMs = Number.NEGATIVE_INFINITY;
  #trusted = false;
  #openGaps = 0;
  /** The latest end of a gap, by receive time, and the latest receive time of a book or of best prices. */
  #gapEndMs = Number.NEGATIVE_INFINITY;
  #receivedMs = Number.NEGATIVE_INFINITY;
  #yesBid = Number.NaN;
  #yesAsk = Number.NaN;
  #noBid = Number.NaN;
  #noAsk = Number.NaN;
  #book = -1;
  #imbalance = Number.NaN;

  /**
   * @param underlying Null: columns that need it are not computed.
   * @param capacity Rows to keep; 1: only the newest, at index 0.
   */
  constructor(
    market: TapeMarket,
    {
      underlying,
      capacity,
      measures = [],
    }: {
      underlying: UnderlyingState | null;
      capacity: number;
      measures?: readonly UnderlyingMeasure[] | undefined;
    },
  ) {
    this.#market = market;
    this.#underlying = underlying;
    this.#keepAll = capacity > 1;
    this.#capacity = capacity;
    for (const measure of measures) this.#addMeasure(measure);
    const settlement = settlementOfMarket(market);
    const isPriced = settlement !== null && isDecidingPriceRecorded(market);
    this.#model = underlying && isPriced ? new FairValueModel({ ...market, settlement }) : null;
    this.#columns = Object.fromEntries(
      FLOAT_COLUMNS.map((name) => [name, new Float64Array(capacity).fill(Number.NaN)]),
    ) as FloatColumns;
    const builder = this;
    this.rows = {
      ...this.#columns,
      kind: new Uint8Array(capacity),
      trusted: new Uint8Array(capacity),
      book: new Int32Array(capacity),
      measured: (measure) => builder.#columnOf(measure),
      get count() {
        return builder.#count;
      },
    };
  }

  #columnOf(measure: UnderlyingMeasure): Float64Array {
    const { of, windowSeconds } = measure;
    const isSame = (known: UnderlyingMeasure) => known.of === of && known.windowSeconds === windowSeconds;
    const known = this.#measured.find((one) => isSame(one.measure));
    if (known !== undefined) return known.column;
    if (this.#keepAll) throw new RangeError(`the rows were made without ${of} ${windowSeconds ?? ''}`);
    return this.#addMeasure(measure);
  }

  #addMeasure(measure: UnderlyingMeasure): Float64Array {
    const column = new Float64Array(this.#capacity).fill(Number.NaN);
    this.#measured.push({ measure, column });
    return column;
  }

  /** @returns False if the book has already shown the same values: then there is no new row. */
  quote(event: QuoteEvent): boolean {
    const { trusted, yesBid, yesAsk, noBid, noAsk } = event;
    const wasTrusted = this.#isTrusted;
    this.#receivedMs = Math.max(this.#receivedMs, event.receivedMs);
    const bestsKnown =
      Object.is(yesBid, this.#yesBid) &&
      Object.is(yesAsk, this.#yesAsk) &&
      Object.is(noBid, this.#noBid) &&
      Object.is(noAsk, this.#noAsk);
    const sameTrust = trusted === this.#trusted && wasTrusted === this.#isTrusted;
    if (bestsKnown && sameTrust) return false;
    this.#trusted = trusted;
    this.#yesBid = yesBid;
    this.#yesAsk = yesAsk;
    this.#noBid = noBid;
    this.#noAsk = noAsk;
    this.#emit(ROW_QUOTE, event.receivedMs);
    return true;
  }

  book(event: BookEvent): void {
    const { yesBids, yesAsks, no } = event;
    this.#trusted = event.trusted;
    this.#receivedMs = Math.max(this.#receivedMs, event.receivedMs);
    this.#yesBid = bestOf(yesBids);
    this.#yesAsk = bestOf(yesAsks);
    this.#noBid = no === undefined ? TICKS_PER_USDC - this.#yesAsk : no.bid;
    this.#noAsk = no === undefined ? TICKS_PER_USDC - this.#yesBid : no.ask;
    this.#imbalance = imbalanceOf(yesBids, yesAsks);
    this.#book = event.book;
    this.#emit(ROW_BOOK, event.receivedMs);
  }

  /** Call after `UnderlyingState.push`. @returns False if no session uses the underlying: then there is no new row. */
  price(receivedMs: number): boolean {
    if (this.#model === null) return false;
    this.#emit(ROW_PRICE, receivedMs);
    return true;
  }

  /** Applies from the next row at or after `strikeKnownTimeMs`. */
  strike(strike: Pick<TapeMarket, 'strikePrice' | 'strikeKnownTimeMs'>): void {
    this.#market = { ...this.#market, ...strike };
  }

  gapDetected({ startMs, knownMs }: { startMs: number; knownMs: number }): void {
    this.#openGaps++;
    const at = this.#emit(ROW_GAP_KNOWN, knownMs);
    this.#columns.gapStartMs[at] = startMs;
  }

  /** @param endMs Receive time of the first proven book or best prices after the gap: earlier ones stay untrusted. */
  gapEnded(endMs: number): void {
    this.#openGaps = Math.max(0, this.#openGaps - 1);
    this.#gapEndMs = Math.max(this.#gapEndMs, endMs);
    this.#emit(ROW_GAP_ENDED, endMs);
  }

  get #isTrusted(): boolean {
    return this.#trusted && this.#openGaps === 0 && this.#receivedMs >= this.#gapEndMs;
  }

  #emit(kind: RowKind, receivedMs: number): number {
    const at = this.#keepAll ? this.#count++ : 0;
    this.#count = at + 1;
    const { rows } = this;
    const timeMs = Math.max(this.#timeMs, receivedMs);
    // A recording may lack the records inside a gap, so they must not move the clock of the rows after it.
    if (this.#openGaps === 0 || kind === ROW_GAP_KNOWN || kind === ROW_GAP_ENDED) this.#timeMs = timeMs;
    rows.kind[at] = kind;
    rows.timeMs[at] = timeMs;
    rows.trusted[at] = this.#isTrusted ? 1 : 0;
    rows.yesBid[at] = this.#yesBid;
    rows.yesAsk[at] = this.#yesAsk;
    rows.noBid[at] = this.#noBid;
    rows.noAsk[at] = this.#noAsk;
    rows.book[at] = this.#book;
    rows.imbalance[at] = this.#imbalance;
    if (this.#model !== null && this.#underlying !== null)
      this.#writeModel(this.#model, this.#underlying, at);
    return at;
  }

  #writeModel(model: FairValueModel, underlying: UnderlyingState, at: number): void {
    const { strikePrice, strikeKnownTimeMs, startTimeMs } = this.#market;
    const nowMs = this.rows.timeMs[at] as number;
    const spot = underlying.priceAt(nowMs);
    // A strike is unknown before it was received, and before its window has opened.
    const known = strikeKnownTimeMs !== null && nowMs >= Math.max(strikeKnownTimeMs, startTimeMs);
    const fromMs = model.averageFromMs;
    model.update({
      nowMs,
      strike: known ? strikePrice : null,
      spot: Number.isNaN(spot) ? null : spot,
      sigmaAnnual: underlying.sigmaAnnual,
      insideMean: nowMs > fromMs ? underlying.mean({ fromMs, toMs: nowMs }) : null,
    });
    const { rows } = this;
    const { strike } = model;
    rows.distance[at] = strike === null ? Number.NaN : (spot - strike) / strike;
    rows.distanceSigma[at] = model.distance ?? Number.NaN;
    rows.yesProb[at] = model.yesProb ?? Number.NaN;
    for (const { measure, column } of this.#measured) column[at] = underlying.measure(measure, nowMs);
  }
}

function bestOf({ count, prices }: SideView): number {
  return count === 0 ? Number.NaN : (prices[0] as number);
}

function imbalanceOf(bids: SideView, asks: SideView): number {
  const [bid, ask] = [depthOf(bids), depthOf(asks)];
  // NaN for an empty book.
  return (bid - ask) / (bid + ask);
}

function depthOf({ count, sizes }: SideView): number {
  let sum = 0;
  for (let i = 0; i < Math.min(count, IMBALANCE_LEVELS); i++) sum += sizes[i] as number;
  return sum;
}
