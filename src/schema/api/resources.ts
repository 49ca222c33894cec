/**
 * Shapes of what the API answers, one per resource: the type, the API description and the tests' check come from
 * them. They never run on a request: the engine prints the large bodies itself.
 */
import { z } from 'zod';
import { UNDERLYING_SOURCES } from '../events.ts';
import { GAP_CAUSES } from '../gap.ts';
import { EVENT_TYPES, TICKERS, UNKNOWN } from '../market.ts';

const time = z.iso.datetime({ offset: true, precision: 3 }).describe('ISO 8601, UTC, milliseconds');
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

const pair = z.tuple([z.number(), z.number()]).describe('Price, size');
export const perpDepthShape = z.strictObject({
  ticker,
  total: count,
  limit: count,
  offset: count,
  snapshots: z.array(
    z.strictObject({
      timestamp: time,
      update_id: z.int(),
      bids: z.array(pair),
      asks: z.array(pair),
      best_bid: z.number().nullable(),
      best_ask: z.number().nullable(),
      n_bids: count,
      n_asks: count,
    }),
  ),
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
  resolved_at: time.nullable(),
  volume: z.number().nullable(),
  liquidity: z.number().nullable(),
  tick_size: z.number(),
  taker_fee_rate: z.number().nullable(),
  taker_delay_ms: z.number().nullable(),
  polymarket_url: z.url(),
});
export type MarketBody = z.infer<typeof marketShape>;
export const marketListShape = z.strictObject({
  markets: z.array(marketShape),
  count,
  next_cursor: nextCursor,
});

export const timeseriesShape = z.strictObject({
  market: z.strictObject({ market_id: z.string(), market_type: z.enum([...EVENT_TYPES, UNKNOWN]) }),
  snapshots: z.array(
    z.strictObject({
      ts: time,
      mid_yes: price.nullable(),
      spread_yes: price.nullable(),
      underlying_price: z.number().nullable(),
    }),
  ),
  total: count,
  limit: count,
  offset: count,
  next_cursor: nextCursor,
});

const level = z.strictObject({ price, size: z.number().min(0).describe('Shares') });
const snapshot = z.strictObject({
  ts: time,
  yes_bids: z.array(level),
  yes_asks: z.array(level),
  no_bids: z.array(level),
  no_asks: z.array(level),
  underlying_price: z.number().nullable(),
  underlying_ticker: marketTicker,
  trusted: z.boolean(),
});
export const snapshotsShape = z.strictObject({
  market_id: z.string(),
  count,
  snapshots: z.array(snapshot),
  next_cursor: nextCursor,
});
export const orderbookShape = snapshot.extend({ market_id: z.string() });

export const candlesShape = z.strictObject({
  market_id: z.string(),
  timeframe: z.enum(CANDLE_TIMEFRAMES),
  count,
  candles: z.array(
    z.strictObject({
      ts: time,
      open: price,
      high: price,
      low: price,
      close: price,
      volume: z.number().min(0).describe('Shares of both tokens'),
      trade_count: count,
    }),
  ),
  next_cursor: nextCursor,
});

export const tradesShape = z.strictObject({
  market_id: z.string(),
  count,
  trades: z.array(
    z.strictObject({
      ts: time,
      side: z.enum(['BUY_YES', 'SELL_YES', 'BUY_NO', 'SELL_NO']),
      price,
      size: z.number(),
      trade_id: z.string(),
    }),
  ),
  next_cursor: nextCursor,
});

export const underlyingShape = z.strictObject({
  ticker,
  source: z.enum(UNDERLYING_SOURCES),
  count,
  points: z.array(z.strictObject({ ts: time, price: z.number() })),
  next_cursor: nextCursor,
});

export const gapsShape = z.strictObject({
  market_id: z.string(),
  count,
  gaps: z.array(
    z.strictObject({
      gap_id: z.string(),
      start: time,
      end: time.nullable(),
      cause: z.enum(GAP_CAUSES),
      feed: z.string(),
      repaired_by: z.string().nullable(),
    }),
  ),
  next_cursor: nextCursor,
});
export type GapBody = z.infer<typeof gapsShape>['gaps'][number];
