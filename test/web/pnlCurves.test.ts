import { expect, test } from 'vitest';
import { rangeAround } from '../../web/src/charts/rangeAround.ts';
import { equityOf } from '../../web/src/pages/backtests/equity.ts';
import { curvesOf } from '../../web/src/pages/paper/curves.ts';

test('equal values are in the middle of an axis on which they can be read', () => {
  expect(rangeAround(90_000)).toEqual([89_100, 90_900]);
  expect(rangeAround(-50)).toEqual([-50.5, -49.5]);
  expect(rangeAround(0.25)).toEqual([0, 0.5]);
  expect(rangeAround(0)).toEqual([-1, 1]);
});

test('a strategy on paper has a line from its first closed position', () => {
  const point = { cumulative_pnl: 3 };
  const counts = [0, 1, 2];
  expect(curvesOf([], [point, point])).toEqual({ counts, live: null, baseline: [0, 3, 3] });
  expect(curvesOf([point], [])).toEqual({ counts: [0, 1], live: [0, 3], baseline: null });
  expect(curvesOf([point], [point, point])).toEqual({ counts, live: [0, 3, null], baseline: [0, 3, 3] });
  expect(curvesOf([], [])).toEqual({ counts: [0], live: null, baseline: null });
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
