import { z } from 'zod';

/** Subscription tiers, from least to most. A user has one tier, and it applies to every key of the user. */
export const TIERS = ['free', 'pro', 'plus', 'premium'] as const;
export type Tier = (typeof TIERS)[number];

export const tierSchema = z.enum(TIERS);

/** The tier of a new user until an operator changes it. */
export const DEFAULT_TIER: Tier = 'free';

const count = z.int().nonnegative();

/** Limits of one tier. A cap of 0 means that the endpoint answers 403. */
export const tierLimitsShape = z.strictObject({
  requests_per_second: z.int().min(1).max(100_000),
  requests_per_minute: z.int().min(1).max(100_000),
  /** Markets, books, prices, trades, statistics, audit, the live board. */
  market_data: z.boolean(),
  /** How far back recorded data may be read; null: no limit. */
  history_days: z.number().positive().max(36_500).nullable(),
  /** Running and waiting jobs of one user, and markets in one job. */
  backtest_jobs: count,
  backtest_markets: count,
  sweep_cells: count,
  paper_strategies: count,
  stream_connections: count,
  /** Concurrent exports and answers of more than 1,000 rows per user. */
  streamed_answers: count,
  arb_ws: z.boolean(),
  replay: z.boolean(),
  export: z.boolean(),
  webhooks: z.boolean(),
});
