/** Request bodies and answer shapes of backtests and sweeps. */
import { z } from 'zod';
import { type Axis, JOB_KINDS, JOB_STATUSES } from '../backtest.ts';
import type { Ticker } from '../market.ts';
import { STRATEGY_SIDES } from '../strategy.ts';
import {
  defaultMember,
  type JsonType,
  jsonInteger,
  jsonText,
  optionalMember,
  requiredMember,
} from './body.ts';
import { jsonNumber, jsonObject } from './bodyParts.ts';
import { datetime } from './datetime.ts';
import {
  DEFAULT_PARAMS,
  paramsShape,
  paramsType,
  SIZE_USD,
  sizeUsdType,
  strategyShape,
  strategyType,
} from './strategies.ts';
import { Invalid, text } from './types.ts';
import { backtestUniverseShape, backtestUniverseType } from './universe.ts';

export const MARKET_LIMIT_DEFAULT = 50;
/** Highest limit of any tier; each tier has its own lower limit. */
const MARKET_LIMIT_MAX = 10_000;
const STEPS_MAX = 10_000;
const PARAM_NAME_MAX = 64;
const AXIS_VALUE_MAX = 1e9;

const notDatetime = new Invalid({ type: 'datetime_type', msg: 'Input should be a valid datetime' });

/** A datetime text as in a query, or a JSON number of Unix seconds. */
const jsonDatetime: JsonType<number> = {
  schema: datetime.schema,
  parse(value) {
    if (typeof value !== 'string' && typeof value !== 'number') return notDatetime;
    return datetime.parse(String(value));
  },
};

const axisType: JsonType<Axis> = jsonObject({
  param: requiredMember(
    jsonText(text({ minLength: 1, maxLength: PARAM_NAME_MAX })),
    'A numeric field of the strategy, `latency_ms`, `max_fill_price`, `max_slippage` or `size_usd`; for a condition `entry.0.value`, in a group `entry.1.any.0.value`',
  ),
  start: requiredMember(jsonNumber({ ge: -AXIS_VALUE_MAX, le: AXIS_VALUE_MAX }), 'First value'),
  end: requiredMember(jsonNumber({ ge: -AXIS_VALUE_MAX, le: AXIS_VALUE_MAX }), 'Last value'),
  steps: requiredMember(jsonInteger({ ge: 1, le: STEPS_MAX }), 'Values from first to last'),
});

/** @param tickers The followed assets. */
export const backtestMembers = (tickers: readonly Ticker[]) => ({
  ...firstMembers(tickers),
  params: paramsMember,
});

/** @param tickers The followed assets. */
export const sweepMembers = (tickers: readonly Ticker[]) => ({
  ...firstMembers(tickers),
  x_axis: requiredMember(axisType, 'The parameter that varies'),
  y_axis: optionalMember(axisType, 'A second one'),
  params: paramsMember,
});

const firstMembers = (tickers: readonly Ticker[]) => ({
  strategy: requiredMember(strategyType, 'The trading rules'),
  universe: requiredMember(backtestUniverseType(tickers), 'Which markets'),
  size_usd: defaultMember(sizeUsdType, SIZE_USD.default, 'USD spent on shares per position'),
  start: optionalMember(jsonDatetime, 'Only windows that end at or after this'),
  end: optionalMember(jsonDatetime, 'Only windows that end before this; now when absent'),
  market_limit: optionalMember(
    jsonInteger({ ge: 1, le: MARKET_LIMIT_MAX }),
    `Only the newest markets up to this number; ${MARKET_LIMIT_DEFAULT} when absent, or the tier’s limit if lower`,
  ),
});
const paramsMember = defaultMember(paramsType, DEFAULT_PARAMS, 'How orders are filled');

const time = z.iso
  .datetime({ offset: true, precision: 3 })
  .meta({ description: 'ISO 8601, UTC, milliseconds', examples: ['2026-11-20T12:00:00.123+00:00'] });
const count = z.int().min(0);
const share = z.number().min(0).max(1);
const ratio = z.number().nullable();

const receiptShape = z
  .strictObject({
    data_hash: z.string().describe('SHA-256 over all replayed data'),
    venue_rules: z.string(),
    code_version: z.string(),
    seed: z.int(),
  })
  .describe('Equal receipts guarantee byte-identical results');

export const backtestTradeShape = z.strictObject({
  market_id: z.string(),
  side: z.enum(STRATEGY_SIDES),
  decided_at: time.describe('When the strategy decided to buy'),
  opened_at: time,
  closed_at: time.nullable(),
  decision_price: share.describe(
    'Best ask at the decision, averaged over the purchases by shares, USDC per share; without an ask, the limit of the purchase that rests',
  ),
  entry_price: share.describe('Average fill price, USDC per share'),
  exit_price: share.nullable(),
  shares: z.number().min(0),
  size_usd: z.number().min(0).describe('USD spent on the shares, before fees'),
  fees_usd: z.number().min(0),
  slippage: z.number().describe('Same as `entry_slippage`'),
  entry_slippage: z.number().describe('Average entry price minus `decision_price`'),
  exit_slippage: z
    .number()
    .nullable()
    .describe('Best bid at the decision to sell minus the average sale price; null without a sale'),
  entry_levels: count
    .nullable()
    .describe('Book levels used by the purchase; null if an earlier release opened the position'),
  exit_levels: count.nullable().describe('Book levels used by the sales; null without a sale'),
  net_pnl: z.number().nullable().describe('USD after all fees'),
  outcome: z.enum(['Up', 'Down']).nullable(),
  exit_reason: z.enum(['resolved', 'take_profit', 'stop_loss', 'market_void']).nullable(),
});
export type BacktestTradeBody = z.infer<typeof backtestTradeShape>;

/** Lower and upper bound at 95 %. */
const interval = z.tuple([z.number(), z.number()]);
const intervalsShape = z
  .strictObject({
    total_pnl: interval,
    win_rate: z.tuple([share, share]),
    sharpe_per_market: interval.nullable(),
  })
  .nullable()
  .describe('95 % intervals by block bootstrap over the traded markets; null below 30 of them');

const stressedShape = z.strictObject({
  void_markets: count.describe(
    'Markets that were annulled; one that the venue itself annulled does not count',
  ),
  disputed_markets: count.describe('Markets that paid late'),
  trades_total: count,
  trades_won: count,
  win_rate: share.nullable(),
  total_pnl: z
    .number()
    .describe('USD after fees; an annulled market refunds the cost of the shares, not the fees'),
  total_fees: z.number(),
  profit_factor: ratio,
  sharpe_per_market: ratio,
  max_drawdown: z.number().max(0).describe('Of the equity curve in the order of the payouts'),
  late_usd_max: z.number().min(0).describe('Most money, at cost, that waited for late payouts at one time'),
});
export type StressedBody = z.infer<typeof stressedShape>;

export const backtestResultShape = z.strictObject({
  markets_total: count,
  markets_traded: count,
  markets_skipped: z.array(
    z.strictObject({
      market_id: z.string(),
      reason: z.enum(['unresolved', 'gap', 'no_data', 'no_strike', 'no_books', 'too_large']),
    }),
  ),
  trades_total: count,
  trades_won: count,
  win_rate: share.nullable(),
  total_pnl: z.number().describe('USD after fees'),
  total_fees: z.number(),
  avg_pnl_per_trade: ratio,
  avg_slippage: ratio.describe('USDC per share, over purchases and sales'),
  orders: z
    .strictObject({
      placed: count,
      filled: count.describe('Filled completely or partly, and not reverted'),
      missed: z
        .strictObject({
          no_depth: count.describe('The book side was empty'),
          price: count.describe('Every level was beyond the order’s limit'),
          untrusted: count.describe('The book was not verified, or was inside a gap'),
          unconfirmed: count.describe('No later message of the market arrived'),
          refused: count
            .optional()
            .describe('Post-only, and it would have traded at once; only with an execution'),
          not_reached: count
            .optional()
            .describe('Rested without a fill until it ended; only with an execution'),
        })
        .describe('Unfilled orders, by reason'),
      taken_back: count.describe('Filled, then reverted because a gap turned out to cover the fill'),
    })
    .describe('`placed` is the sum of the other counts'),
  fill_rate: share.nullable().describe('`filled` divided by `placed`'),
  profit_factor: ratio.describe('Total gains divided by total losses; null without losses'),
  sharpe_per_market: ratio.describe(
    'Mean return per traded market divided by its standard deviation (n - 1)',
  ),
  sharpe_ratio: ratio.describe(
    'The same, annualised by the markets traded in a year of the replayed time and corrected for serial correlation (Lo 2002); null below 30 traded markets',
  ),
  sortino_ratio: ratio.describe(
    'Mean return divided by downside deviation, annualised; says little below 30 traded markets',
  ),
  calmar_ratio: ratio.describe('`total_pnl` divided by the maximum drawdown'),
  max_drawdown: z.number().max(0).describe('Maximum drawdown of the equity curve, USD'),
  largest_trade_share: ratio.describe(
    'Highest trade P&L divided by `total_pnl`, above 1 where the other trades lost in total; null unless `total_pnl` is positive',
  ),
  peak_cost: ratio
    .optional()
    .describe(
      'Most cost of the shares that were held at one time, USD without fees; null without a trade. Results of earlier releases do not have it',
    ),
  intervals: intervalsShape,
  coverage: share.describe('Share of window time with a verified book'),
  stress: stressedShape.optional().describe('With `params.stress`: the figures under it'),
  equity_curve: z.array(z.strictObject({ market_id: z.string(), ts: time, cumulative_pnl: z.number() })),
  trades: z.array(backtestTradeShape),
  receipt: receiptShape,
});
export type BacktestResultBody = z.infer<typeof backtestResultShape>;

const axisShape = z.strictObject({ param: z.string(), values: z.array(z.number()) });
export const sweepCellShape = z.strictObject({
  trades_total: count,
  total_pnl: z.number(),
  win_rate: share.nullable(),
  sharpe_per_market: ratio,
  max_drawdown: z.number().max(0),
  profit_factor: ratio,
  stressed_pnl: z.number().optional().describe('With `params.stress`: `total_pnl` under it'),
  error: z.string().nullable().describe('Why the cell could not be run'),
});
export type SweepCellBody = z.infer<typeof sweepCellShape>;

export const sweepResultShape = z.strictObject({
  x_axis: axisShape,
  y_axis: axisShape.nullable(),
  cells: z.array(z.array(sweepCellShape)).describe('One row per y value: `cells[y][x]`'),
  best: z
    .strictObject({ x: count, y: count })
    .nullable()
    .describe('Position of the highest `sharpe_per_market` in `cells`; ties go to the highest `total_pnl`'),
  n_trials: count.describe('Cells that were run'),
  n_trials_before: count.describe(
    'Cells run by the user’s earlier jobs on the same universe; they raise the threshold of `deflated_sharpe` too',
  ),
  n_trials_effective: z
    .number()
    .min(1)
    .nullable()
    .describe(
      'Number of independent cells with the same variation; informational: the threshold uses all cells',
    ),
  sharpe_variance: z
    .number()
    .min(0)
    .nullable()
    .describe(
      'Variance of the cells’ `sharpe_per_market`, at least 1 / (n - 1) for the n markets the best cell traded; `deflated_sharpe` combines it with the number of cells',
    ),
  deflated_sharpe: share
    .nullable()
    .describe(
      'Probability that the best cell beats the best of as many cells without skill; one more lost stake is added if it traded fewer than 30 markets, or won or lost fewer than 5',
    ),
  min_track_record_markets: count
    .nullable()
    .describe(
      'Traded markets needed before the best cell beats the best of as many cells without skill, with 95 % confidence',
    ),
  pbo: share.nullable().describe('Probability of backtest overfitting, by CSCV'),
  warnings: z.array(z.string()),
  receipt: receiptShape,
});
export type SweepResultBody = z.infer<typeof sweepResultShape>;

const requestAxisShape = z.strictObject({
  param: z.string(),
  start: z.number(),
  end: z.number(),
  steps: z.int(),
});
const requestShape = z
  .strictObject({
    strategy: strategyShape,
    universe: backtestUniverseShape,
    size_usd: z.number(),
    start: time.nullable(),
    end: time.describe('As requested, or the time of submission'),
    market_limit: count,
    x_axis: requestAxisShape.optional().describe('For a sweep'),
    y_axis: requestAxisShape.nullable().optional().describe('For a sweep'),
    params: paramsShape,
  })
  .describe('The accepted body with defaults filled in; posting it again requests the same job');

const jobMembers = {
  job_id: z.string(),
  kind: z.enum(JOB_KINDS),
  status: z.enum(JOB_STATUSES),
  progress: share,
  submitted_at: time,
  started_at: time.nullable(),
  completed_at: time.nullable(),
  strategy: strategyShape,
  universe: backtestUniverseShape,
  size_usd: z.number(),
  params: paramsShape,
  request: requestShape,
  error: z.string().nullable(),
};
export const backtestJobShape = z.strictObject({
  ...jobMembers,
  result: z.union([backtestResultShape, sweepResultShape]).nullable(),
});
export const backtestJobListShape = z.strictObject({
  jobs: z.array(z.strictObject({ ...jobMembers, result: z.null() })),
  count,
  limit: count,
  offset: count,
  next_cursor: z.string().nullable().describe('Pass as `cursor` for the next page; null on the last'),
});

const summaryShape = z
  .strictObject({
    total_pnl: ratio.describe('USD after fees'),
    sharpe_per_market: ratio,
    trades_total: count.nullable(),
    max_drawdown: z.number().max(0).nullable(),
    markets_traded: count.nullable().describe('Null for a sweep'),
    cells: count.nullable().describe('Cells of a sweep; null for a backtest'),
  })
  .describe('Key figures of a result; of a sweep, those of its best cell');
export const jobSummariesShape = z.strictObject({
  jobs: z.array(
    z.strictObject({
      ...jobMembers,
      is_comparison: z.boolean().describe('The baseline or the replay of a paper strategy'),
      summary: summaryShape.nullable().describe('Null without a result'),
    }),
  ),
  next_cursor: z.string().nullable().describe('Pass as `cursor` for the next page; null on the last'),
});
