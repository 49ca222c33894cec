/**
 * Shapes of the API's answers, one per resource: types, the API description and the tests' checks are derived from
 * them. They are not evaluated on a request: the engine prints the large bodies itself. The description names a shape
 * by its export: `candleShape` is its `Candle`.
 */
import { z } from 'zod';
import { UNDERLYING_SOURCES } from '../events.ts';
import { GAP_CAUSES } from '../gap.ts';
import { EVENT_TYPES, RESOLUTION_SOURCES, TICKERS, UNKNOWN } from '../market.ts';

const time = z.iso
  .datetime({ offset: true, precision: 3 })
  .meta({ description: 'ISO 8601, UTC, milliseconds', examples: ['2026-11-20T12:00:00.123+00:00'] });
const price = z.number().min(0).max(1).describe('USDC per share');
const ticker = z.enum(TICKERS);
const marketTicker = z.enum([...TICKERS, UNKNOWN]);
const count = z.int().min(0);
const nextCursor = z.string().nullable().describe('Pass as `cursor` for the next page; null on the last');

export const CANDLE_TIMEFRAMES = ['5m', '15m', '1h', '4h', '24h'] as const;
export type CandleTimeframe = (typeof CANDLE_TIMEFRAMES)[number];

export const healthShape = z.strictObject({
  ok: z.boolean(),
  latest_snapshot: time.nullable(),
  snapshots_last_5min: count,
});

/** An OpenAPI document; the OpenAPI standard defines its content. */
export const openApiShape = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.looseObject({}),
});

export const probeShape = z.strictObject({ ok: z.literal(true) });

export const readinessShape = z.strictObject({
  ok: z.literal(true),
  reasons: z.array(z.string()).describe('Why the service is not ready; empty here'),
  degraded: z.array(z.string()).describe('Data that is late or missing although the service is ready'),
});

const pair = z.tuple([z.number(), z.number()]).describe('Price, size');
export const depthSnapshotShape = z.strictObject({
  timestamp: time,
  update_id: z.int(),
  bids: z.array(pair).describe('Best first: descending'),
  asks: z.array(pair).describe('Best first: ascending'),
  best_bid: z.number().nullable(),
  best_ask: z.number().nullable(),
  n_bids: count,
  n_asks: count,
});
export const perpDepthShape = z.strictObject({
  ticker,
  total: count.describe('Snapshots in the range, ignoring paging'),
  limit: count,
  offset: count,
  snapshots: z.array(depthSnapshotShape),
  next_cursor: nextCursor,
});

export const marketShape = z.strictObject({
  market_id: z.string(),
  event_id: z.string(),
  slug: z.string(),
  question: z.string(),
  market_type: z.enum([...EVENT_TYPES, UNKNOWN]),
  ticker: marketTicker,
  status: z.enum(['open', 'closed', 'resolved']),
  start_time: time,
  end_time: time,
  strike_price: z.number().nullable(),
  strike_source: z.enum(['official', 'relayed', 'estimated']).nullable(),
  close_price: z.number().nullable(),
  outcome: z.enum(['Up', 'Down']).nullable(),
  payout_yes: z.number().nullable(),
  coverage: z.number().min(0).max(1),
  resolved_at: time
    .nullable()
    .describe('From the first source that reported one; it does not change afterwards'),
  resolved_at_source: z
    .enum(RESOLUTION_SOURCES)
    .nullable()
    .describe(
      'Source of `resolved_at`: the stream’s message, the exchange as read by this service, or the listing; null without a time, or if an earlier release recorded it',
    ),
  volume: z.number().nullable(),
  liquidity: z.number().nullable(),
  tick_size: z.number(),
  taker_fee_rate: z.number().nullable(),
  taker_delay_ms: z
    .number()
    .nullable()
    .describe('The market’s own where the venue gives it, else the one in force when the window opens'),
  polymarket_url: z.url().nullable().describe('Null if no listing named the market'),
});
export type MarketBody = z.infer<typeof marketShape>;
export const marketListShape = z.strictObject({
  markets: z.array(marketShape),
  count,
  next_cursor: nextCursor,
});

export const marketReferenceShape = z.strictObject({
  market_id: z.string(),
  market_type: z.enum([...EVENT_TYPES, UNKNOWN]),
});
export const timeseriesPointShape = z.strictObject({
  ts: time,
  mid_yes: price.nullable(),
  spread_yes: price.nullable(),
  underlying_price: z.number().nullable(),
});
export const timeseriesShape = z.strictObject({
  market: marketReferenceShape,
  snapshots: z.array(timeseriesPointShape),
  total: count,
  limit: count,
  offset: count,
  next_cursor: nextCursor,
});

export const levelShape = z.strictObject({ price, size: z.number().min(0).describe('Shares') });
export const snapshotShape = z.strictObject({
  ts: time,
  yes_bids: z.array(levelShape),
  yes_asks: z.array(levelShape),
  no_bids: z.array(levelShape),
  no_asks: z.array(levelShape),
  underlying_price: z.number().nullable(),
  underlying_ticker: marketTicker,
  trusted: z.boolean(),
});
export const snapshotsShape = z.strictObject({
  market_id: z.string(),
  count,
  snapshots: z.array(snapshotShape),
  next_cursor: nextCursor,
});
export const orderbookShape = snapshotShape.extend({ market_id: z.string() });

export const candleShape = z.strictObject({
  ts: time,
  open: price,
  high: price,
  low: price,
  close: price,
  volume: z.number().min(0).describe('Shares of both tokens'),
  trade_count: count,
});
export const candlesShape = z.strictObject({
  market_id: z.string(),
  timeframe: z.enum(CANDLE_TIMEFRAMES),
  count,
  candles: z.array(candleShape),
  next_cursor: nextCursor,
});

export const tradeShape = z.strictObject({
  ts: time,
  side: z.enum(['BUY_YES', 'SELL_YES', 'BUY_NO', 'SELL_NO']).describe('The taker’s action'),
  price,
  size: z.number().describe('Shares'),
  trade_id: z.string(),
});
export const tradesShape = z.strictObject({
  market_id: z.string(),
  count,
  trades: z.array(tradeShape),
  next_cursor: nextCursor,
});

export const underlyingPointShape = z.strictObject({ ts: time, price: z.number().describe('USD') });
export const underlyingShape = z.strictObject({
  ticker,
  source: z.enum(UNDERLYING_SOURCES),
  count,
  points: z.array(underlyingPointShape),
  next_cursor: nextCursor,
});

export const gapShape = z.strictObject({
  gap_id: z.string(),
  start: time.describe('`ts` of the last durable verified row before it'),
  end: time.nullable().describe('`ts` of the first verified row after it; null while the gap is open'),
  start_received: time.describe('Receive time of the row at `start`'),
  end_received: time.nullable().describe('Receive time of the row at `end`; null while the gap is open'),
  cause: z.enum(GAP_CAUSES),
  feed: z.string(),
  repaired_by: z.string().nullable(),
});
export const gapsShape = z.strictObject({
  market_id: z.string(),
  count,
  gaps: z.array(gapShape),
  next_cursor: nextCursor,
});
export type GapBody = z.infer<typeof gapShape>;

const share = z.number().min(0).max(1);
const score = z.number().min(0).nullable();
export const calibrationBucketShape = z.strictObject({
  prob_lo: share.describe('Lower bound of the implied probability, inclusive'),
  prob_hi: share.describe('Upper bound, inclusive only in the last bucket'),
  n_markets: count,
  frac_resolved_up: share.nullable().describe('Null if the bucket is empty'),
  mean_prob: share.nullable().describe('Mean implied probability of the bucket’s markets'),
  ci_lo: share.nullable().describe('95 % Wilson interval of `frac_resolved_up`'),
  ci_hi: share.nullable(),
});
export type CalibrationBucketBody = z.infer<typeof calibrationBucketShape>;
export const calibrationShape = z.strictObject({
  ticker: ticker.nullable().describe('As requested'),
  event_type: z.enum(EVENT_TYPES).nullable().describe('As requested'),
  minutes_before: z.number().min(0),
  buckets: z.array(calibrationBucketShape),
  n_markets: count.describe('Markets in all buckets'),
  n_without_mid: count.describe('Resolved markets without a two-sided, trusted mid in time'),
  brier_score: score,
  log_loss: score.describe('In nats'),
  ece: score.describe('Expected calibration error over these buckets; chance alone makes it positive'),
  ece_chance_mean: score.describe('Mean of `ece` if each market resolved Up as often as its price says'),
  ece_chance_p95: score.describe('Chance alone keeps `ece` below this in 95 % of samples'),
  reliability: score.describe('Murphy’s decomposition of the Brier score over these buckets'),
  resolution: score,
  uncertainty: score,
});
export type CalibrationBody = z.infer<typeof calibrationShape>;
