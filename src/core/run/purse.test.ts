import { expect, test } from 'vitest';
import { RUN_TERMS } from '../../../test/support/runs.ts';
import { Purse } from './purse.ts';

const USD = 1_000_000;
const NOTHING = { market: 0, ticker: 0, total: 0 };

test('a purchase may use all the cash and all of a cap, and no micro-USD more', () => {
  const limited = new Purse({ ...RUN_TERMS, cashUsd: 10 });
  expect([limited.refusalOf(10 * USD, NOTHING), limited.refusalOf(10 * USD + 1, NOTHING)]).toEqual([
    null,
    'no_cash',
  ]);
  const exposure = { perMarketUsd: 3, perTickerUsd: 5, totalUsd: 8 };
  const capped = new Purse({ ...RUN_TERMS, cashUsd: null, exposure });
  for (const [name, cap] of [
    ['market', 3],
    ['ticker', 5],
    ['total', 8],
  ] as const) {
    const before = { ...NOTHING, [name]: (cap - 1) * USD };
    expect(capped.refusalOf(USD, before), name).toBeNull();
    expect(capped.refusalOf(USD + 1, before), name).toBe('exposure_cap');
  }
});

test('a payout is cash from its redemption on', () => {
  const purse = new Purse({ ...RUN_TERMS, cashUsd: 0, redemptionDelayMs: 5_000 });
  purse.lock(2 * USD, 3_000);
  purse.lock(USD, 1_000);
  expect([purse.redeem(5_999), purse.locked]).toEqual([false, 3 * USD]);
  expect([purse.redeem(6_000), purse.locked]).toEqual([true, 2 * USD]);
  expect([purse.redeem(8_000), purse.locked]).toEqual([true, 0]);
});
