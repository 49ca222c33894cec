import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { COST_SCALE, TakerFee } from './fees.ts';
import type { FeeRule } from './venueRulesTable.ts';

const RULE: FeeRule = { rate: 0.07, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' };
const SHARE = 1_000_000;

function fee(rule: Partial<FeeRule> = {}): TakerFee {
  return new TakerFee({ ...RULE, ...rule });
}

/** USDC for shares at a price in ticks. */
function charged(taker: TakerFee, shares: number, price: number): number {
  return taker.charged({ price, size: Math.round(shares * SHARE) }) / 1e6;
}

test('the edge of a share is its probability minus price and fee: 0.6 - 0.5 - 0.0175 at rate 0.07', () => {
  expect(fee().edge(5_000, 0.6)).toBeCloseTo(0.0825, 12);
});

test.each([{ rate: -0.01 }, { exponent: -1 }, { decimals: -1 }, { decimals: 7 }, { decimals: 1.5 }])(
  '%o is no fee rule',
  (rule) => {
    expect(() => fee(rule)).toThrow(
      new RangeError(`not a fee rule: ${JSON.stringify({ ...RULE, ...rule })}`),
    );
  },
);

test.each([{ rate: 0 }, { exponent: 0 }, { decimals: 0 }, { decimals: 6 }])('%o is a fee rule', (rule) => {
  expect(fee(rule).rule).toEqual({ ...RULE, ...rule });
});

test('with a fractional exponent a fee at the edge of a step is rounded like any other', () => {
  // 0.0003 shares x 0.1 x the root of 0.25 are 0.000015 USDC.
  expect(fee({ rate: 0.1, exponent: 0.5 }).charged({ price: 5_000, size: 300 })).toBe(20);
});

test.each([
  ['a rate with more than six decimals', { rate: 0.0720005 }],
  ['a fee on the cost', { base: 'cost' }],
  ['exponent 2', { exponent: 2, rate: 0.25 }],
] as const)('the cost of a share is its price and its fee, with %s', (_, rule) => {
  const taker = fee(rule);
  const expected = 0.3 + taker.perShare(3_000);
  expect(taker.shareCost(3_000) / COST_SCALE).toBeCloseTo(expected, 12);
});

describe('the fee of 100 shares', () => {
  test.each([
    [100, '0.06930', '0.07'],
    [500, '0.33250', '0.33'],
    [1_000, '0.63000', '0.63'],
    [1_500, '0.89250', '0.89'],
    [2_000, '1.12000', '1.12'],
    [2_500, '1.31250', '1.31'],
    [3_000, '1.47000', '1.47'],
    [3_500, '1.59250', '1.59'],
    [4_000, '1.68000', '1.68'],
    [4_500, '1.73250', '1.73'],
    [5_000, '1.75000', '1.75'],
  ])('at rate 0.07 and %i ticks is %s USDC, the same at the mirrored price', (price, exact, printed) => {
    for (const at of [price, 10_000 - price]) {
      expect(charged(fee(), 100, at).toFixed(5)).toBe(exact);
      expect(Math.abs(charged(fee(), 100, at) - Number(printed))).toBeLessThanOrEqual(0.005);
    }
  });

  test.each([
    [0.072, 5_000, 1.8],
    [0.072, 100, 0.07128],
    [0.072, 9_900, 0.07128],
    [0.072, 500, 0.342],
    [0.072, 1_000, 0.648],
    [0.072, 9_000, 0.648],
    [0.072, 3_000, 1.512],
    [0.072, 7_000, 1.512],
    [0.03, 5_000, 0.75],
    [0.03, 3_000, 0.63],
    [0.04, 5_000, 1],
    [0.04, 3_000, 0.84],
    [0.05, 5_000, 1.25],
    [0.05, 3_000, 1.05],
    [0, 5_000, 0],
  ])('at rate %d and %i ticks is %d USDC', (rate, price, expected) => {
    expect(charged(fee({ rate }), 100, price)).toBe(expected);
  });

  test('with exponent 2 and rate 0.25 is 1.5625 at one half; charged on the cost, half of it', () => {
    expect(charged(fee({ rate: 0.25, exponent: 2 }), 100, 5_000)).toBe(1.5625);
    expect(charged(fee({ rate: 0.25, exponent: 2, base: 'cost' }), 100, 5_000)).toBe(0.78125);
  });
});

describe('rounding to five decimals', () => {
  test.each([
    [0.0334, 9_800, 0.00005, 0.00004],
    [15.4639, 9_700, 0.0324, 0.03239],
  ])('%d shares at %i ticks and rate 0.072: half up %d, down %d', (shares, price, up, down) => {
    expect(charged(fee({ rate: 0.072 }), shares, price)).toBe(up);
    expect(charged(fee({ rate: 0.072, rounding: 'down' }), shares, price)).toBe(down);
  });

  test('a fee below the last decimal is 0, even if half up would round it up', () => {
    // 0.000571 shares at one half: 0.0000099925 USDC.
    expect(charged(fee(), 0.000571, 5_000)).toBe(0);
    expect(charged(fee(), 0.000572, 5_000)).toBe(0.00001);
  });

  test.each(['half_up', 'down'] as const)(
    'a fee of exactly the last decimal is charged, rounded %s',
    (rounding) => {
      // 0.00016 x 0.25 x 0.5 x 0.5 USDC is 0.00001 exactly.
      expect(charged(fee({ rate: 0.25, rounding }), 0.00016, 5_000)).toBe(0.00001);
      expect(charged(fee({ rate: 0.25, rounding }), 0.000159, 5_000)).toBe(0);
    },
  );

  test.each(['half_up', 'down'] as const)(
    'so is one of exactly the last decimal on the cost, rounded %s',
    (rounding) => {
      // 0.00032 x 0.5 x 0.25 x 0.5 x 0.5 USDC is 0.00001 exactly.
      const taker = fee({ rate: 0.25, base: 'cost', rounding });
      expect(charged(taker, 0.00032, 5_000)).toBe(0.00001);
      expect(charged(taker, 0.000319, 5_000)).toBe(0);
    },
  );

  test('an exact half is distinguished from a value just below, which a double cannot do', () => {
    // 6.25 x 0.072 x 0.03 x 0.97 USDC is exactly 0.013095; the product of doubles is below it.
    expect(charged(fee({ rate: 0.072 }), 6.25, 300)).toBe(0.0131);
    expect(charged(fee({ rate: 0.072 }), 6.249999, 300)).toBe(0.01309);
  });

  test('a value just below an exact half is rounded down, though the product of doubles reaches it', () => {
    // 889,809.314113 x 0.07 x 0.676 x 0.324 USDC are 13,642.27166499999984.
    expect(fee().charged({ price: 6_760, size: 889_809_314_113 })).toBe(13_642_271_660);
  });

  test('rounds an exact half up and a value just below it down, also with exponent 2', () => {
    // 0.00096 x 0.25 x (0.5 x 0.5)^2 USDC is exactly 0.000015.
    const taker = fee({ rate: 0.25, exponent: 2 });
    expect(charged(taker, 0.00096, 5_000)).toBe(0.00002);
    expect(charged(taker, 0.000959, 5_000)).toBe(0.00001);
  });

  test('agrees with whole-number arithmetic on any fill', () => {
    const fill = fc.record({
      price: fc.integer({ min: 0, max: 10_000 }),
      size: fc.integer({ min: 0, max: 10 ** 12 }),
      rate: fc.integer({ min: 0, max: 250_000 }),
      exponent: fc.constantFrom(1, 2),
      rounding: fc.constantFrom('half_up' as const, 'down' as const),
      base: fc.constantFrom('share' as const, 'cost' as const),
    });
    fc.assert(
      fc.property(fill, ({ price, size, rate, exponent, rounding, base }) => {
        const e = BigInt(exponent);
        const p = BigInt(price);
        const onCost = base === 'cost';
        const top = BigInt(size) * BigInt(rate) * (p * (10_000n - p)) ** e * (onCost ? p : 1n) * 100_000n;
        const bottom = 10n ** 12n * 10n ** (8n * e) * (onCost ? 10_000n : 1n);
        const steps =
          top < bottom ? 0n : rounding === 'down' ? top / bottom : (2n * top + bottom) / (2n * bottom);
        const taker = fee({ rate: rate / 1e6, exponent, rounding, base });
        expect(taker.charged({ price, size })).toBe(Number(steps) * 10);
      }),
      { numRuns: 3_000 },
    );
  });
});

describe('the cost of a pair', () => {
  const pair = (yes: number, no: number, taker = fee()) =>
    (taker.shareCost(yes) + taker.shareCost(no)) / COST_SCALE;

  test.each([
    [4_800, 4_900, '1.004965'],
    [4_700, 4_800, '0.984909'],
    [9_000, 800, '0.991452'],
    [9_700, 200, '0.993409'],
  ])('at %i and %i ticks is %s', (yes, no, expected) => {
    expect(pair(yes, no).toFixed(6)).toBe(expected);
  });

  test('breaks even at 0.48252 each', () => {
    const even = (a: number) => 2 * (a + 0.07 * a * (1 - a));
    expect(pair(4_825, 4_825)).toBeCloseTo(even(0.4825), 12);
    expect(even(0.48252)).toBeCloseTo(1, 5);
    expect(pair(4_825, 4_825)).toBeLessThan(1);
    expect(pair(4_826, 4_826)).toBeGreaterThan(1);
  });

  test('is whole for every rate of six decimals, which its double may just miss', () => {
    for (const rate of [0.000123, 0.000253, 0.015626, 0.07])
      for (const price of [1, 3_333, 5_000, 9_999])
        expect([rate, price, fee({ rate }).shareCost(price) % 1]).toEqual([rate, price, 0]);
    const missed = 0.015626;
    expect(missed * 1e6).not.toBe(15_626);
    expect(fee({ rate: missed }).shareCost(5_000)).toBe(5_000 * 1e10 + 15_626 * 5_000 * 5_000);
  });

  test('is exactly 1 at the break-even price', () => {
    const free = fee({ rate: 0 });
    expect(free.shareCost(3_333) + free.shareCost(6_667)).toBe(COST_SCALE);
  });
});

test.each([{ rate: -0.01 }, { rate: Number.NaN }, { exponent: -1 }, { decimals: 7 }, { decimals: 2.5 }])(
  '%j is refused',
  (wrong) => {
    expect(() => fee(wrong)).toThrow(RangeError);
  },
);
