import { expect, test } from 'vitest';
import { makerFill } from '../fills/walk.ts';
import { Ledger } from '../ledger.ts';
import { Holdings } from './holdings.ts';

const SHARE = 1_000_000;

test.each([
  [1, 10 * SHARE],
  [0, 30 * SHARE],
  [0.5, 20 * SHARE],
  [null, 10 * SHARE],
])('10 YES and 30 NO at 0.25 are paid out where YES pays %j: %d micro-USD', (payoutYes, proceeds) => {
  const ledger = new Ledger();
  const holdings = new Holdings(ledger);
  for (const [token, shares] of [
    ['yes', 10],
    ['no', 30],
  ] as const) {
    const fill = makerFill('buy', { price: 2_500, size: shares * SHARE }, 0);
    holdings.buy(
      { token, timeMs: 1, fill, liquidity: 'maker', best: 2_500 },
      { number: 0, decidedMs: 0, atEntry: {} as never },
    );
  }
  expect(holdings.settle({ payoutYes, resolvedTimeMs: 9 })).toBe(proceeds);
  expect(holdings.isEmpty).toBe(true);
  expect(ledger.cash).toBe(proceeds - 10 * SHARE);
});
