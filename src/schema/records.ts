/**
 * Records that the recorder writes and the store keeps. `seq` is the arrival number: unique, rising, and together with
 * the time the key of pages and replays. Prices are ticks of 1/10000 USDC, sizes 1/1,000,000 share, times Unix
 * milliseconds.
 */
import type { PerpDepthEvent, UnderlyingEvent } from './events.ts';
import type { Gap } from './gap.ts';
import type { Market } from './market.ts';

/** Arrival numbers derive from the wall clock: so many in a millisecond before they run ahead of it. */
export const SEQS_PER_MILLISECOND = 4096;

/**
 * One side of a live ladder, best first; only the first `count` entries are valid. A reused view: copy the values you
 * keep.
 */
export interface SideView {
  readonly count: number;
  readonly prices: Uint16Array;
  readonly sizes: Float64Array;
}

/** One token's live book. A reused view: copy the values you keep. */
export interface BookView {
  readonly bids: SideView;
  readonly asks: SideView;
}

export type BookSide = keyof BookView;

/** The state of one market's book after one venue action. */
export interface BookRecord {
  readonly seq: number;
  readonly marketId: string;
  /** The venue's time, made monotonic per market. */
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  readonly yes: BookView;
  readonly no: BookView;
  /** Whether NO is the exact mirror of YES (price p <-> 1-p, bids <-> asks, same sizes). */
  readonly mirrored: boolean;
  readonly trusted: boolean;
  /** Last price of the underlying at `eventTimeMs`; null when none is known or it is older than 10 s. */
  readonly underlyingPrice: number | null;
}

/** Best prices of both tokens, written when one of the four prices or the trust changes. Null for an empty side. */
export interface QuoteRecord {
  readonly seq: number;
  readonly marketId: string;
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  readonly yesBid: number | null;
  readonly yesAsk: number | null;
  readonly noBid: number | null;
  readonly noAsk: number | null;
  /** Whether a YES best price or the trust changed; false if only a NO price did. */
  readonly yesChanged: boolean;
  readonly trusted: boolean;
  readonly underlyingPrice: number | null;
}

export type TradeSide = 'BUY_YES' | 'SELL_YES' | 'BUY_NO' | 'SELL_NO';

export interface TradeRecord {
  readonly seq: number;
  readonly marketId: string;
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  readonly side: TradeSide;
  readonly price: number;
  readonly size: number;
  readonly tradeId: string;
}

export type UnderlyingRecord = UnderlyingEvent & { readonly seq: number };
export type PerpDepthRecord = PerpDepthEvent & { readonly seq: number };
export type MarketRecord = Market & { readonly seq: number };
export type GapRecord = Gap & { readonly seq: number };

/** The recorder's records by kind. */
export interface Records {
  book: BookRecord;
  quote: QuoteRecord;
  trade: TradeRecord;
  underlying: UnderlyingRecord;
  perpDepth: PerpDepthRecord;
  market: MarketRecord;
  gap: GapRecord;
}
export type RecordKind = keyof Records;

/** A record with its kind. */
export type KindedRecord = {
  readonly [K in RecordKind]: {
    readonly kind: K;
    readonly record: Records[K];
    /** It arrived after newer ones of its kind: it is stored at its venue time, and no live consumer sees it. */
    readonly isLate?: boolean;
  };
}[RecordKind];

/** Receives the recorder's records. Calls return at once; views must be copied before they return. */
export type RecordSink = { [K in RecordKind]: (record: Records[K]) => void };

/** A sink that handles the records of all kinds in one way. */
export function recordSink(
  onRecord: <K extends RecordKind>(kind: K, record: Records[K]) => void,
): RecordSink {
  return {
    book: (record) => onRecord('book', record),
    quote: (record) => onRecord('quote', record),
    trade: (record) => onRecord('trade', record),
    underlying: (record) => onRecord('underlying', record),
    perpDepth: (record) => onRecord('perpDepth', record),
    market: (record) => onRecord('market', record),
    gap: (record) => onRecord('gap', record),
  };
}

/** Passes a record on to a sink. */
export function forward<K extends RecordKind>(sink: RecordSink, kind: K, record: Records[K]): void {
  sink[kind](record);
}
