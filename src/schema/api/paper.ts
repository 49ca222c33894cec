/** Bodies of requests for paper strategies, and shapes of what is answered. */
import { z } from 'zod';
import { EVENT_TYPES, TICKERS } from '../market.ts';
import { backtestTradeShape, universeType } from './backtests.ts';
import { defaultMember, jsonBoolean, jsonText, optionalMember, requiredMember } from './body.ts';
import { SIZE_USD, sizeUsdType, strategyShape, strategyType } from './strategies.ts';
import { text } from './types.ts';

export const NAME_MAX = 128;
const JOB_ID_MAX = 128;
const name = jsonText(text({ minLength: 1, maxLength: NAME_MAX }));

export const paperStrategyMembers = {
  name: requiredMember(name, 'Unique among the user’s strategies'),
  strategy: requiredMember(strategyType, 'What is bought when'),
  universe: requiredMember(universeType, 'Which markets'),
  size_usd: defaultMember(sizeUsdType, SIZE_USD.default, 'USD spent on shares per position'),
  baseline_backtest_id: optionalMember(
    jsonText(text({ minLength: 1, maxLength: JOB_ID_MAX })),
    'A backtest of the user’s; one of the last 24 h is started when absent',
  ),
};

export const paperChangeMembers = {
  active: optionalMember(jsonBoolean, 'False: nothing new is opened; what is held is dealt with to its end'),
  name: optionalMember(name, 'Unique among the user’s strategies'),
};

const time = z.iso
  .datetime({ offset: true, precision: 3 })
  .meta({ description: 'ISO 8601, UTC, milliseconds', examples: ['2026-11-20T12:00:00.123+00:00'] });
const count = z.int().min(0);
const usd = z.number();

const strategyMembers = {
  paper_strategy_id: z.string(),
  name: z.string(),
  active: z.boolean(),
  created_at: time,
  strategy: strategyShape,
  universe: z.strictObject({ ticker: z.enum(TICKERS), event_type: z.enum(EVENT_TYPES) }),
  size_usd: z.number(),
  net_pnl: usd.describe('USD after fees, of the closed positions'),
  open_positions: count,
  closed_positions: count,
};

export const paperStrategyListShape = z.strictObject({
  strategies: z.array(z.strictObject(strategyMembers)),
  count,
});
export const paperStrategyShape = z.strictObject({
  ...strategyMembers,
  baseline_backtest_id: z.string().describe('Its job is read at `/v1/backtest/{job_id}`'),
});

export const paperPositionsShape = z.strictObject({
  count,
  positions: z.array(z.strictObject({ position_id: z.string(), ...backtestTradeShape.shape })),
  next_cursor: z.string().nullable().describe('Pass as `cursor` for the next page; null on the last'),
});

export const paperEquityShape = z.strictObject({
  paper_strategy_id: z.string(),
  n_closed_positions: count,
  final_net_pnl: usd,
  points: z.array(z.strictObject({ ts: time, cumulative_pnl: usd })),
});

const runShape = z.strictObject({
  backtest_id: z.string().nullable().describe('Null for paper itself'),
  status: z.enum(['live', 'queued', 'running', 'complete', 'failed', 'cancelled', 'gone']),
  trades: count.nullable().describe('Closed; null while there is no result'),
  win_rate: z.number().min(0).max(1).nullable(),
  net_pnl: usd.nullable(),
  fees: usd.nullable(),
  avg_pnl_per_trade: usd.nullable(),
  avg_slippage: z.number().nullable(),
});
export type RunBody = z.infer<typeof runShape>;

export const paperDivergenceShape = z.strictObject({
  paper_strategy_id: z.string(),
  from: time,
  to: time.describe('The newest window that ended before this is compared'),
  live: runShape.describe('Paper itself; where there is a result of `window`, in the same markets'),
  baseline: runShape.describe('The days before it began: other markets'),
  window: runShape
    .nullable()
    .describe('The windows it traded from start to end, from the recording; null before one was asked for'),
  same: count
    .nullable()
    .describe('Positions that paper and the backtest of the window have alike in every figure'),
  differing: z.array(
    z.strictObject({
      market_id: z.string(),
      opened_at: time,
      found_in: z.enum(['live', 'backtest', 'both']),
      live_net_pnl: usd.nullable(),
      backtest_net_pnl: usd.nullable(),
    }),
  ),
});
