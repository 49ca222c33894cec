import { describe, expect, test } from 'vitest';
import { TAPE_MARKET } from '../../../test/support/tapes.ts';
import { type Fill, makerFill } from '../fills/walk.ts';
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
    const fill = makerFill('buy', { price: 2_500, size: shares * SHARE });
    holdings.buy(
      { token, timeMs: 1, fill, liquidity: 'maker', best: 2_500 },
      { number: 0, decidedMs: 0, atEntry: {} as never },
    );
  }
  expect(holdings.cost).toBe(10 * SHARE);
  expect(holdings.settle({ payoutYes, resolvedTimeMs: 9 })).toBe(proceeds);
  expect(holdings.isEmpty).toBe(true);
  expect(ledger.cash).toBe(proceeds - 10 * SHARE);
});

test('a fill at the very start of a gap keeps its share in the liquidity of its trade', () => {
  const holdings = new Holdings(new Ledger());
  const fillOf = (action: 'buy' | 'sell'): Fill => makerFill(action, { price: 2_500, size: 10 * SHARE });
  const [yes, liquidity] = [{ token: 'yes', best: 2_500 } as const, { buy: 'maker', sell: 'taker' } as const];
  const at = { number: 0, decidedMs: 0, atEntry: {} as never };
  holdings.buy({ ...yes, timeMs: 5, fill: fillOf('buy'), liquidity: liquidity.buy }, at);
  holdings.sell({ ...yes, timeMs: 9, fill: fillOf('sell'), liquidity: liquidity.sell }, 'sold');
  const reported = () => holdings.trades(TAPE_MARKET).map(({ trade }) => trade.liquidity);
  expect(reported()).toEqual(['both']);
  expect(holdings.reverseSince(5)).toBe(true);
  expect(reported()).toEqual(['maker']);
});

describe('positions', () => {
  const at = { number: 0, decidedMs: 0, atEntry: {} as never };
  const fillOf = (action: 'buy' | 'sell'): Fill => makerFill(action, { price: 2_500, size: 10 * SHARE });
  const no = { token: 'no', best: 2_500 } as const;

  test('of NO alone are held, and sold by a sale of NO', () => {
    const holdings = new Holdings(new Ledger());
    holdings.buy({ ...no, timeMs: 5, fill: fillOf('buy'), liquidity: 'maker' }, at);
    expect([holdings.isEmpty, holdings.held('no')?.left, holdings.held('yes')]).toEqual([
      false,
      10 * SHARE,
      null,
    ]);
    holdings.sell({ ...no, timeMs: 6, fill: fillOf('sell'), liquidity: 'maker' }, 'sold');
    expect([holdings.isEmpty, holdings.held('no')]).toEqual([true, null]);
  });

  test('have the liquidity of all their purchases', () => {
    const holdings = new Holdings(new Ledger());
    holdings.buy({ ...no, timeMs: 5, fill: fillOf('buy'), liquidity: 'maker' }, at);
    holdings.buy({ ...no, timeMs: 6, fill: fillOf('buy'), liquidity: 'taker' }, at);
    expect(holdings.trades(TAPE_MARKET)).toMatchObject([{ trade: { liquidity: 'both', size: 20 * SHARE } }]);
  });

  test('whose sale is reversed are held again, and whose purchase is reversed never were', () => {
    const holdings = new Holdings(new Ledger());
    holdings.buy({ ...no, timeMs: 5, fill: fillOf('buy'), liquidity: 'maker' }, at);
    holdings.sell({ ...no, timeMs: 9, fill: fillOf('sell'), liquidity: 'maker' }, 'sold');
    expect([holdings.reverseSince(9), holdings.held('no')]).toEqual([false, null]);
    expect([holdings.reverseSince(8), holdings.held('no')?.left]).toEqual([true, 10 * SHARE]);
    expect([holdings.reverseSince(4), holdings.held('no')]).toEqual([true, null]);
    expect(holdings.trades(TAPE_MARKET)).toEqual([]);
  });
});
