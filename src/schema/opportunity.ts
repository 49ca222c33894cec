import { z } from 'zod';
import { EVENT_TYPES, TICKERS } from './market.ts';

/**
 * Kinds of signals that are pushed to customers: books whose outcomes cost less than they pay, and nearly decided
 * windows.
 */
export const PUSHED_TIERS = ['logical', 'endgame'] as const;
export type PushedTier = (typeof PUSHED_TIERS)[number];

/**
 * One opportunity as webhooks and streams send it (interface specification, 6.2). (market_id, detected_at) identifies
 * it.
 */
export const opportunitySchema = z.strictObject({
  type: z.literal('opportunity'),
  tier: z.enum(PUSHED_TIERS),
  ticker: z.enum(TICKERS),
  event_type: z.enum(EVENT_TYPES),
  market_id: z.string(),
  polymarket_slug: z.string(),
  direction: z.enum(['BUY_YES', 'BUY_NO', 'BUY_BOTH']),
  fill_price: z.number(),
  fill_spread: z.number(),
  expected_pnl_per_share: z.number(),
  est_fee_per_share: z.number(),
  tau_minutes: z.number(),
  confidence: z.enum(['stable', 'stale']),
  model_yes_prob: z.number(),
  detected_at: z.string(),
  polymarket_url: z.string(),
});
export type Opportunity = Readonly<z.infer<typeof opportunitySchema>>;
