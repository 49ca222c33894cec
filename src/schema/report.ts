/** The report of a run or of a backtest job: every member of the job's `result`, and what a single run adds. */
import { z } from 'zod';
import { backtestResultShape, backtestTradeShape } from './api/backtests.ts';

export const REPORT_VERSION = 1;

const time = z.iso.datetime({ offset: true, precision: 3 });
const count = z.int().min(0);
const usd = z.number();
const ratio = z.number().nullable();

const tradeShape = backtestTradeShape.extend({
  exit_reason: z.enum(['resolved', 'take_profit', 'stop_loss', 'market_void', 'sold']).nullable(),
  fees_usd: usd.describe('Negative: maker rebates exceed the fees'),
  ticker: z.string(),
  event_type: z.string(),
  seconds_to_end: ratio.describe(
    'From the decision to the end of the window; null if the window is not known',
  ),
  volatility: ratio.describe('Annualised volatility of the underlying at the decision; null: not known'),
  model_probability: ratio.describe('Of the token that was bought; null: not known'),
  liquidity: z.enum(['taker', 'maker', 'both']).nullable(),
});
export type ReportTrade = z.infer<typeof tradeShape>;

const breakdownShape = z.strictObject({
  label: z.string(),
  from: ratio.describe('Inclusive; null: no bound'),
  to: ratio.describe('Exclusive; null: no bound'),
  trades: count,
  won: count,
  win_rate: ratio,
  pnl: usd,
  avg_pnl: ratio,
  fees: usd,
});
export type BreakdownRow = z.infer<typeof breakdownShape>;
const breakdown = z.array(breakdownShape).nullable();

const portfolioShape = z.strictObject({
  start_cash: ratio.describe('USD; null: unlimited'),
  end_equity: ratio.describe('Cash, locked money and open positions at their mark; null: unlimited cash'),
  return_on_capital: ratio.describe('(end_equity - start_cash) / start_cash'),
  max_drawdown_usd: z.number().max(0).describe('Largest fall of `equity` below its earlier peak'),
  max_drawdown_pct: ratio.describe('Largest fall as a share of the peak before it; null: unlimited cash'),
  peak_capital_used: ratio.describe('Most money that was reserved, locked or in positions at one time'),
  return_on_peak_capital: ratio.describe('`total_pnl` / `peak_capital_used`'),
  time_under_water: ratio.describe('Share of the time below an earlier peak'),
  longest_under_water_s: ratio,
});

const equityShape = z.strictObject({
  basis: z.enum(['mark_to_market', 'closed_trades']),
  thinning: z.string(),
  points_total: count,
  points: z.array(
    z.strictObject({
      ts: time,
      equity: usd,
      cash: ratio,
      in_use: ratio.describe('Reserved, locked, marked'),
    }),
  ),
});
const underwaterShape = z.strictObject({
  thinning: z.string(),
  points: z.array(z.strictObject({ ts: time, usd: z.number().max(0), pct: ratio })),
});

const liquidityShape = z.strictObject({
  fills: count,
  shares: z.number(),
  volume: usd,
  fees: usd.describe('Charged'),
  rebates: usd.describe('Paid to us, >= 0'),
});
export type LiquidityFigures = z.infer<typeof liquidityShape>;

const latencyPointShape = z.strictObject({
  latency_ms: z.number(),
  total_pnl: usd,
  trades_total: count,
  fill_rate: ratio,
});
export type LatencyPoint = z.infer<typeof latencyPointShape>;

const queueModelShape = z.strictObject({ model: z.string(), total_pnl: usd, trades_total: count });
export type QueueModelResult = z.infer<typeof queueModelShape>;

const receiptShape = z.looseObject({
  ...backtestResultShape.shape.receipt.shape,
  reproducible: z.boolean().optional(),
});
export type ReportReceipt = z.infer<typeof receiptShape>;

const rangeShape = z.strictObject({ start: time, end: time });

const marketShape = z.strictObject({
  market_id: z.string(),
  ticker: z.string(),
  event_type: z.string(),
  start: time,
  end: time,
  skipped: z.string().nullable(),
  trades: count,
  pnl: usd.describe('Of the closed trades'),
});
export type ReportMarket = z.infer<typeof marketShape>;

const counts = z.record(z.string(), count).nullable();

export const reportShape = backtestResultShape.extend({
  report_version: z.literal(REPORT_VERSION),
  name: z.string(),
  settings: z.record(z.string(), z.unknown()).describe('What was asked for'),
  orders: backtestResultShape.shape.orders.extend({
    outcomes: counts.describe('Orders by outcome; their sum is `placed`. Null: not counted'),
    refusals: counts.describe('Refused orders by reason; null: not counted'),
  }),
  trades: z.array(tradeShape),
  markets: z.array(marketShape).nullable(),
  portfolio: portfolioShape,
  equity: equityShape,
  underwater: underwaterShape,
  taker: liquidityShape.nullable(),
  maker: liquidityShape.nullable(),
  by_hour: breakdown.describe('UTC hour in which the position was opened'),
  by_entry_price: breakdown.describe('USDC per share'),
  by_time_left: breakdown.describe('Seconds from the decision to the end of the window'),
  by_volatility: breakdown.describe('Thirds of the trades by volatility at the decision'),
  latency_curve: z.array(latencyPointShape).nullable(),
  queue_models: z.array(queueModelShape).nullable(),
  selection: z.strictObject({
    trials_before: count.nullable().describe('Earlier trials on the same series; null: not counted'),
    deflated_sharpe: ratio,
    min_track_record_markets: ratio,
    held_out: rangeShape.nullable().describe('Windows that no sweep has read'),
  }),
  warnings: z.array(z.string()),
  log_lines_left_out: count.describe('Older lines of the strategy’s log'),
  log: z.array(z.strictObject({ ts: time, text: z.string() })),
  receipt: receiptShape,
});
export type Report = z.infer<typeof reportShape>;
