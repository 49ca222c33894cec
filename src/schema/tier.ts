import { z } from 'zod';

/** Subscription tiers, from least to most. A user has one; every key of the user is scoped to it. */
export const TIERS = ['free', 'pro', 'plus', 'premium'] as const;
export type Tier = (typeof TIERS)[number];

export const tierSchema = z.enum(TIERS);

/** What a user starts with until an operator says otherwise. */
export const DEFAULT_TIER: Tier = 'free';

const count = z.int().nonnegative();

/** What one tier may do. A cap of 0 means: not at all, the endpoint answers 403. */
export const tierLimitsShape = z.strictObject({
  requests_per_second: z.int().min(1).max(100_000),
  requests_per_minute: z.int().min(1).max(100_000),
  /** Markets, books, prices, trades, statistics, audit, the live board. */
  market_data: z.boolean(),
  /** How far back recorded data may be read; null: without limit. */
  history_days: z.number().positive().max(36_500).nullable(),
  /** Jobs of one user that run or wait at once, and markets in one of them. */
  backtest_jobs: count,
  backtest_markets: count,
  sweep_cells: count,
  paper_strategies: count,
  stream_connections: count,
  /** Exports and answers of more than 1,000 rows that one user may have under way at once. */
  streamed_answers: count,
  arb_ws: z.boolean(),
  replay: z.boolean(),
  export: z.boolean(),
  webhooks: z.boolean(),
});
