import { describe, expect, it } from 'vitest';
import type { BacktestResult, SweepCell, SweepResult } from '../../web/src/api/schema.ts';
import { cellDraft, colourOf, METRICS, rangeOf } from '../../web/src/pages/backtests/cell.ts';
import { changedFields } from '../../web/src/pages/backtests/changedFields.ts';
import { FIRST_DRAFT } from '../../web/src/pages/backtests/draft.ts';
import { pnlBins } from '../../web/src/pages/backtests/pnlBins.ts';
import { sweepVerdictOf, verdictOf } from '../../web/src/pages/backtests/verdict.ts';
import { STRATEGIES } from '../../web/src/strategy/strategies.ts';
import { requestText, strategyText } from '../../web/src/strategy/strategyText.ts';

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
  const SWEEP = { best: { x: 0, y: 0 }, n_trials: 60, n_trials_before: 6, deflated_sharpe: 0.97, pbo: 0.1 };
  const verdict = (part: object) => sweepVerdictOf({ ...SWEEP, ...part } as SweepResult);

  it('is good only above the luck of as many random strategies', () => {
    expect(verdict({})).toMatchObject({ tone: 'good', cautions: [] });
    expect(verdict({ deflated_sharpe: 0.4 })).toMatchObject({
      tone: 'bad',
      text: expect.stringContaining('no better than you would expect from 66 random strategies'),
    });
    expect(verdict({ pbo: 0.67 })).toMatchObject({ tone: 'bad', cautions: [expect.stringContaining('67')] });
  });

  it('is open without a best cell or enough data', () => {
    expect([verdict({ best: null }).tone, verdict({ deflated_sharpe: null }).tone]).toEqual(['open', 'open']);
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

  it('colours gains and losses by their share of the largest value', () => {
    const range = rangeOf([[cell(-5), cell(10), cell(99, 'not run')]], METRICS.total_pnl);
    expect(range).toEqual([-5, 10]);
    const colour = (value: number | null) => colourOf(value, range ?? [0, 0], METRICS.total_pnl);
    expect([colour(10), colour(-5), colour(null)]).toEqual([
      ...['rgb(18 184 134 / 40%)', 'rgb(230 73 128 / 20%)', 'transparent'],
    ]);
    expect(rangeOf([[cell(1)]], METRICS.win_rate)).toBeNull();
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
