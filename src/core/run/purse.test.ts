import { describe, expect, test } from 'vitest';
import { RUN_TERMS } from '../../../test/support/runs.ts';
import type { OrderTerms } from '../desk/order.ts';
import { TakerFee } from '../fees.ts';
import { Purse, reserveOf } from './purse.ts';

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

test('neither reserved money nor a payout before its redemption can be spent', () => {
  const purse = new Purse({ ...RUN_TERMS, cashUsd: 10.000001, redemptionDelayMs: 5_000 });
  purse.ledger.buy({ principal: 4 * USD, fee: 0.5 * USD });
  purse.reserved = 2 * USD;
  expect(purse.cash).toBe(3.5 * USD + 1);
  purse.ledger.close({ proceeds: 7 * USD, fee: 0, cost: 4 * USD });
  purse.lock(7 * USD, 1_000);
  expect([purse.cash, purse.refusalOf(3.5 * USD + 2, NOTHING)]).toEqual([3.5 * USD + 1, 'no_cash']);
  purse.redeem(6_000);
  expect(purse.cash).toBe(10.5 * USD + 1);
});

test('an amount is rounded to the nearest micro-USD: 1.001 USD is 1,000,999.9999999999 in doubles', () => {
  expect(new Purse({ ...RUN_TERMS, cashUsd: 1.001 }).cash).toBe(1_001_000);
});

test('payouts are redeemed in the order of their times, whenever they were locked', () => {
  const purse = new Purse({ ...RUN_TERMS, cashUsd: 0 });
  for (const seconds of [1, 3, 2]) purse.lock(seconds * USD, seconds * 1_000);
  const lockedAfter = [1_000, 2_000, 3_000].map((timeMs) => [purse.redeem(timeMs), purse.locked / USD]);
  expect(lockedAfter).toEqual([
    [true, 5],
    [true, 3],
    [true, 0],
  ]);
});

test('a payout of nothing is not redeemed', () => {
  const purse = new Purse({ ...RUN_TERMS, cashUsd: 0 });
  purse.lock(0, 1_000);
  expect(purse.redeem(1_000)).toBe(false);
});

describe('an order reserves, with 0.001 USD for roundings,', () => {
  const fee = new TakerFee({ rate: 0.07, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' });
  const terms: OrderTerms = {
    ...({ token: 'yes', action: 'buy', limitPrice: 4_000, timeInForce: 'fak' } as const),
    ...{ size: null, budget: null, expiresMs: null, postOnly: false },
  };
  const shares = { size: 10 * USD, budget: null };

  test.each<[string, Partial<OrderTerms>, { size: number | null; budget: number | null }, number]>([
    ['for shares their cost at the limit and the fee there', {}, shares, 4_169_000],
    ['for shares that never take, no fee', { timeInForce: 'gtc', postOnly: true }, shares, 4_001_000],
    ['for a budget the highest fee', {}, { size: null, budget: 10 * USD }, 10_701_000],
    ['for a sale nothing', { action: 'sell' }, shares, 0],
    ['once no share is open nothing', {}, { size: 0, budget: null }, 0],
  ])('%s', (_, changed, open, micro) => {
    expect(reserveOf({ ...terms, ...changed }, open, fee)).toBe(micro);
  });
});
