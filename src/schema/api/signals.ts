/** Shapes of the live board and the audit log. */
import { z } from 'zod';
import { EVENT_TYPES, TICKERS } from '../market.ts';
import { opportunitySchema } from '../opportunity.ts';

/** The kinds of a signal, in the order of every answer. */
export const SIGNAL_TIERS = ['logical', 'endgame', 'stable', 'stale'] as const;
export const AUDIT_WINDOWS = ['1h', '24h', '7d', '30d', 'all'] as const;
/** Daily windows are part of all sums but have no bucket. */
export const AUDIT_EVENT_TYPES = ['5m', '15m', '1h', '4h'] as const;

const time = z.iso
  .datetime({ offset: true, precision: 3 })
  .meta({ description: 'ISO 8601, UTC, milliseconds', examples: ['2026-11-20T12:00:00.123+00:00'] });
const count = z.int().min(0);
const price = z.number().min(0).max(1).nullable();
const tier = z.enum(SIGNAL_TIERS);

export const liveOpportunityShape = opportunitySchema.extend({
  tier: tier.describe('Kind of the signal, fixed at first detection'),
  detected_at: time.describe('First detection of this kind in this market'),
  question: z.string(),
  resolution_at: time.describe('End of the market’s window'),
  seconds_to_resolution: z.number(),
  underlying_now: z.number().nullable(),
  strike_price: z.number().nullable(),
  log_diff: z.number().nullable().describe('ln(underlying / strike)'),
  sigma_annual: z.number().nullable().describe('Over `vol_window_sec`; a year has 31,536,000 s'),
  sigma_tau: z.number().nullable().describe('Standard deviation of the log of the deciding price, as of now'),
  market_yes_mid: price,
  mismatch_mid: z.number().nullable().describe('`model_yes_prob` minus `market_yes_mid`'),
  yes_bid: price,
  yes_ask: price,
  no_bid: price,
  no_ask: price,
  edge_per_share: z.number().describe('Expected P&L per share (pair for BUY_BOTH) after the taker fee'),
  available_size: z.number().min(0).describe('Shares (pairs) at `fill_price`'),
});
export type LiveOpportunityBody = z.infer<typeof liveOpportunityShape>;
export const liveBoardShape = z.strictObject({
  as_of: time,
  count,
  tickers: z.array(z.enum(TICKERS)).describe('As requested'),
  event_types: z.array(z.enum(EVENT_TYPES)).describe('As requested'),
  min_edge_pp: z.number(),
  opportunities: z.array(liveOpportunityShape),
});

const sums = {
  total: count,
  resolved: count,
  avg_model_ev: z.number().nullable().describe('USDC per share (pair), over all signals; null without any'),
  avg_realized: z
    .number()
    .nullable()
    .describe('USDC per share (pair), over resolved signals; null without any'),
  total_realized: z.number().describe('Sum over resolved signals, at one share each'),
};
const bucketsOf = <V extends readonly string[]>(values: V) =>
  z.array(z.strictObject({ bucket: z.enum(values), ...sums })).describe('Every bucket, in this order');
export const auditAggregateShape = z.strictObject({
  window: z.enum(AUDIT_WINDOWS),
  since: time.nullable().describe('Start of the window; for `all` the first detection, null before it'),
  as_of: time,
  overall: z.strictObject({
    total: count,
    resolved: count,
    open: count,
    logical_total: count,
    logical_resolved: count,
    avg_model_ev: z.number().nullable(),
    avg_realized: z.number().nullable(),
    total_realized: z.number(),
    first_detection: time.nullable(),
    last_detection: time.nullable(),
  }),
  by_ticker: bucketsOf(TICKERS),
  by_tier: bucketsOf(SIGNAL_TIERS),
  by_event_type: bucketsOf(AUDIT_EVENT_TYPES),
});
export type AuditAggregateBody = z.infer<typeof auditAggregateShape>;

const executableShape = z.strictObject({
  after_ms: z.int(),
  fill_price: z
    .number()
    .nullable()
    .describe('Null if nothing would have filled, or the book was not trusted'),
  size: z.number().min(0).describe('Shares (pairs)'),
});
export const auditRowShape = z.strictObject({
  audit_id: z.string(),
  detected_at: time,
  market_id: z.string(),
  polymarket_slug: z.string(),
  ticker: z.enum(TICKERS),
  event_type: z.enum(EVENT_TYPES),
  tier,
  confidence: z.enum(['stable', 'stale']),
  direction: z.enum(['BUY_YES', 'BUY_NO', 'BUY_BOTH']),
  fill_price: z.number(),
  fill_spread: z.number(),
  est_fee_per_share: z.number(),
  model_ev_per_share: z.number(),
  model_yes_prob: z.number(),
  available_size: z.number(),
  underlying: z.number().nullable(),
  strike_price: z.number().nullable(),
  strike_source: z.enum(['official', 'relayed', 'estimated']).nullable(),
  sigma_annual: z.number().nullable(),
  tau_minutes: z.number(),
  executable: z
    .array(executableShape)
    .describe('What the book would have filled this long after the detection; empty until known'),
  resolved_at: time.nullable(),
  outcome: z.enum(['Up', 'Down']).nullable(),
  realized_per_share: z.number().nullable(),
  hash: z.string().describe('SHA-256 of the detection’s entry in the chain'),
  prev_hash: z.string(),
});
export type AuditRowBody = z.infer<typeof auditRowShape>;
export const auditRowsShape = z.strictObject({
  count,
  rows: z.array(auditRowShape),
  next_cursor: z.string().nullable().describe('Pass as `cursor` for the next page; null on the last'),
});
