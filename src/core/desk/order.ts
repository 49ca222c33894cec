/**
 * What a strategy may ask of the venue, and what becomes of it. Prices are ticks of 1/10000 USDC, sizes whole units of
 * 1/1,000,000 share, money whole micro-USD, times Unix milliseconds.
 */
import type { Token } from '../signals/signal.ts';

export type { QueueModel } from '../../schema/strategy.ts';

/**
 * `fak` (fill and kill): fills what it can at once, the rest is cancelled. `fok` (fill or kill): all at once or
 * nothing. `gtc` rests until it is filled, cancelled or the market closes; `gtd` rests until its expiry at the latest.
 */
export const TIMES_IN_FORCE = ['fak', 'fok', 'gtc', 'gtd'] as const;
export type TimeInForce = (typeof TIMES_IN_FORCE)[number];

export interface OrderTerms {
  readonly token: Token;
  readonly action: 'buy' | 'sell';
  /** The worst price that it accepts. */
  readonly limitPrice: number;
  /** Shares; null: `budget` decides. */
  readonly size: number | null;
  /** Most money spent on shares; only for purchases that never rest. Exactly one of the two is given. */
  readonly budget: number | null;
  readonly timeInForce: TimeInForce;
  /** Of a `gtd` order; else null. */
  readonly expiresMs: number | null;
  /** Refused by the venue if any of it would trade at once. */
  readonly postOnly: boolean;
}

/** Why the venue, or the run's own limits, did not accept an order. */
export const REFUSALS = [
  /** Post-only, and it would have traded at once. */
  'post_only_would_trade',
  /** The limit price is not a multiple of the market's tick size. */
  'not_a_tick',
  /** Smaller than the market's minimum order size. */
  'below_minimum_size',
  /** The venue restarts and accepts no order (HTTP 425). */
  'venue_restarting',
  /** After a restart the venue accepts only post-only orders for a while (HTTP 503). */
  'venue_post_only',
  /** It would reach the venue after the window's end. */
  'window_ended',
  /** A replacement whose order had ended, or had filled as much, before it arrived. */
  'replaced_order_ended',
  /** The purse does not cover it. */
  'no_cash',
  /** An exposure cap of the run does not allow it. */
  'exposure_cap',
  /** A sale of shares that are not held. */
  'no_shares',
] as const;
export type Refusal = (typeof REFUSALS)[number];

/** The delay from the decision to the venue. Every draw comes from the run's seed. */
export type LatencyModel =
  | { readonly kind: 'constant'; readonly ms: number }
  | { readonly kind: 'uniform'; readonly minMs: number; readonly maxMs: number }
  | { readonly kind: 'log_normal'; readonly medianMs: number; readonly sigma: number; readonly maxMs: number }
  /** Measured delays, each equally likely. */
  | { readonly kind: 'samples'; readonly ms: readonly number[] };
