/** Bodies of requests for backtests and sweeps, and shapes of what is answered. */
import { z } from 'zod';
import { type Axis, JOB_KINDS, JOB_STATUSES, type Universe } from '../backtest.ts';
import { EVENT_TYPES, TICKERS } from '../market.ts';
import { STRATEGY_SIDES } from '../strategy.ts';
import {
  defaultMember,
  type JsonType,
  jsonInteger,
  jsonLiteral,
  jsonText,
  optionalMember,
  requiredMember,
} from './body.ts';
import { jsonNumber, jsonObject } from './bodyParts.ts';
import { datetime } from './datetime.ts';
import { eventTypeType, tickerType } from './parameters.ts';
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

export const MARKET_LIMIT_DEFAULT = 50;
/** No tier allows more; each has its own cap below it. */
const MARKET_LIMIT_MAX = 10_000;
const STEPS_MAX = 10_000;
const PARAM_NAME_MAX = 64;
const AXIS_VALUE_MAX = 1e9;

const notDatetime = new Invalid({ type: 'datetime_type', msg: 'Input should be a valid datetime' });

/** A time as a query gives it, or as a JSON number of Unix seconds. */
const jsonDatetime: JsonType<number> = {
  schema: datetime.schema,
  parse(value) {
    if (typeof value !== 'string' && typeof value !== 'number') return notDatetime;
    return datetime.parse(String(value));
  },
};

export const universeType: JsonType<Universe> = jsonObject({
  ticker: requiredMember(jsonLiteral(tickerType), 'The underlying asset'),
  event_type: requiredMember(jsonText(eventTypeType), 'The window'),
});

const axisType: JsonType<Axis> = jsonObject({
  param: requiredMember(
    jsonText(text({ minLength: 1, maxLength: PARAM_NAME_MAX })),
    'A number of the strategy, `latency_ms`, `max_fill_price`, `max_slippage` or `size_usd`; of a condition `entry.0.value`',
  ),
  start: requiredMember(jsonNumber({ ge: -AXIS_VALUE_MAX, le: AXIS_VALUE_MAX }), 'First value'),
  end: requiredMember(jsonNumber({ ge: -AXIS_VALUE_MAX, le: AXIS_VALUE_MAX }), 'Last value'),
  steps: requiredMember(jsonInteger({ ge: 1, le: STEPS_MAX }), 'Values from first to last'),
});

export const backtestMembers = {
  strategy: requiredMember(strategyType, 'What is bought when'),
  universe: requiredMember(universeType, 'Which markets'),
  size_usd: defaultMember(sizeUsdType, SIZE_USD.default, 'USD spent on shares per position'),
  start: optionalMember(jsonDatetime, 'Only windows that end at or after this'),
  end: optionalMember(jsonDatetime, 'Only windows that end before this; now when absent'),
  market_limit: optionalMember(
    jsonInteger({ ge: 1, le: MARKET_LIMIT_MAX }),
    `The newest so many markets; ${MARKET_LIMIT_DEFAULT} when absent, or as many as the tier allows`,
  ),
  params: defaultMember(paramsType, DEFAULT_PARAMS, 'How orders are dealt with'),
};

const { params, ...beforeAxes } = backtestMembers;
export const sweepMembers = {
  ...beforeAxes,
  x_axis: requiredMember(axisType, 'The parameter that varies'),
  y_axis: optionalMember(axisType, 'A second one'),
  params,
};

const time = z.iso
  .datetime({ offset: true, precision: 3 })
  .meta({ description: 'ISO 8601, UTC, milliseconds', examples: ['2026-11-20T12:00:00.123+00:00'] });
const count = z.int().min(0);
const share = z.number().min(0).max(1);
const ratio = z.number().nullable();

const receiptShape = z
  .strictObject({
    data_hash: z.string().describe('SHA-256 over everything that was replayed'),
    venue_rules: z.string(),
    code_version: z.string(),
    seed: z.int(),
  })
  .describe('The same receipt means the same bytes');

export const backtestTradeShape = z.strictObject({
  market_id: z.string(),
  side: z.enum(STRATEGY_SIDES),
  decided_at: time.describe('When the strategy decided to buy'),
  opened_at: time,
  closed_at: time.nullable(),
  decision_price: share.describe('Best ask at the decision, USDC per share'),
  entry_price: share.describe('Average, USDC per share'),
  exit_price: share.nullable(),
  shares: z.number().min(0),
  size_usd: z.number().min(0).describe('Spent on the shares, before fees'),
  fees_usd: z.number().min(0),
  slippage: z.number().describe('As `entry_slippage`'),
  entry_slippage: z.number().describe('Average entry price less `decision_price`'),
  exit_slippage: z
    .number()
    .nullable()
    .describe(
      'Best bid at the decision to sell less the average price of the sales; null where nothing was sold',
    ),
  entry_levels: count
    .nullable()
    .describe('Levels walked by the purchase; null: opened by an earlier release'),
  exit_levels: count.nullable().describe('Levels walked by the sales; null where nothing was sold'),
  net_pnl: z.number().nullable().describe('USD after all fees'),
  outcome: z.enum(['Up', 'Down']).nullable(),
  exit_reason: z.enum(['resolved', 'take_profit', 'stop_loss', 'market_void']).nullable(),
});
export type BacktestTradeBody = z.infer<typeof backtestTradeShape>;

/** Low and high bound at 95 %. */
const interval = z.tuple([z.number(), z.number()]);
const intervalsShape = z
  .strictObject({
    total_pnl: interval,
    win_rate: z.tuple([share, share]),
    sharpe_per_market: interval.nullable(),
  })
  .nullable()
  .describe('95 % intervals by block bootstrap over the markets traded; null below 30 of them');

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
  avg_slippage: ratio.describe('USDC per share, over the purchases and the sales'),
  orders: z
    .strictObject({
      placed: count,
      filled: count.describe('In whole or in part, and not taken back'),
      missed: z
        .strictObject({
          no_depth: count.describe('Nothing was for sale (bid)'),
          price: count.describe('All of it was beyond the limit of the order'),
          untrusted: count.describe('The book was not proven, or lay in a gap'),
          unconfirmed: count.describe('No later message of the market came'),
        })
        .describe('Orders that got nothing, by reason'),
      taken_back: count.describe('Filled, and taken back since a gap reached back over the fill'),
    })
    .describe('`placed` is the sum of all others'),
  fill_rate: share.nullable().describe('`filled` over `placed`'),
  profit_factor: ratio.describe('Won over lost; null where nothing was lost'),
  sharpe_per_market: ratio.describe('Mean over deviation (n - 1) of the returns of the markets traded'),
  sharpe_ratio: ratio.describe(
    'The same for the markets traded in a year together, corrected for serial correlation (Lo 2002); null below 30 markets traded',
  ),
  sortino_ratio: ratio.describe('Mean over downside deviation, a year'),
  calmar_ratio: ratio.describe('`total_pnl` over the deepest drawdown'),
  max_drawdown: z.number().max(0).describe('USD, of the equity curve'),
  largest_trade_share: ratio.describe(
    'P&L of the trade that won most over `total_pnl`, above 1 where all others lost together; null unless `total_pnl` is a gain',
  ),
  intervals: intervalsShape,
  coverage: share.describe('Share of all windows with a proven book'),
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
  error: z.string().nullable().describe('Why the cell could not be tried'),
});
export type SweepCellBody = z.infer<typeof sweepCellShape>;

export const sweepResultShape = z.strictObject({
  x_axis: axisShape,
  y_axis: axisShape.nullable(),
  cells: z.array(z.array(sweepCellShape)).describe('Rows of equal y: `cells[y][x]`'),
  best: z
    .strictObject({ x: count, y: count })
    .nullable()
    .describe(
      'Place of the highest `sharpe_per_market` of `cells`; of equal ones, of the highest `total_pnl`',
    ),
  n_trials: count.describe('Cells that were tried'),
  n_trials_before: count.describe(
    'Cells that earlier jobs of the same user on the same universe tried; they raise the bar of `deflated_sharpe` too',
  ),
  n_trials_effective: z
    .number()
    .min(1)
    .nullable()
    .describe('Independent cells that vary as much as these do; reported, the bar counts every cell'),
  sharpe_variance: z
    .number()
    .min(0)
    .nullable()
    .describe(
      'Variance of the cells’ `sharpe_per_market`, at least 1 / (n - 1) for the n markets the best cell traded; `deflated_sharpe` weighs it with the number of cells',
    ),
  deflated_sharpe: share
    .nullable()
    .describe(
      'Probability that the best is above the best of as much luck; where it traded fewer than 30 markets, or won or lost fewer than 5, with one more stake lost',
    ),
  min_track_record_markets: count
    .nullable()
    .describe('Traded markets before the best cell is above the best of as much luck, with 95 % confidence'),
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
const universeShape = z.strictObject({ ticker: z.enum(TICKERS), event_type: z.enum(EVENT_TYPES) });
const requestShape = z
  .strictObject({
    strategy: strategyShape,
    universe: universeShape,
    size_usd: z.number(),
    start: time.nullable(),
    end: time.describe('As asked for, or when the job was submitted'),
    market_limit: count,
    x_axis: requestAxisShape.optional().describe('Of a sweep'),
    y_axis: requestAxisShape.nullable().optional().describe('Of a sweep'),
    params: paramsShape,
  })
  .describe('The body as it was accepted, defaults filled in: posted again it asks for the same job');

const jobMembers = {
  job_id: z.string(),
  kind: z.enum(JOB_KINDS),
  status: z.enum(JOB_STATUSES),
  progress: share,
  submitted_at: time,
  started_at: time.nullable(),
  completed_at: time.nullable(),
  strategy: strategyShape,
  universe: universeShape,
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
