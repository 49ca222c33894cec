/** Request bodies and answer shapes of paper strategies. */
import { z } from 'zod';
import { EVENT_TYPES, TICKERS, type Ticker } from '../market.ts';
import { backtestTradeShape } from './backtests.ts';
import { defaultMember, jsonBoolean, jsonText, optionalMember, requiredMember } from './body.ts';
import { SIZE_USD, sizeUsdType, strategyShape, strategyType } from './strategies.ts';
import { text } from './types.ts';
import { universeType } from './universe.ts';

const NAME_MAX = 128;
const JOB_ID_MAX = 128;
/** A character that is not a blank. */
const NOT_BLANK = '\\S';
const name = jsonText(text({ minLength: 1, maxLength: NAME_MAX, pattern: NOT_BLANK }));

/** @param tickers The followed assets. */
export const paperStrategyMembers = (tickers: readonly Ticker[]) => ({
  name: requiredMember(name, 'Unique among the user’s strategies'),
  strategy: requiredMember(strategyType, 'The trading rules'),
  universe: requiredMember(universeType(tickers), 'Which markets'),
  size_usd: defaultMember(sizeUsdType, SIZE_USD.default, 'USD spent on shares per position'),
  baseline_backtest_id: optionalMember(
    jsonText(text({ minLength: 1, maxLength: JOB_ID_MAX })),
    'One of the user’s backtests; if absent, a backtest of the last 24 h is started',
  ),
});

export const paperChangeMembers = {
  active: optionalMember(jsonBoolean, 'False: no new positions; existing ones run to exit or resolution'),
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
  baseline_backtest_id: z.string().describe('The job is at `/v1/backtest/{job_id}`'),
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
  backtest_id: z.string().nullable().describe('Null for the paper run'),
  status: z.enum(['live', 'queued', 'running', 'complete', 'failed', 'cancelled', 'gone']),
  trades: count.nullable().describe('Closed trades; null without a result'),
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
  to: time.describe('Windows that end before this are compared'),
  live: runShape.describe('The paper run; limited to the markets of `window` if that has a result'),
  baseline: runShape.describe('The backtest of the days before the start: other markets'),
  window: runShape
    .nullable()
    .describe('A backtest of the windows that the paper run traded completely; null until requested'),
  same: count
    .nullable()
    .describe('Positions that are equal in every figure in the paper run and the backtest of the window'),
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
