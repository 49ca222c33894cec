/**
 * Events that venue mappers emit: facts reported by the venue, in this service's units. Immutable once made. Every
 * event has the venue's time (`eventTimeMs`, null where the venue sends none) and the receive time (`receivedTimeMs`,
 * stamped once, in the feed). Both are Unix milliseconds.
 */
import type { Ticker } from './market.ts';
import type { ProtocolVersion } from './protocol.ts';

/** One side of a price level. Price in ticks of 1/10000 USDC (0..10000), size in 1/1,000,000 share. */
export type Side = 'BUY' | 'SELL';

/** Levels as received, in any order; two arrays of equal length. */
export interface Levels {
  readonly prices: readonly number[];
  readonly sizes: readonly number[];
}

/** A complete book of one token. It replaces the previous book. */
export interface BookSnapshotEvent {
  readonly kind: 'book_snapshot';
  readonly marketId: string;
  readonly tokenId: string;
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  /** The venue's SHA-1 of the book, 40 hex digits; null in archives that left it out. */
  readonly hash: string | null;
  readonly bids: Levels;
  readonly asks: Levels;
  /** As received ("0.01"); only initial snapshots contain these two. The price is "" before the first trade. */
  readonly tickSize: string | null;
  readonly lastTradePrice: string | null;
  /** Null where the book states none, as every V1 book. */
  readonly version: ProtocolVersion | null;
}

/** Sets one level of one token to an absolute size; 0 removes it. */
export interface LevelChange {
  readonly tokenId: string;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  /** Hash of this token's book AFTER the whole venue action; null where the venue sent none. */
  readonly hash: string | null;
  /** Best prices of this token AFTER the whole action, null for an empty side; valid only if `announcesBest`. */
  readonly announcesBest: boolean;
  readonly bestBid: number | null;
  readonly bestAsk: number | null;
}

/** One price_change frame: a part of a venue action, or all of it. */
export interface BookChangeEvent {
  readonly kind: 'book_change';
  readonly marketId: string;
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  readonly changes: readonly LevelChange[];
}

/** A trade of one token; `side` is the taker's. */
export interface TokenTradeEvent {
  readonly kind: 'trade';
  readonly marketId: string;
  readonly tokenId: string;
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  readonly side: Side;
  readonly price: number;
  readonly size: number;
  /** Null in recordings older than this field. */
  readonly transactionHash: string | null;
}

export interface TickSizeChangeEvent {
  readonly kind: 'tick_size_change';
  readonly marketId: string;
  readonly tokenId: string;
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  /** As received, e.g. "0.001". */
  readonly tickSize: string;
}

/** The venue's own best prices of a token, sent with (and often before) the changes that cause them. */
interface TokenQuoteEvent {
  readonly kind: 'token_quote';
  readonly marketId: string;
  readonly tokenId: string;
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  readonly bestBid: number | null;
  readonly bestAsk: number | null;
}

export interface MarketResolvedEvent {
  readonly kind: 'market_resolved';
  readonly marketId: string;
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  readonly winningTokenId: string;
  readonly winningOutcome: string;
}

/**
 * A market that the venue listed. The message covers the whole platform and is used for nothing: the listing has the
 * markets. So only its market is read, and a new form of the rest costs nothing.
 */
interface NewMarketEvent {
  readonly kind: 'new_market';
  readonly marketId: string;
  readonly receivedTimeMs: number;
}

/** A message of a protocol version that this service does not know: nothing else of it is read. */
export interface UnknownVersionEvent {
  readonly kind: 'unknown_version';
  readonly marketId: string;
  readonly version: string;
  readonly receivedTimeMs: number;
}

export type ClobEvent =
  | BookSnapshotEvent
  | BookChangeEvent
  | TokenTradeEvent
  | TickSizeChangeEvent
  | TokenQuoteEvent
  | MarketResolvedEvent
  | NewMarketEvent
  | UnknownVersionEvent;

export const UNDERLYING_SOURCES = ['binance_spot', 'coinbase_spot', 'chainlink', 'twap60'] as const;
export type UnderlyingSource = (typeof UNDERLYING_SOURCES)[number];

/** A price of the underlying asset in USD(T). */
export interface UnderlyingEvent {
  readonly kind: 'underlying';
  readonly ticker: Ticker;
  readonly source: UnderlyingSource;
  readonly price: number;
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  /** Sent in answer to a subscription, and old by nature; not stored. */
  readonly isHistory?: true;
}

/** The venues of perpetual futures, in the order of every list; the first is the default. */
export const PERP_VENUES = ['bybit', 'binance', 'okx', 'hyperliquid'] as const;
export type PerpVenueName = (typeof PERP_VENUES)[number];

/**
 * An order book of a perpetual venue. Levels are decimal strings [price, size in coins], best first, at most 50 per
 * side.
 */
export interface PerpDepthEvent {
  readonly kind: 'perp_depth';
  readonly venue: PerpVenueName;
  readonly ticker: Ticker;
  /** The venue's number of this state of the book; an equal number is the same book. */
  readonly updateId: number;
  readonly eventTimeMs: number;
  /** The matching engine's time, if the venue sends it. */
  readonly engineTimeMs: number | null;
  readonly receivedTimeMs: number;
  /** Duration of the poll; null for pushed or imported books. */
  readonly roundTripMs: number | null;
  readonly bids: readonly (readonly [string, string])[];
  readonly asks: readonly (readonly [string, string])[];
}
