import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TakerFee } from '../fees.ts';
import { LadderSide } from '../ladderSide.ts';
import type { FeeRule } from '../venueRulesTable.ts';
import { averagePrice, buyForBudget, buyShares, displayed, makerFill, sellShares } from './walk.ts';

const USDC = 1_000_000;
const SHARE = 1_000_000;
const RULE: FeeRule = { rate: 0, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' };
const FREE = new TakerFee(RULE);
const TAKER = new TakerFee({ ...RULE, rate: 0.07 });

/** Levels as price in USDC and shares, in any order. */
function side(kind: 'bids' | 'asks', levels: readonly (readonly [number, number])[]): LadderSide {
  const ladder = new LadderSide(kind);
  ladder.replace({
    prices: levels.map(([price]) => Math.round(price * 10_000)),
    sizes: levels.map(([, shares]) => shares * SHARE),
  });
  return ladder;
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) => permutations(items.toSpliced(at, 1)).map((rest) => [item, ...rest]));
}

test('shares of one level cost exactly that level’s price, though the amount was rounded', () => {
  const fill = buyForBudget(side('asks', [[0.51, 100]]), { budget: 10 * USDC, fee: FREE });
  expect(fill).toMatchObject({ size: 19_607_843, principal: 10 * USDC });
  expect(fill && averagePrice(fill)).toBe(0.51);
});

describe('buying for an amount', () => {
  const shown = [
    [0.55, 100],
    [0.5, 10],
    [0.6, 200],
  ] as const;

  test.each(permutations(shown))(
    'of 20 USDC crosses to 0.55, in whatever order levels come: %j %j %j',
    (...levels) => {
      const fill = buyForBudget(side('asks', levels), { budget: 20 * USDC, fee: FREE });
      expect(fill?.levels.at(-1)?.price).toBe(5_500);
      expect(fill?.size).toBe(10 * SHARE + Math.floor((15 / 0.55) * SHARE));
      expect(fill?.principal).toBe(20 * USDC);
    },
  );

  test('buys the cheapest level, wherever it is in the list', () => {
    const asks = side('asks', [
      [0.5, 50],
      [0.999, 100],
      [0.2, 72],
    ]);
    const fill = buyForBudget(asks, { budget: 5 * USDC, fee: FREE });
    expect(fill).toEqual({
      size: 25 * SHARE,
      principal: 5 * USDC,
      fee: 0,
      levels: [{ price: 2_000, size: 25 * SHARE }],
    });
  });

  test('ends with the depth', () => {
    expect(buyForBudget(side('asks', [[0.55, 10]]), { budget: 50 * USDC, fee: FREE })?.size).toBe(10 * SHARE);
  });

  test.each([700, 1_400, 2_900, 5_800])('is spent whole without a fee inside it, at %d ticks', (price) => {
    const asks = { count: 1, prices: Uint16Array.of(price), sizes: Float64Array.of(1_000 * SHARE) };
    const size = Math.floor((USDC * 10_000) / price);
    for (const terms of [{ fee: FREE }, { fee: TAKER, feeOnTop: true }])
      expect(buyForBudget(asks, { budget: USDC, ...terms })).toMatchObject({ size, principal: USDC });
  });

  test('with the fee on top, its fees leave the budget of the next level whole', () => {
    const asks = side('asks', [
      [0.5, 10],
      [0.6, 1_000],
    ]);
    const fill = buyForBudget(asks, { budget: 11 * USDC, fee: TAKER, feeOnTop: true });
    expect(fill).toMatchObject({ size: 20 * SHARE, principal: 11 * USDC });
    expect(fill?.fee).toBe(175_000 + 168_000);
  });

  test('includes the fee: of 100 USDC 96.525096 are principal at one half and rate 0.072', () => {
    const fee = new TakerFee({ ...RULE, rate: 0.072 });
    const fill = buyForBudget(side('asks', [[0.5, 1_000]]), { budget: 100 * USDC, fee });
    expect(fill?.principal).toBe(96_525_096);
    expect(fill?.fee).toBe(3_474_900);
  });

  test('what a rounded fee leaves of 2 USDC buys nothing at a worse price', () => {
    const asks = side('asks', [
      [0.5, 1_000],
      [0.6, 1_000],
    ]);
    const fill = buyForBudget(asks, { budget: 2 * USDC, fee: TAKER });
    expect(fill).toEqual({
      ...{ size: 3_864_734, principal: 1_932_367, fee: 67_630 },
      levels: [{ price: 5_000, size: 3_864_734 }],
    });
  });

  test('a fee to a third party acts the same: 0.1 % of the principal at rate 0.04 leaves 9.794319 of 10', () => {
    // At one half a share's fee is half the rate times its cost: 0.1 % more of the cost is 0.002 more of the rate.
    const fee = new TakerFee({ ...RULE, rate: 0.042 });
    expect(buyForBudget(side('asks', [[0.5, 1_000]]), { budget: 10 * USDC, fee })?.principal).toBe(9_794_319);
  });
});

describe('buying and selling shares', () => {
  test('150 for 72.50 USDC, with the fee level by level', () => {
    const asks = side('asks', [
      [0.49, 60],
      [0.52, 500],
      [0.48, 100],
    ]);
    const fill = buyShares(asks, { size: 150 * SHARE, fee: TAKER });
    expect(fill).toMatchObject({ size: 150 * SHARE, principal: 72_500_000, fee: 2_621_850 });
    expect(fill && averagePrice(fill).toFixed(5)).toBe('0.48333');
  });

  test('80 into the bids reach down to 0.48', () => {
    const bids = side('bids', [
      [0.48, 100],
      [0.5, 50],
    ]);
    const fill = sellShares(bids, { size: 80 * SHARE, fee: FREE });
    expect(fill?.levels).toEqual([
      { price: 5_000, size: 50 * SHARE },
      { price: 4_800, size: 30 * SHARE },
    ]);
  });

  test('stops at the limit', () => {
    const asks = side('asks', [
      [0.4, 10],
      [0.5, 10],
    ]);
    const bids = side('bids', [
      [0.4, 10],
      [0.5, 10],
    ]);
    expect(buyShares(asks, { size: 20 * SHARE, fee: FREE, limitPrice: 4_999 })?.size).toBe(10 * SHARE);
    expect(sellShares(bids, { size: 20 * SHARE, fee: FREE, limitPrice: 4_001 })?.size).toBe(10 * SHARE);
    expect(buyForBudget(asks, { budget: 20 * USDC, fee: FREE, limitPrice: 4_000 })?.size).toBe(10 * SHARE);
  });

  test('the limit itself is accepted', () => {
    const both = [
      [0.4, 10],
      [0.5, 10],
    ] as const;
    const [asks, bids] = [side('asks', both), side('bids', both)];
    expect(buyShares(asks, { size: 20 * SHARE, fee: FREE, limitPrice: 5_000 })?.size).toBe(20 * SHARE);
    expect(sellShares(bids, { size: 20 * SHARE, fee: FREE, limitPrice: 4_000 })?.size).toBe(20 * SHARE);
    expect(buyForBudget(asks, { budget: 9 * USDC, fee: FREE, limitPrice: 5_000 })?.size).toBe(20 * SHARE);
  });

  test('an empty side, or one beyond the limit, fills nothing', () => {
    const asks = side('asks', [[0.5, 10]]);
    expect(buyShares(side('asks', []), { size: SHARE, fee: FREE })).toBeNull();
    expect(sellShares(side('bids', []), { size: SHARE, fee: FREE })).toBeNull();
    expect(buyForBudget(side('asks', []), { budget: USDC, fee: FREE })).toBeNull();
    expect(buyShares(asks, { size: SHARE, fee: FREE, limitPrice: 4_000 })).toBeNull();
  });

  test('a level of 1.6 units fills one unit, never more than displayed', () => {
    const asks = side('asks', [[0.5, 1.6e-6]]);
    expect(buyShares(asks, { size: 5, fee: FREE })?.levels).toEqual([{ price: 5_000, size: 1 }]);
    expect(sellShares(side('bids', [[0.5, 1.6e-6]]), { size: 5, fee: FREE })?.size).toBe(1);
    expect(buyForBudget(asks, { budget: USDC, fee: FREE })?.size).toBe(1);
  });

  test('a level without a whole unit is not part of the fill', () => {
    const asks = { count: 2, prices: Uint16Array.of(4_000, 5_000), sizes: Float64Array.of(0.9, 3) };
    expect(buyShares(asks, { size: 2, fee: FREE })?.levels).toEqual([{ price: 5_000, size: 2 }]);
  });

  test('nothing is displayed beyond the last level, whatever the arrays still contain', () => {
    const asks = { count: 1, prices: Uint16Array.of(5_000, 5_100), sizes: Float64Array.of(7.9, 9) };
    expect([displayed(asks, 0), displayed(asks, 1)]).toEqual([7, 0]);
  });

  test('amounts below a micro-USD are rounded against the taker', () => {
    const one = { size: 1, fee: FREE };
    expect(buyShares(side('asks', [[0.3, 1]]), one)?.principal).toBe(1);
    expect(sellShares(side('bids', [[0.3, 1]]), one)?.principal).toBe(0);
  });

  test('so are those of an order that rested', () => {
    const level = { price: 3_000, size: 1 };
    expect(makerFill('buy', level)).toEqual({ size: 1, principal: 1, fee: 0, levels: [level] });
    expect(makerFill('buy', level, { before: 1 }).principal).toBe(0);
    expect(makerFill('sell', level, { fee: -7 })).toEqual({
      size: 1,
      principal: 0,
      fee: -7,
      levels: [level],
    });
  });
});

const level = fc.tuple(fc.integer({ min: 1, max: 9_999 }), fc.integer({ min: 1, max: 10 ** 10 }));
const ladder = fc.uniqueArray(level, { minLength: 1, maxLength: 12, selector: ([price]) => price });

function asksOf(levels: readonly (readonly [number, number])[]): LadderSide {
  const asks = new LadderSide('asks');
  asks.replace({ prices: levels.map(([p]) => p), sizes: levels.map(([, s]) => s) });
  return asks;
}

test('no amount is ever exceeded, nor left unspent by more than a fee step and a unit while there is depth', () => {
  fc.assert(
    fc.property(ladder, fc.integer({ min: 1, max: 10 ** 10 }), (levels, budget) => {
      const asks = asksOf(levels);
      const fill = buyForBudget(asks, { budget, fee: TAKER });
      const spent = fill === null ? 0 : fill.principal + fill.fee;
      expect(spent).toBeLessThanOrEqual(budget);
      const depth = levels.reduce((sum, [, size]) => sum + size, 0);
      if ((fill?.size ?? 0) < depth) expect(budget - spent).toBeLessThanOrEqual(22);
    }),
    { numRuns: 2_000 },
  );
});

test('the levels of a fill sum to it and are best first, whatever the input order', () => {
  fc.assert(
    fc.property(ladder, fc.integer({ min: 1, max: 10 ** 11 }), (levels, size) => {
      const fill = buyShares(asksOf(levels), { size, fee: TAKER });
      const depth = levels.reduce((sum, [, shares]) => sum + shares, 0);
      expect(fill?.size).toBe(Math.min(size, depth));
      expect(fill?.levels.reduce((sum, taken) => sum + taken.size, 0)).toBe(fill?.size);
      const prices = fill?.levels.map(({ price }) => price) ?? [];
      expect(prices).toEqual([...prices].sort((a, b) => a - b));
      expect(buyShares(asksOf(levels.toReversed()), { size, fee: TAKER })).toEqual(fill);
    }),
    { numRuns: 1_000 },
  );
});
