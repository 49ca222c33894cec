/** The result of a run of a user's strategy. Money is whole micro-USD, prices USDC per share, times Unix milliseconds. */
import type { EventType, Ticker } from '../../schema/market.ts';
import type { OrderTerms, Refusal } from '../desk/order.ts';
import type { MissReason } from '../desk/report.ts';
import type { ExitReason, Trade } from '../session/position.ts';
import type { SkipReason } from '../session/replay.ts';

/** Why a strategy sold. */
export type SaleReason = Exclude<ExitReason, 'resolved' | 'market_void'> | 'sold';

/** Why an order ended before it was filled whole. */
export type OrderReason = Refusal | MissReason | 'asked' | 'replaced' | 'gap';

export type OrderOutcome =
  | 'in_flight'
  | 'resting'
  | 'filled'
  | 'partly_filled'
  | 'cancelled'
  | 'expired'
  | 'refused'
  | 'missed'
  | 'taken_back';

export interface RunOrder {
  readonly orderId: number;
  readonly marketId: string;
  readonly terms: OrderTerms;
  /** Receive time of the event at which the strategy decided. */
  readonly decidedMs: number;
  /** When it reached the matching engine; null: it never did. */
  readonly dueMs: number | null;
  readonly endedMs: number | null;
  readonly outcome: OrderOutcome;
  readonly reason: OrderReason | null;
  readonly filledSize: number;
}

export interface RunFill {
  readonly orderId: number;
  readonly marketId: string;
  readonly timeMs: number;
  readonly liquidity: 'taker' | 'maker';
  /** Ticks and units. */
  readonly price: number;
  readonly size: number;
  /** Negative: a maker rebate. */
  readonly fee: number;
}

/** A position from the first purchase until its last share is gone. */
export interface RunTrade extends Trade<'sold'> {
  readonly marketId: string;
  readonly ticker: Ticker;
  readonly eventType: EventType;
  /** The state at the decision of the first purchase; null if unknown. */
  readonly atEntry: {
    readonly secondsToEnd: number;
    /** Annualised standard deviation of the underlying's returns. */
    readonly volatility: number | null;
    /** That the bought token pays. */
    readonly modelProbability: number | null;
  };
  readonly liquidity: 'taker' | 'maker' | 'both';
}

export interface EquityPoint {
  readonly timeMs: number;
  readonly cash: number;
  /** Cost of resting purchases. */
  readonly reserved: number;
  /** Payouts and shares of ended windows that are not cash yet. */
  readonly locked: number;
  /** Open positions at the best bid; at their cost while no bid is trusted. */
  readonly marked: number;
}

export interface RunMarket {
  readonly marketId: string;
  readonly ticker: Ticker;
  readonly eventType: EventType;
  readonly startTimeMs: number;
  readonly endTimeMs: number;
  readonly skipped: SkipReason | null;
  /** Share of the window with a trusted book. */
  readonly coverage: number;
}

export interface RunResult {
  readonly orders: readonly RunOrder[];
  readonly fills: readonly RunFill[];
  readonly trades: readonly RunTrade[];
  readonly equity: readonly EquityPoint[];
  readonly markets: readonly RunMarket[];
  /** Lines that the strategy logged. */
  readonly log: readonly { readonly timeMs: number; readonly text: string }[];
  /** Logged lines beyond the limit of a run, which are left out. */
  readonly logLinesLeftOut: number;
}

/**
 * The trades that figures count: those of markets that were not skipped. In an unresolved market only the sold positions
 * have a result. They are no fair sample: a strategy that sells its gains still holds its losses.
 */
export function countedTrades({ markets, trades }: Pick<RunResult, 'markets' | 'trades'>): RunTrade[] {
  const skipped = new Set(markets.flatMap((market) => (market.skipped === null ? [] : [market.marketId])));
  return trades.filter(({ marketId }) => !skipped.has(marketId));
}
