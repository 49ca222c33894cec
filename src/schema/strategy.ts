/**
 * The terms of a strategy, the same for backtests, sweeps and paper trading. `docs/STRATEGIES.md` describes each.
 * Prices are USDC per share.
 */

export const STRATEGY_TYPES = [
  'threshold_entry',
  'mean_reversion',
  'time_before_resolution',
  'condition_based',
] as const;

export const STRATEGY_SIDES = ['buy_yes', 'buy_no'] as const;
export type StrategySide = (typeof STRATEGY_SIDES)[number];

export const DIRECTIONS = ['below', 'above'] as const;
export const OPERATORS = [
  'above',
  'below',
  'crosses_above',
  'crosses_below',
  '>=',
  '<=',
  /** Exactly equal; and known and not equal. An unknown value satisfies neither. */
  '==',
  '!=',
] as const;
export type Operator = (typeof OPERATORS)[number];

/** Whose token metrics a condition compares; `own` is the token that the strategy buys. */
export const CONDITION_TOKENS = ['own', 'yes', 'no'] as const;
type ConditionToken = (typeof CONDITION_TOKENS)[number];

/** The values a condition can compare; token metrics are those of the condition's token. */
export const CONDITION_METRICS = [
  /**
   * The price at which the strategy would trade: best ask of the token before it is held, best bid while it is held.
   */
  'token_price',
  /** 100 x (price of the underlying - strike) / strike. */
  'underlying_distance_pct',
  /** The same distance in standard deviations of the deciding price, from now to the end. */
  'underlying_distance_sigma',
  'seconds_to_end',
  /** Best ask minus best bid of the token. */
  'spread',
  /** (bid size - ask size) / (bid size + ask size) over the best levels of the token, -1..1. */
  'imbalance',
  /** The model's probability that the token pays. */
  'model_probability',
  'seconds_since_open',
  /** Price of the underlying less its price at the window's open, USD. */
  'underlying_move_usd',
  /** The same in per cent of the price at the open. */
  'underlying_move_pct',
  /** Annualised volatility of the underlying over windows of `window_s` seconds, as a fraction. */
  'underlying_volatility',
  /** Mid of the token less its first trusted mid of the window, USDC per share. */
  'token_move',
  /** Standard deviation of the token's mid over the last `window_s` whole seconds, USDC per share. */
  'token_volatility',
] as const;
export type ConditionMetric = (typeof CONDITION_METRICS)[number];

/** Metrics over a window, with the lengths that it may have in seconds. */
export const WINDOW_SECONDS: Readonly<
  Partial<Record<ConditionMetric, { readonly min: number; readonly max: number }>>
> = {
  underlying_volatility: { min: 60, max: 3_600 },
  token_volatility: { min: 2, max: 3_600 },
};

export interface Condition {
  readonly metric: ConditionMetric;
  readonly operator: Operator;
  readonly value: number;
  /** Absent: `own`. */
  readonly token?: ConditionToken;
  /** Of a metric over a window, and only of those. */
  readonly window_s?: number;
}

/** True if any of its conditions is. */
interface ConditionGroup {
  readonly any: readonly Condition[];
}
export type EntryCondition = Condition | ConditionGroup;

export interface ThresholdEntry {
  readonly type: 'threshold_entry';
  readonly threshold: number;
  readonly direction: (typeof DIRECTIONS)[number];
  readonly side: StrategySide;
}

export interface MeanReversion {
  readonly type: 'mean_reversion';
  /** Seconds of YES mids for mean and deviation, one mid per second. */
  readonly lookback: number;
  readonly z_threshold: number;
}

export interface TimeBeforeResolution {
  readonly type: 'time_before_resolution';
  readonly minutes_before: number;
  readonly side: StrategySide;
}

export interface ConditionBased {
  readonly type: 'condition_based';
  /** Buys when all are true. */
  readonly entry: readonly EntryCondition[];
  /** Sells when any is true. */
  readonly take_profit: readonly Condition[];
  readonly stop_loss: readonly Condition[];
  readonly side: StrategySide;
  readonly max_trades_per_market: number;
}

/** Purchases that rest in the book instead of taking from it. */
export interface Execution {
  readonly entry: 'maker';
  /** Distance of the limit price from the best bid, USDC per share; positive is nearer to the ask. */
  readonly offset: number;
  /** Seconds after which the unfilled rest of a purchase is cancelled. */
  readonly timeout_s: number;
  readonly queue_model: QueueModel;
}

export type Strategy = (ThresholdEntry | MeanReversion | TimeBeforeResolution | ConditionBased) & {
  /** Absent: purchases take. */
  readonly execution?: Execution;
};

/** How the size ahead of a resting order is estimated where the recording does not show it. */
export const QUEUE_MODELS = ['optimistic', 'proportional', 'pessimistic'] as const;
export type QueueModel = (typeof QUEUE_MODELS)[number];

export const FILL_MODES = ['walk_book', 'mid'] as const;
type FillMode = (typeof FILL_MODES)[number];

/** Outcomes of a backtest's markets that the venue could have given; the plain result does not depend on them. */
export interface Stress {
  /** Share of the markets that are annulled: the cost of the shares is refunded. */
  readonly void_share: number;
  /** Share of the markets that pay late; these are others than the annulled ones. */
  readonly disputed_share: number;
  readonly dispute_delay_hours: number;
}

/** How orders are filled. */
export interface ReplayParams {
  readonly fill_mode: FillMode;
  /** Time from the decision to the venue. */
  readonly latency_ms: number;
  /** Highest price to buy at, USDC per share. */
  readonly max_fill_price: number;
  /**
   * Largest distance of a fill from the order's decision price, in either direction, USDC per share; null: no limit.
   */
  readonly max_slippage: number | null;
  readonly stress?: Stress;
}
