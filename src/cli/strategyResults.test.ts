import { expect, test } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import { EMPTY_RUN, RUN_CONTEXT, runMarket, runTrade } from '../../test/support/runResults.ts';
import { type FileRuns, figuresOf, sweepBody } from './strategyResults.ts';

const AXIS = { param: 'edge', start: 0.1, end: 0.2, steps: 2 };
const SETTING = { params: {}, terms: RUN_CONTEXT.terms };

test('a sweep leaves out a market only if every cell does', () => {
  const [usual, blind, lost] = [runMarket(0), runMarket(1), runMarket(2, { skipped: 'gap', coverage: 0 })];
  const traded = [usual, blind].map((market) => runTrade(market, { price: 0.5, won: true }));
  // Without the strike the first cell saw no reason to buy, the second one did.
  const first = {
    ...EMPTY_RUN,
    markets: [usual, { ...blind, skipped: 'no_strike' as const }, lost],
    trades: traded.slice(0, 1),
  };
  const second = { ...EMPTY_RUN, markets: [usual, blind, lost], trades: traded };
  const runs: FileRuns = {
    results: [first, second].map((result, run) => ({ run, result })),
    ...{ markets: [usual, blind, lost].map(marketRecord), tooLarge: [], dataHash: '', codeHash: '' },
    ...{ uses: [], heldOut: null },
  };
  const { cells, warnings } = sweepBody(runs, { axes: [AXIS], setting: SETTING, trialsBefore: 0 });
  expect(cells[0]?.map(({ trades_total: trades }) => trades)).toEqual([1, 2]);
  expect(warnings).toContain('1 of 3 markets were left out: 1 gap');
});

test('the figures of a run count no trade of an unresolved market', () => {
  const [usual, unresolved] = [runMarket(0), runMarket(1, { skipped: 'unresolved' })];
  const lost = runTrade(usual, { price: 0.5, won: false });
  const sold = runTrade(unresolved, { price: 0.5, won: true, exitReason: 'take_profit' });
  const run = { ...EMPTY_RUN, markets: [usual, unresolved], trades: [lost, sold] };
  expect(figuresOf(run)).toMatchObject({ trades_total: 1, trades_won: 0, total_pnl: -51 });
});
