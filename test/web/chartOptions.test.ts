import { expect, test, vi } from 'vitest';
import { chartOptions, type Drawn, type Line } from '../../web/src/charts/chartOptions.ts';
import { equityOf } from '../../web/src/pages/backtests/equity.ts';
import { curvesOf } from '../../web/src/pages/paper/curves.ts';

vi.stubGlobal('devicePixelRatio', 1);

const LINE: Line = { label: 'P', scale: 'usd', colour: 'red', values: [], print: String };
const DRAWN: Drawn = {
  ...{ times: [], lines: [LINE], gaps: [], trades: [], span: undefined, mark: undefined },
  ...{ timeMarks: [], ranges: {}, under: [], over: [] },
};
const SETUP = {
  ...{ width: 600, height: 200, counts: undefined, group: 'g', zone: 'UTC' as const, hasTimeAxis: true },
  ...{ colour: (text: string) => text, onSelect: () => undefined },
};
const rangeOf = (low: number, high: number, drawn: Partial<Drawn> = {}) => {
  const range = chartOptions({ current: { ...DRAWN, ...drawn } }, SETUP).scales?.usd?.range;
  return typeof range === 'function' ? range(null as never, low, high, 'usd') : range;
};

test('equal values are in the middle of an axis on which they can be read', () => {
  expect(rangeOf(90_000, 90_000)).toEqual([89_100, 90_900]);
  expect(rangeOf(-50, -50)).toEqual([-50.5, -49.5]);
  expect(rangeOf(0.25, 0.25)).toEqual([0, 0.5]);
  expect(rangeOf(0, 0)).toEqual([-1, 1]);
});

test('a marked level belongs to the values', () => {
  const mark = { scale: 'usd', value: 0, label: 'zero' };
  expect(rangeOf(10, 10, { mark })).toEqual([0, 11]);
  expect(rangeOf(0, 0, { mark })).toEqual([-1, 1]);
});

test('a missing count in the legend is a dash like every missing value', () => {
  const value = chartOptions({ current: DRAWN }, { ...SETUP, counts: 'positions' }).series[0]?.value;
  const print = (count: number | null) =>
    typeof value === 'function' ? value(null as never, count as number, 0, 0) : value;
  expect([print(null), print(12)]).toEqual(['–', '12']);
});

test('a strategy on paper has a line from its first closed position', () => {
  const point = { cumulative_pnl: 3 };
  const shown = (live: object[], baseline: object[]) => {
    const { times, lines } = curvesOf(live as never, baseline as never);
    return { times, lines: lines.map(({ label, values }) => [label, ...values]) };
  };
  expect(shown([], [point, point])).toEqual({ times: [0, 1, 2], lines: [['baseline', 0, 3, 3]] });
  expect(shown([point], [])).toEqual({ times: [0, 1], lines: [['on paper', 0, 3]] });
  expect(shown([point], [point, point])).toEqual({
    times: [0, 1, 2],
    lines: [
      ['on paper', 0, 3, null],
      ['baseline', 0, 3, 3],
    ],
  });
  expect(shown([], []).lines).toEqual([]);
});

test('the P&L of a backtest begins at 0 with its first trade', () => {
  const trade = (opened_at: string) => ({ opened_at });
  const result = {
    trades: [trade('2026-11-23T12:05:00.000Z'), trade('2026-11-23T12:00:10.000Z')],
    equity_curve: [
      { ts: '2026-11-23T12:07:00.000Z', cumulative_pnl: 17 },
      { ts: '2026-11-23T12:12:00.000Z', cumulative_pnl: 5 },
    ],
  };
  const { times, pnl, drawdown } = equityOf(result as never);
  expect(times.map((time) => time - Date.parse('2026-11-23T12:00:00.000Z') / 1000)).toEqual([10, 420, 720]);
  expect([pnl, drawdown]).toEqual([
    [0, 17, 5],
    [0, 0, -12],
  ]);
  expect(equityOf({ trades: [], equity_curve: [] } as never)).toEqual({ times: [], pnl: [], drawdown: [] });
});
