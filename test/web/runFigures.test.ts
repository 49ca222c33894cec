import { describe, expect, it } from 'vitest';
import type { BacktestResult, SweepCell, SweepResult } from '../../web/src/api/schema.ts';
import {
  cellDraft,
  colourOf,
  METRICS,
  type Metric,
  marksOf,
  rampOf,
  rangeOf,
} from '../../web/src/pages/backtests/cell.ts';
import { FIRST_DRAFT } from '../../web/src/pages/backtests/draft.ts';
import { pnlBins } from '../../web/src/pages/backtests/pnlBins.ts';
import { sweepVerdictOf, verdictOf } from '../../web/src/pages/backtests/verdict.ts';
import { STRATEGIES } from '../../web/src/strategy/strategies.ts';
import { requestText, strategyText } from '../../web/src/strategy/strategyText.ts';
import { changedFields } from '../../web/src/ui/changedFields.ts';

describe('the verdict on a backtest', () => {
  const RESULT = { trades_total: 40, markets_traded: 35, total_pnl: 12, largest_trade_share: 0.2 };
  const verdict = (part: object, isAtMid = false) =>
    verdictOf({ ...RESULT, intervals: { total_pnl: [1, 20] }, ...part } as BacktestResult, isAtMid);

  it.each([
    ['a proven profit', {}, 'good', 'It earned $12.00, more than chance explains'],
    [
      'a proven loss',
      { total_pnl: -12, intervals: { total_pnl: [-20, -1] } },
      'bad',
      'It lost $12.00, more than chance explains',
    ],
    ['neither', { intervals: { total_pnl: [-1, 20] } }, 'open', 'Neither a profit nor a loss is proven'],
    ['too few markets', { intervals: null }, 'open', 'Too little data for a verdict: 35 traded markets'],
    ['no trades', { trades_total: 0 }, 'open', 'Nothing was traded'],
  ])('names %s', (_what, part, tone, text) => {
    expect(verdict(part)).toMatchObject({ tone, text: expect.stringContaining(text), cautions: [] });
  });

  it('cautions against one large trade and fills at the mid', () => {
    expect(verdict({ largest_trade_share: 0.8 }, true).cautions).toEqual([
      'One trade made 80\u00a0% of the P&L.',
      'Orders filled at the mid: real ones pay the spread.',
    ]);
  });
});

describe('the verdict on a sweep', () => {
  const cells = (trades_total: number) => [[{ trades_total: 99 }, { trades_total }]];
  const SWEEP = {
    ...{ best: { x: 1, y: 0 }, cells: cells(30), n_trials: 60, n_trials_before: 6 },
    ...{ deflated_sharpe: 0.95, pbo: 0.5 },
  };
  const TRIALS = '66 trials (60 cells and 6 earlier trials on this series)';
  const LUCK = 'The best cell is no better than you would expect from the best of';

  it.each([
    ['better than luck', {}, 'good', `The best cell is better than luck explains after ${TRIALS}.`],
    [
      'the first sweep',
      { n_trials_before: 0 },
      'good',
      'The best cell is better than luck explains after 60 trials.',
    ],
    ['luck', { deflated_sharpe: 0.94 }, 'bad', `${LUCK} ${TRIALS} without skill.`],
    [
      'luck after one trial',
      { deflated_sharpe: 0, n_trials: 20, n_trials_before: 1 },
      'bad',
      `${LUCK} 21 trials (20 cells and 1 earlier trial on this series) without skill.`,
    ],
    ['overfit', { pbo: 0.67 }, 'bad', 'The best cell beats luck, but would probably not stay the best.'],
    ['luck and overfit', { deflated_sharpe: 0.4, pbo: 0.67 }, 'bad', `${LUCK} ${TRIALS} without skill.`],
    [
      'no estimate of overfitting',
      { pbo: null },
      'good',
      `The best cell is better than luck explains after ${TRIALS}.`,
    ],
    [
      'few trades',
      { cells: cells(29), deflated_sharpe: 0 },
      'open',
      'Too little data for a verdict: the best cell made 29 trades, in fewer than 30 markets.',
    ],
    [
      'one trade',
      { cells: cells(1), deflated_sharpe: null },
      'open',
      'Too little data for a verdict: the best cell made one trade, in fewer than 30 markets.',
    ],
    ['no probability', { deflated_sharpe: null }, 'open', 'Too little data for a verdict on the best cell.'],
    ['no best cell', { best: null }, 'open', 'No cell has a result to rank.'],
  ])('names %s', (_what, part, tone, text) => {
    const { pbo } = { ...SWEEP, ...part };
    expect(sweepVerdictOf({ ...SWEEP, ...part } as unknown as SweepResult)).toEqual({
      tone,
      text,
      cautions:
        pbo === 0.67
          ? ['In 67\u00a0% of the splits the best cell of one half was below the median of the other.']
          : [],
    });
  });
});

describe('the histogram', () => {
  it('counts every trade once, and has an edge at zero', () => {
    const values = [-3, -0.1, 0, 0.1, 5, 5];
    const bins = pnlBins(values);
    expect(bins.reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
    expect(bins.some(({ from, to }) => from < 0 && to > 0)).toBe(false);
    expect(bins.filter(({ to }) => to <= 0).reduce((sum, { count }) => sum + count, 0)).toBe(2);
    expect(bins.at(-1)?.count).toBe(2);
  });

  it('is empty without trades, and one bar for a single value', () => {
    expect(pnlBins([])).toEqual([]);
    expect(pnlBins([0])).toEqual([{ from: 0, to: expect.any(Number), count: 1 }]);
  });
});

describe('the heat map', () => {
  const cell = (total_pnl: number, error: string | null = null): SweepCell => ({
    ...{ trades_total: 1, total_pnl, win_rate: null, sharpe_per_market: null, max_drawdown: 0 },
    ...{ profit_factor: null, error },
  });

  it('colours gains and losses by their share of the largest value, the least of them visibly', () => {
    const range = rangeOf([[cell(-5), cell(10), cell(99, 'not run')]], METRICS.total_pnl);
    expect(range).toEqual([-5, 10]);
    const colour = (value: number | null) => colourOf(value, range ?? [0, 0], METRICS.total_pnl);
    expect([10, -5, 0.01, -0.01, 0, null].map(colour)).toEqual([
      ...['rgb(18 184 134 / 50%)', 'rgb(230 73 128 / 30%)'],
      ...['rgb(18 184 134 / 10%)', 'rgb(230 73 128 / 10%)', 'transparent', 'transparent'],
    ]);
    expect(rangeOf([[cell(1)]], METRICS.win_rate)).toBeNull();
  });

  it('has a legend that breaks at zero, with a mark only between its bounds', () => {
    expect(rampOf([-5, 15], METRICS.total_pnl)).toEqual({
      gradient:
        'linear-gradient(to right, rgb(230 73 128 / 23%), rgb(230 73 128 / 10%) 25%, rgb(18 184 134 / 10%) 25%, rgb(18 184 134 / 50%))',
      zero: 25,
    });
    expect(rampOf([-4, 0], METRICS.max_drawdown)).toEqual({
      gradient: 'linear-gradient(to right, rgb(230 73 128 / 50%), rgb(230 73 128 / 10%) 100%)',
      zero: null,
    });
    expect(rampOf([0, 0], METRICS.trades_total)).toEqual({ gradient: 'none', zero: null });
  });

  it('marks the best cell of the shown figure, and the best Sharpe by its own name', () => {
    const [pnl, ratio] = [cell(2.66), { ...cell(2.13), sharpe_per_market: 1.06, max_drawdown: -1 }];
    const idle = { ...cell(0), trades_total: 0 };
    const result = { cells: [[pnl, ratio, idle, cell(99, 'not run')]], best: { x: 1, y: 0 } } as never;
    const marks = (metric: Metric) => [0, 1, 2, 3].map((x) => marksOf({ x, y: 0 }, result, metric).join());
    expect(marks(METRICS.total_pnl)).toEqual(['best P&L', 'best Sharpe', '', '']);
    expect(marks(METRICS.sharpe_per_market)).toEqual(['', 'best Sharpe', '', '']);
    expect(marks(METRICS.max_drawdown)).toEqual(['smallest', 'best Sharpe', '', '']);
    expect(marks(METRICS.trades_total)).toEqual(['', 'best Sharpe', '', '']);
    // No cell has a win rate, and a missing value is the best of nothing.
    expect(marks(METRICS.win_rate)).toEqual(['', 'best Sharpe', '', '']);
  });

  it('opens a cell as the backtest with its values', () => {
    const condition = { metric: 'token_price', operator: 'below', value: 0.5 } as const;
    const strategy = { ...STRATEGIES.condition_based, entry: [condition, { any: [condition, condition] }] };
    const axis = { start: 0, end: 1, steps: 2 };
    const draft = {
      ...{ ...FIRST_DRAFT, strategy: strategy as typeof FIRST_DRAFT.strategy },
      ...{ x_axis: { ...axis, param: 'entry.1.any.0.value' }, y_axis: { ...axis, param: 'latency_ms' } },
    };
    const made = cellDraft(draft, [
      ['entry.1.any.0.value', 0.7],
      ['latency_ms', 250],
    ]);
    expect(made).toEqual({
      ...FIRST_DRAFT,
      strategy: { ...strategy, entry: [condition, { any: [{ ...condition, value: 0.7 }, condition] }] },
      params: { ...FIRST_DRAFT.params, latency_ms: 250 },
    });
    expect(cellDraft(FIRST_DRAFT, [['size_usd', 50]]).size_usd).toBe(50);
  });
});

describe('the parameters in a line', () => {
  it.each([
    [STRATEGIES.threshold_entry, 'buy Up below 30.0¢'],
    [STRATEGIES.mean_reversion, '2 σ from the mean of 60 s'],
    [STRATEGIES.time_before_resolution, 'buy Up 2 min before the end'],
    [STRATEGIES.condition_based, 'buy Up if model probability > 0.6; profit if price of the token > 0.9'],
    [
      { ...STRATEGIES.threshold_entry, execution: { entry: 'maker', offset: 0.01 } } as const,
      'buy Up below 30.0¢, maker at bid +1.0¢',
    ],
  ])('of %o', (strategy, text) => {
    expect(strategyText(strategy)).toBe(text);
  });

  it('name the axes of a sweep and settings that are not the usual ones', () => {
    const request = {
      ...{
        strategy: STRATEGIES.threshold_entry,
        size_usd: 25,
        x_axis: { param: 'threshold', start: 0.1, end: 0.5 },
      },
      params: { latency_ms: 200, fill_mode: 'mid', max_fill_price: 1, max_slippage: null },
    };
    const usual = { ...request, size_usd: 1.5, x_axis: undefined, params: { latency_ms: 50 } };
    expect(requestText(usual as never, (param) => param)).toBe('buy Up below 30.0¢ · $1.50 · 50 ms latency');
    expect(requestText(request as never, (param) => param)).toBe(
      'buy Up below 30.0¢ · vary threshold 0.1 to 0.5 · $25 · 200 ms latency · filled at the mid',
    );
  });
});

it('the fields whose error is out of date are those that changed', () => {
  const names = ['strategy.threshold_entry.threshold', 'params.latency_ms', 'size_usd'];
  const before = {
    strategy: { type: 'threshold_entry', threshold: 7 },
    params: { latency_ms: '' },
    size_usd: 1,
  };
  const after = { ...before, strategy: { ...before.strategy, threshold: 0.4 } };
  expect(changedFields(names, { before, after })).toEqual(['strategy.threshold_entry.threshold']);
});
