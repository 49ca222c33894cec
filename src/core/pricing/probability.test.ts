import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalCdf } from './normal.ts';
import { deviationAhead, type Outlook, probabilityUp, sigmaPerSecond } from './probability.ts';

/** A window decided by one price. */
function bySpot(spot: number, strike: number, [sigmaAnnual, secondsLeft]: [number, number]): number {
  const sigma = sigmaPerSecond(sigmaAnnual);
  return probabilityUp({ spot, strike, secondsLeft, sigma, twapSeconds: 0, insideMean: 0 });
}

describe('options with printed values price with this distribution function', () => {
  const terms = (S: number, K: number, { b, sigma, T }: { b: number; sigma: number; T: number }) => {
    const d1 = (Math.log(S / K) + (b + sigma ** 2 / 2) * T) / (sigma * Math.sqrt(T));
    return { d1, d2: d1 - sigma * Math.sqrt(T) };
  };

  test('a call and a put (Hull)', () => {
    const { d1, d2 } = terms(42, 40, { b: 0.1, sigma: 0.2, T: 0.5 });
    const discounted = 40 * Math.exp(-0.1 * 0.5);
    expect([d1, d2].map((d) => d.toFixed(5))).toEqual(['0.76926', '0.62784']);
    expect([d1, d2].map((d) => normalCdf(d).toFixed(5))).toEqual(['0.77913', '0.73495']);
    expect((42 * normalCdf(d1) - discounted * normalCdf(d2)).toFixed(4)).toBe('4.7594');
    expect((discounted * normalCdf(-d2) - 42 * normalCdf(-d1)).toFixed(4)).toBe('0.8086');
  });

  test('a cash-or-nothing put (Haug 1998, p. 88); its digital is our P(Up)', () => {
    const { d2 } = terms(100, 80, { b: 0, sigma: 0.35, T: 0.75 });
    expect((10 * Math.exp(-0.06 * 0.75) * normalCdf(-d2)).toFixed(6)).toBe('2.671046');
    expect(d2.toFixed(6)).toBe('0.584628');
    const up = bySpot(100, 80, [0.35, 0.75 * 31_536_000]);
    expect(up.toFixed(6)).toBe('0.720601');
  });

  test('an asset-or-nothing put and a gap call (Haug 1998, p. 88-90)', () => {
    const asset = terms(70, 65, { b: 0.07 - 0.05, sigma: 0.27, T: 0.5 });
    expect((70 * Math.exp(-0.05 * 0.5) * normalCdf(-asset.d1)).toFixed(4)).toBe('20.2069');
    const gap = terms(50, 50, { b: 0.09, sigma: 0.2, T: 0.5 });
    const value = 50 * normalCdf(gap.d1) - 57 * Math.exp(-0.09 * 0.5) * normalCdf(gap.d2);
    expect(value.toFixed(6)).toBe('-0.005252');
  });
});

describe('P(Up) by the last price', () => {
  test.each([
    [100_000, 100_000, 0.5, 900, 0.499467195485],
    [100_050, 100_000, 0.5, 300, 0.626792492319],
    [99_900, 100_000, 0.6, 60, 0.113269397486],
    [100_010, 100_000, 0.4, 5, 0.73491366701],
    [3_500, 3_490, 0.7, 3_600, 0.64759188679],
    [150, 151, 0.9, 86_400, 0.434628331415],
    [100_000, 100_000, 0.5, 0, 1],
    [99_999.99, 100_000, 0.5, 0, 0],
  ])('S %d, K %d, sigma %d, %d s left: %d', (spot, strike, sigma, seconds, value) => {
    expect(bySpot(spot, strike, [sigma, seconds]).toFixed(12)).toBe(value.toFixed(12));
  });

  test('without volatility is decided by the current price, a tie being Up', () => {
    expect([99, 100, 101].map((spot) => bySpot(spot, 100, [0, 60]))).toEqual([0, 1, 1]);
  });

  test('stays decided after the end', () => {
    expect(bySpot(101, 100, [0.5, -5])).toBe(1);
  });
});

const TWAP: Outlook = {
  ...{ spot: 100_000, strike: 100_000, secondsLeft: 30, sigma: sigmaPerSecond(0.5) },
  ...{ twapSeconds: 60, insideMean: 100_000 },
};

describe('P(Up) by a trailing mean', () => {
  test('at the end is decided by the mean, a tie being Up, whatever the price', () => {
    const end = { ...TWAP, secondsLeft: 0, spot: 1 };
    expect(probabilityUp({ ...end, insideMean: 100_000 })).toBe(1);
    expect(probabilityUp({ ...end, insideMean: 99_999.99 })).toBe(0);
  });

  test('is certain if even a price of 0 for the rest would suffice', () => {
    // 59 s at 102,000 leave 60 x 100,000 - 59 x 102,000 < 0 for the last second.
    expect(probabilityUp({ ...TWAP, secondsLeft: 1, insideMean: 102_000, spot: 1 })).toBe(1);
  });

  test('has no jump at the start of the average', () => {
    const before = probabilityUp({ ...TWAP, spot: 100_020, secondsLeft: 60 + 1e-9, insideMean: 0 });
    const after = probabilityUp({ ...TWAP, spot: 100_020, secondsLeft: 60 - 1e-9, insideMean: 100_020 });
    expect(after).toBeCloseTo(before, 9);
  });

  test.each([1e-6, 1e-9])(
    'tends to that of the last price alone as the average shrinks to %d s',
    (twapSeconds) => {
      for (const [spot, seconds] of [
        [100_050, 300],
        [99_980, 25],
      ] as const) {
        const limit = probabilityUp({ ...TWAP, spot, secondsLeft: seconds, twapSeconds });
        expect(limit).toBeCloseTo(bySpot(spot, 100_000, [0.5, seconds]), 6);
      }
    },
  );

  test('tends to the decided outcome as the end comes near', () => {
    const near = { ...TWAP, secondsLeft: 1e-6 };
    expect(probabilityUp({ ...near, insideMean: 100_000.01 })).toBeCloseTo(1, 12);
    expect(probabilityUp({ ...near, insideMean: 99_999.99 })).toBeCloseTo(0, 12);
  });

  test('is more certain than for a last price: a third of the last minute’s variance remains', () => {
    expect(deviationAhead({ ...TWAP, secondsLeft: 60 })).toBeCloseTo(TWAP.sigma * Math.sqrt(20), 15);
    expect(deviationAhead({ ...TWAP, secondsLeft: 100 })).toBeCloseTo(TWAP.sigma * Math.sqrt(60), 15);
  });

  const outlook = fc.record({
    spot: fc.double({ min: 99_000, max: 101_000, noNaN: true }),
    strike: fc.double({ min: 99_000, max: 101_000, noNaN: true }),
    secondsLeft: fc.double({ min: 0, max: 900, noNaN: true }),
    sigma: fc.double({ min: 1e-6, max: 5e-4, noNaN: true }),
    twapSeconds: fc.constantFrom(0, 30, 60),
    insideMean: fc.double({ min: 99_000, max: 101_000, noNaN: true }),
  });

  test('never falls with the price nor rises with the strike, and stays a probability', () => {
    fc.assert(
      fc.property(outlook, fc.double({ min: 0, max: 500, noNaN: true }), (seen, step) => {
        const p = probabilityUp(seen);
        expect(p).toBeGreaterThanOrEqual(0);
        expect(p).toBeLessThanOrEqual(1);
        expect(probabilityUp({ ...seen, spot: seen.spot + step })).toBeGreaterThanOrEqual(p);
        expect(probabilityUp({ ...seen, strike: seen.strike + step })).toBeLessThanOrEqual(p);
        expect(probabilityUp({ ...seen, insideMean: seen.insideMean + step })).toBeGreaterThanOrEqual(p);
      }),
      { numRuns: 2_000 },
    );
  });
});
