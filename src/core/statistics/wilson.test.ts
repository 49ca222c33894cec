import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wilsonInterval } from './wilson.ts';

describe('the Wilson interval', () => {
  // Newcombe 1998, Table I, method 3, as printed.
  test.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('of %i in %i is %d to %d', (successes, trials, low, high) => {
    const interval = wilsonInterval({ successes, trials });
    expect(interval?.low.toFixed(4)).toBe(low.toFixed(4));
    expect(interval?.high.toFixed(4)).toBe(high.toFixed(4));
  });

  test('ends exactly at 0 and 1 if none or all of the trials succeeded', () => {
    for (let trials = 1; trials < 100; trials++) {
      expect(wilsonInterval({ successes: 0, trials })?.low).toBe(0);
      expect(wilsonInterval({ successes: trials, trials })?.high).toBe(1);
    }
  });

  test('over no trials is null', () => {
    expect(wilsonInterval({ successes: 0, trials: 0 })).toBeNull();
  });

  const share = fc
    .integer({ min: 1, max: 1_000_000 })
    .chain((trials) =>
      fc.record({ successes: fc.integer({ min: 0, max: trials }), trials: fc.constant(trials) }),
    );

  test('contains the share and stays inside [0, 1]', () => {
    fc.assert(
      fc.property(share, ({ successes, trials }) => {
        const { low, high } = wilsonInterval({ successes, trials })!;
        expect(low).toBeGreaterThanOrEqual(0);
        expect(low).toBeLessThanOrEqual(successes / trials);
        expect(high).toBeGreaterThanOrEqual(successes / trials);
        expect(high).toBeLessThanOrEqual(1);
        expect(low).toBeLessThan(high);
      }),
    );
  });

  test('of the failures is its mirror', () => {
    fc.assert(
      fc.property(share, ({ successes, trials }) => {
        const ups = wilsonInterval({ successes, trials })!;
        const downs = wilsonInterval({ successes: trials - successes, trials })!;
        expect(ups.low).toBeCloseTo(1 - downs.high, 12);
        expect(ups.high).toBeCloseTo(1 - downs.low, 12);
      }),
    );
  });

  test('narrows as the same share is observed more often', () => {
    fc.assert(
      fc.property(share, fc.integer({ min: 2, max: 50 }), ({ successes, trials }, times) => {
        const once = wilsonInterval({ successes, trials })!;
        const often = wilsonInterval({ successes: successes * times, trials: trials * times })!;
        expect(often.high - often.low).toBeLessThan(once.high - once.low);
      }),
    );
  });
});
