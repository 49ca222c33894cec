import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TakerFee } from '../fees.ts';
import { Ledger } from '../ledger.ts';
import { Position } from '../session/position.ts';
import {
  averagePairPrice,
  averagePrice,
  buyShares,
  type Fill,
  type FilledLevel,
  sellShares,
} from './walk.ts';

const FEE = new TakerFee({ rate: 0.07, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' });
const MICRO = 1_000_000;
const RUNS = { numRuns: 2_000, seed: 20_261_122 };

const price = fc.integer({ min: 1, max: 9_999 });
/** Up to ten million shares, whose product with a price a double cannot represent exactly. */
const size = fc.integer({ min: 1, max: 10_000_000 * MICRO });
const sizes = fc.array(size, { minLength: 1, maxLength: 6 });
/** Up to a thousand shares, like orders. */
const orderSizes = fc.array(fc.integer({ min: 1, max: 1_000 * MICRO }), { minLength: 1, maxLength: 6 });

const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);
const levelsAt = (at: number, all: readonly number[]): FilledLevel[] =>
  all.map((one) => ({ price: at, size: one }));

function sideOf(at: number, shown: number) {
  return { count: 1, prices: Uint16Array.of(at), sizes: Float64Array.of(shown) };
}

function fillOf(kind: 'buy' | 'sell', at: number, shares: number): Fill {
  const take = kind === 'buy' ? buyShares : sellShares;
  return take(sideOf(at, shares), { size: shares, fee: FEE }) as Fill;
}

test('the average of levels at one price is that price', () => {
  fc.assert(
    fc.property(price, sizes, (at, all) => {
      expect(averagePrice({ levels: levelsAt(at, all), size: sum(all) })).toBe(at / 10_000);
    }),
    RUNS,
  );
});

test('the average of a pair, each leg at one price, is the sum of the two', () => {
  fc.assert(
    fc.property(price, price, sizes, (yes, no, all) => {
      const legs = [{ levels: levelsAt(yes, all) }, { levels: levelsAt(no, [sum(all)]) }];
      expect(averagePairPrice(legs, sum(all))).toBe((yes + no) / 10_000);
    }),
    RUNS,
  );
});

test('the average of levels at several prices is between them', () => {
  const level = fc.record({ price, size });
  fc.assert(
    fc.property(fc.array(level, { minLength: 1, maxLength: 6 }), (levels) => {
      const average = averagePrice({ levels, size: sum(levels.map((one) => one.size)) });
      const prices = levels.map((one) => one.price / 10_000);
      expect(average).toBeGreaterThanOrEqual(Math.min(...prices) - 1e-12);
      expect(average).toBeLessThanOrEqual(Math.max(...prices) + 1e-12);
    }),
    RUNS,
  );
});

test('a position sold in several parts at one price has that price, however its proceeds were rounded', () => {
  fc.assert(
    fc.property(price, price, orderSizes, (boughtAt, soldAt, parts) => {
      const fill = fillOf('buy', boughtAt, sum(parts));
      const opened = { token: 'yes', decidedMs: 0, openedMs: 1, fill, best: 3_000 } as const;
      const position = new Position(new Ledger(), opened);
      for (const [at, part] of parts.entries())
        position.sell(2 + at, fillOf('sell', soldAt, part), { reason: 'take_profit', best: 3_000 });
      expect(position.trade()).toMatchObject({ entryPrice: boughtAt / 10_000, exitPrice: soldAt / 10_000 });
    }),
    RUNS,
  );
});

test.each([
  ['won', 1, 1],
  ['lost', 0, 0],
  ['tied', 0.5, 0.5],
  ['annulled', null, 0.33],
] as const)(
  'a position that %s has its payout as the price of the last shares',
  (_how, payout, exitPrice) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 * MICRO }), (shares) => {
        const fill = fillOf('buy', 3_300, shares);
        const position = new Position(new Ledger(), {
          ...{ token: 'yes', decidedMs: 0, openedMs: 1, fill, best: 3_000 },
        });
        position.settle(9, payout);
        expect(position.trade().exitPrice).toBe(exitPrice);
      }),
      RUNS,
    );
  },
);

test('a position bought at two prices and annulled in part has its average purchase price for that part', () => {
  const levels = [
    { price: 3_000, size: 4 * MICRO },
    { price: 4_000, size: 4 * MICRO },
  ];
  const fill = { size: 8 * MICRO, principal: 2.8 * MICRO, fee: 0, levels };
  const position = new Position(new Ledger(), {
    ...{ token: 'yes', decidedMs: 0, openedMs: 1, fill, best: 3_000 },
  });
  position.sell(2, fillOf('sell', 4_500, 2 * MICRO), { reason: 'take_profit', best: 3_000 });
  position.settle(9, null);
  expect(position.trade().exitPrice).toBeCloseTo((0.45 * 2 + 0.35 * 6) / 8, 12);
});

test('the average of a pair is the sum of the averages of its legs, also over levels at several prices', () => {
  const both: FilledLevel[] = [
    { price: 4_000, size: MICRO },
    { price: 4_200, size: 3 * MICRO },
  ];
  const pair = [{ levels: both }, { levels: levelsAt(5_000, [4 * MICRO]) }];
  expect(averagePairPrice(pair, 4 * MICRO)).toBe(0.915);
});
