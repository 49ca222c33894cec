import { expect, test } from 'vitest';
import { sharpeRatio } from '../core/statistics/returns.ts';
import { type TestResult, walkForwardBody } from './walkForwardResult.ts';

const SPAN = { startMs: 0, endMs: 1 };
const ASKED = {
  ...{
    plan: { trainMs: 9_000, embargoMs: 300_000, testMs: 9_000 },
    windowMs: 300_000,
    valuesOf: () => ({}),
    trials: 1,
    before: 0,
  },
  ...{ dataHash: '', heldOut: null },
};

const chosen = (sharpe: number) => ({ params: null, sharpe, totalPnl: 1 });
const tested = (returns: readonly number[]): TestResult => ({
  ...{ markets_traded: returns.length, trades_total: returns.length, trades_won: 1, total_pnl: 1 },
  ...{ total_fees: 0, sharpe_per_market: null, returns, receipt: {} },
});

test('a test window that was not recorded counts neither on its own nor through its train window', () => {
  const returns = [0.3, -0.1, 0.2];
  const body = walkForwardBody(
    [
      { train: SPAN, test: SPAN, chosen: chosen(0.5), result: tested(returns) },
      { train: SPAN, test: SPAN, chosen: chosen(2.5), result: null },
    ],
    ASKED,
  );
  expect(body).toMatchObject({
    train_sharpe_per_market: 0.5,
    test: { windows: 2, windows_replayed: 1, markets_traded: 3 },
  });
  expect(body.efficiency).toBeCloseTo((sharpeRatio(returns) as number) / 0.5, 12);
});

test.each([
  [300_000, []],
  [
    299_000,
    [
      'The embargo of 299 s is shorter than a window of 300 s: the first markets of a test window may have opened before the outcomes of its train window were known.',
    ],
  ],
])('an embargo of %i ms between markets of five minutes warns %j', (embargoMs, warnings) => {
  expect(walkForwardBody([], { ...ASKED, plan: { ...ASKED.plan, embargoMs } })).toMatchObject({ warnings });
});
