import { describe, expect, test } from 'vitest';
import { singleConditions } from '../core/strategies/condition.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { SweepSpec } from '../schema/backtest.ts';
import type { ConditionBased, EntryCondition } from '../schema/strategy.ts';
import { axisProblems, executionProblems } from './asked.ts';
import { axisValues, type Cell, cellsOf, sweepableParams } from './cells.ts';

const CONDITIONS: ConditionBased = {
  type: 'condition_based',
  entry: [
    { metric: 'token_price', operator: 'below', value: 0.4 },
    { metric: 'seconds_to_end', operator: 'above', value: 60 },
  ],
  take_profit: [{ metric: 'token_price', operator: 'above', value: 0.8 }],
  ...{ stop_loss: [], side: 'buy_yes', max_trades_per_market: 1 },
};
const SPEC: SweepSpec = {
  ...{ strategy: CONDITIONS, universe: { ticker: 'BTC', event_type: '5m' }, sizeUsd: 10 },
  ...{ params: DEFAULT_PARAMS, startMs: null, endMs: 0, marketLimit: 5, yAxis: null },
  xAxis: { param: 'entry.1.value', start: 30, end: 90, steps: 3 },
};

describe('an axis', () => {
  test.each([
    [{ param: 'threshold', start: 0.1, end: 0.5, steps: 5 }, [0.1, 0.2, 0.3, 0.4, 0.5]],
    [{ param: 'threshold', start: 0.9, end: 0.7, steps: 3 }, [0.9, 0.8, 0.7]],
    [{ param: 'threshold', start: 0.3, end: 0.5, steps: 1 }, [0.3]],
    [{ param: 'lookback', start: 10, end: 20, steps: 4 }, [10, 13, 17, 20]],
  ])('%j', (axis, values) => expect(axisValues(axis)).toEqual(values));

  test('varies any parameter of its strategy, including those inside conditions', () => {
    expect(sweepableParams(CONDITIONS)).toEqual([
      ...['entry.0.value', 'entry.1.value', 'take_profit.0.value', 'max_trades_per_market'],
      ...['latency_ms', 'max_fill_price', 'max_slippage', 'size_usd'],
    ]);
    const cells = cellsOf(SPEC) as Cell[];
    const values = cells.map(
      ({ strategy }) => strategy.type === 'condition_based' && singleConditions(strategy.entry)[1]?.value,
    );
    expect(values).toEqual([30, 60, 90]);
    expect(CONDITIONS.entry[1]).toMatchObject({ value: 60 });
  });

  test('varies values inside groups of conditions', () => {
    const entry = [CONDITIONS.entry[0] as EntryCondition, { any: singleConditions(CONDITIONS.entry) }];
    const strategy = { ...CONDITIONS, entry };
    expect(sweepableParams(strategy).slice(0, 3)).toEqual([
      ...['entry.0.value', 'entry.1.any.0.value', 'entry.1.any.1.value'],
    ]);
    const xAxis = { param: 'entry.1.any.1.value', start: 30, end: 90, steps: 3 };
    const cells = cellsOf({ ...SPEC, strategy, xAxis }) as Cell[];
    const values = cells.map(
      (cell) => cell.strategy.type === 'condition_based' && singleConditions(cell.strategy.entry)[2]?.value,
    );
    expect(values).toEqual([30, 60, 90]);
  });

  test('varies the numbers of an execution', () => {
    const execution = { entry: 'maker', offset: 0, timeout_s: 30, queue_model: 'pessimistic' } as const;
    const spec = { ...SPEC, strategy: { ...CONDITIONS, execution } };
    expect(sweepableParams(spec.strategy)).toEqual(
      expect.arrayContaining(['execution.offset', 'execution.timeout_s']),
    );
    const cells = cellsOf({ ...spec, xAxis: { param: 'execution.offset', start: 0, end: 0.6, steps: 2 } });
    expect(cells.map((cell) => (typeof cell === 'string' ? cell : cell.strategy.execution?.offset))).toEqual([
      ...[0, 'Input should be less than or equal to 0.5'],
    ]);
  });

  test('produces rows of equal y, and a reason for each invalid value', () => {
    const yAxis = { param: 'size_usd', start: 0, end: 20, steps: 3 };
    const cells = cellsOf({ ...SPEC, yAxis });
    expect(cells.map((cell) => (typeof cell === 'string' ? cell : cell.sizeUsd))).toEqual([
      ...Array(3).fill('Input should be greater than or equal to 1'),
      ...[10, 10, 10, 20, 20, 20],
    ]);
  });
});

test('purchases cannot rest in the fill mode mid', () => {
  const execution = { entry: 'maker', offset: 0, timeout_s: 30, queue_model: 'pessimistic' } as const;
  const params = { ...DEFAULT_PARAMS, fill_mode: 'mid' } as const;
  expect(executionProblems({ strategy: { ...CONDITIONS, execution }, params })).toMatchObject([
    { type: 'value_error', loc: ['body', 'params', 'fill_mode'], input: 'mid' },
  ]);
  expect(executionProblems({ strategy: CONDITIONS, params })).toEqual([]);
});

describe('invalid axes', () => {
  const asked = (x: string, y: string | null) => {
    const axis = (param: string) => ({ param, start: 0, end: 1, steps: 2 });
    return axisProblems({
      ...{ strategy: CONDITIONS, universe: SPEC.universe, size_usd: 10, params: DEFAULT_PARAMS },
      ...{ start: null, end: null, market_limit: null },
      ...{ x_axis: axis(x), y_axis: y === null ? null : axis(y) },
    }).map(({ type, loc, input }) => ({ type, loc, input }));
  };

  test('a parameter of another strategy', () => {
    expect(asked('threshold', 'entry.2.value')).toEqual([
      { type: 'literal_error', loc: ['body', 'x_axis', 'param'], input: 'threshold' },
      { type: 'literal_error', loc: ['body', 'y_axis', 'param'], input: 'entry.2.value' },
    ]);
  });

  test('one parameter twice', () => {
    expect(asked('latency_ms', 'latency_ms')).toEqual([
      { type: 'value_error', loc: ['body', 'y_axis', 'param'], input: 'latency_ms' },
    ]);
    expect(asked('latency_ms', null)).toEqual([]);
  });
});
