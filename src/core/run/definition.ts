/**
 * What a user's strategy is. The same definition runs on a recording, on a remote service's recording and on the live
 * stream. Prices are USDC per share, sizes shares, money USD, times Unix milliseconds of our receipt.
 */
import type { PerpVenueName, UnderlyingSource } from '../../schema/events.ts';
import type { EventType, Ticker } from '../../schema/market.ts';
import type { TradeSide } from '../../schema/records.ts';
import type { TimeInForce } from '../desk/order.ts';
import type { Token } from '../signals/signal.ts';
import type { OrderOutcome, OrderReason, SaleReason } from './result.ts';

export type ParamSpec =
  | { readonly default: number; readonly min?: number; readonly max?: number; readonly whole?: boolean }
  | { readonly default: boolean }
  | { readonly default: string; readonly choices: readonly string[] };

export type ParamSpecs = Readonly<Record<string, ParamSpec>>;

/** The values of declared parameters. */
export type ParamValues<P extends ParamSpecs> = {
  readonly [K in keyof P]: P[K]['default'] extends number
    ? number
    : P[K]['default'] extends boolean
      ? boolean
      : string;
};

export interface Inputs {
  readonly tickers: readonly Ticker[];
  readonly eventTypes: readonly EventType[];
  /** Every change of the book; without it only changes of best prices arrive. */
  readonly books?: boolean;
  readonly trades?: boolean;
  /** Prices of the underlying: of the feed that decides each market, and of these. */
  readonly priceSources?: readonly UnderlyingSource[];
  readonly perpDepth?: readonly PerpVenueName[];
  /** Fair value, distance to the strike and volatility for each market. */
  readonly model?: boolean;
  /** A `clock` event whenever so much time of the recording has passed. */
  readonly clockMs?: number;
}

export type StrategyEvent = {
  readonly seq: number;
  readonly timeMs: number;
} /** A market was listed, or its listing changed (strike, tick size). */ & (
  | { readonly type: 'market'; readonly marketId: string }
  | { readonly type: 'book'; readonly marketId: string }
  | {
      readonly type: 'trade';
      readonly marketId: string;
      readonly side: TradeSide;
      readonly price: number;
      readonly size: number;
      /** The venue's own time. */
      readonly eventTimeMs: number;
    }
  | {
      readonly type: 'price';
      readonly ticker: Ticker;
      readonly source: UnderlyingSource;
      readonly price: number;
      readonly eventTimeMs: number;
    }
  | { readonly type: 'perp_depth'; readonly ticker: Ticker; readonly venue: PerpVenueName }
  /** The book cannot be trusted; it reaches back to `sinceMs`. */
  | { readonly type: 'gap'; readonly marketId: string; readonly sinceMs: number }
  | { readonly type: 'gap_end'; readonly marketId: string }
  | { readonly type: 'order'; readonly order: OwnOrder }
  /** The venue named the outcome; `payoutYes` null: annulled. */
  | { readonly type: 'resolved'; readonly marketId: string; readonly payoutYes: number | null }
  | { readonly type: 'clock' }
);

export interface OwnOrder {
  readonly orderId: number;
  readonly marketId: string;
  readonly token: Token;
  readonly action: 'buy' | 'sell';
  readonly limitPrice: number;
  readonly state: OrderOutcome;
  /** Why it ended before it was filled whole. */
  readonly reason: OrderReason | null;
  readonly filledSize: number;
  readonly averagePrice: number | null;
}

export interface PlaceOrder {
  readonly marketId: string;
  readonly token: Token;
  readonly action: 'buy' | 'sell';
  /** The worst price that it accepts. */
  readonly limitPrice: number;
  /** Shares. Exactly one of `size` and `budget` is given. */
  readonly size?: number;
  /** USD spent on shares at most; only for purchases that never rest. */
  readonly budget?: number;
  /** Default `fak`; `gtc` if `postOnly`. */
  readonly timeInForce?: TimeInForce;
  readonly expiresMs?: number;
  readonly postOnly?: boolean;
  /** Of a sale: why, for the list of trades. Default `sold`. */
  readonly reason?: SaleReason;
}

export interface MarketView {
  readonly marketId: string;
  readonly ticker: Ticker;
  readonly eventType: EventType;
  readonly startTimeMs: number;
  readonly endTimeMs: number;
  /** Null until it has been received. */
  readonly strikePrice: number | null;
  /** Of orders that may rest, by the book in force. */
  readonly tickSize: number;
  /** Shares of an order that may rest. */
  readonly minimumOrderSize: number;
  /** Proven and in no gap. Nothing fills while it is false. */
  readonly trusted: boolean;
}

export interface PriceLevel {
  readonly price: number;
  readonly size: number;
}

/** The book in force, as received. */
export interface BookReader {
  /** Null: no bid. */
  bestBid(token: Token): number | null;
  bestAsk(token: Token): number | null;
  /** Best first. */
  levels(token: Token, side: 'bids' | 'asks'): readonly PriceLevel[];
  /** (bids - asks) / (bids + asks) over the five best levels of each side, in shares; null without any. */
  imbalance(token: Token): number | null;
}

export interface HeldPosition {
  readonly size: number;
  /** Of the shares held, without fees. */
  readonly averagePrice: number | null;
  readonly costUsd: number;
}

export interface ModelView {
  readonly yesProbability: number | null;
  /** 100 x (price - strike) / strike. */
  readonly distancePct: number | null;
  readonly distanceSigma: number | null;
  /** Annualised standard deviation of the underlying's returns. */
  readonly volatility: number | null;
}

/** All that a strategy may read and do. It shows only what had been received at `nowMs`. */
export interface Context<P extends ParamSpecs = ParamSpecs, S = unknown> {
  readonly params: ParamValues<P>;
  /** The run's own memory, made by the definition's `state`. */
  readonly state: S;
  readonly nowMs: number;
  /** 0..1, from the run's seed. */
  random(): number;
  /** @throws {RangeError} If no market with this id has been received. So do all calls that name a market. */
  market(marketId: string): MarketView;
  /** Markets whose window has not ended, oldest window first. */
  markets(): readonly MarketView[];
  book(marketId: string): BookReader;
  /** The newest price; without a source, of the feed that decides this market. */
  price(
    marketId: string,
    source?: UnderlyingSource,
  ): { price: number; eventTimeMs: number; receivedMs: number } | null;
  /** @throws {RangeError} If the inputs did not ask for the model. */
  model(marketId: string): ModelView;
  perpDepth(
    ticker: Ticker,
    venue: PerpVenueName,
  ): { bids: readonly PriceLevel[]; asks: readonly PriceLevel[] } | null;
  position(marketId: string, token: Token): HeldPosition;
  /** Orders that may still fill. */
  openOrders(marketId?: string): readonly OwnOrder[];
  /** USD that can be spent; null: unlimited. */
  readonly cash: number | null;
  /** Cash, reserved and locked money and positions at the best bid; null: unlimited cash. */
  readonly equity: number | null;
  /** @returns The order's id. What becomes of it arrives as `order` events. @throws {RangeError} Malformed terms. */
  place(order: PlaceOrder): number;
  cancel(orderId: number): void;
  /** Cancels and places in one message; the new order joins the end of the queue. @returns The new order's id. */
  replace(orderId: number, change: { readonly limitPrice?: number; readonly size?: number }): number;
  log(text: string): void;
}

export interface StrategyDefinition<P extends ParamSpecs = ParamSpecs, S = unknown> {
  readonly name: string;
  readonly params: P;
  readonly inputs: Inputs;
  readonly state?: () => S;
  onEvent(event: StrategyEvent, context: Context<P, S>): void;
}
