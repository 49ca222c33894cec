/** Shapes of the dashboard's current state, all from memory. */
import { z } from 'zod';
import { GAP_CAUSES } from '../gap.ts';
import { EVENT_TYPES, TICKERS, UNKNOWN } from '../market.ts';

const time = z.iso.datetime({ offset: true });
const price = z.number().min(0).max(1).nullable();
const levels = z
  .array(z.tuple([z.number().min(0).max(1), z.number().min(0)]))
  .describe('Price in USDC per share and shares, best first, at most three');

export const serviceStateShape = z.strictObject({
  as_of: time,
  tickers: z.array(z.enum(TICKERS)).describe('The assets that the service follows'),
  store_lag_seconds: z.number().min(0).describe('Delay of stored data behind received data'),
  ready: z.boolean(),
  reasons: z.array(z.string()).describe('Why the service is not ready'),
  degraded: z.array(z.string()).describe('Data that is late or missing although the service is ready'),
  history: z
    .strictObject({
      share: z.number().min(0).max(1).describe('Recorded share of the time to record'),
      hours: z.number().min(0).describe('Time to record'),
      failure: z.string().nullable().describe('Why recording of it stopped; null: it continues'),
    })
    .nullable()
    .describe('History that is still being recorded and is missing from all past figures; null: none'),
});

export const liveWindowShape = z.strictObject({
  market_id: z.string(),
  ticker: z.enum([...TICKERS, UNKNOWN]),
  market_type: z.enum([...EVENT_TYPES, UNKNOWN]),
  start_time: time,
  end_time: time,
  strike_price: z.number().nullable(),
  strike_source: z.enum(['official', 'relayed', 'estimated']).nullable(),
  gap: z.enum(GAP_CAUSES).nullable().describe('Cause of its open gap'),
  book: z
    .strictObject({
      ts: time,
      yes_bid: price,
      yes_ask: price,
      no_bid: price,
      no_ask: price,
      mid_yes: price.describe('Null while the YES book is one-sided or untrusted'),
      trusted: z.boolean(),
      ...{ yes_bids: levels, yes_asks: levels, no_bids: levels, no_asks: levels },
    })
    .nullable()
    .describe('Null before its first book'),
  model: z
    .strictObject({
      spot: z.number().nullable().describe('Price of the underlying; null without a fresh one'),
      sigma_annual: z.number().nullable().describe('Null with too few recent prices'),
      distance: z
        .number()
        .nullable()
        .describe(
          'Standard deviations of the price above the strike; null where an input is missing, and once nothing can change the outcome',
        ),
      yes_prob: price.describe('P(Up); null where an input is missing'),
      fee: z
        .strictObject({
          rate: z.number(),
          exponent: z.number(),
          base: z.enum(['share', 'cost']),
          decimals: z.int(),
          rounding: z.enum(['half_up', 'down']),
        })
        .describe('The taker fee of its fills'),
    })
    .nullable()
    .describe('The view of the detectors; null for a market that they do not watch'),
});
export type LiveWindowBody = z.infer<typeof liveWindowShape>;

export const liveWindowsShape = z.strictObject({
  as_of: time,
  windows: z.array(liveWindowShape).describe('Windows that have not ended, earliest end first'),
});
