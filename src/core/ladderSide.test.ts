import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMirror, LadderSide, sameLevels } from './ladderSide.ts';
import { formatPrice, formatSize } from './money.ts';

const change = fc.record({
  price: fc.integer({ min: 0, max: 200 }).map((cents) => cents * 50),
  size: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 1, max: 10_000 }).map((hundredths) => hundredths * 10_000),
  ),
});

const levelsOf = (side: LadderSide) =>
  Array.from({ length: side.count }, (_, i) => [side.prices[i], side.sizes[i]] as [number, number]);

/** The same side as a plain map, sorted on demand. */
function naive(kind: 'bids' | 'asks', map: Map<number, number>): [number, number][] {
  return [...map].sort((a, b) => (kind === 'bids' ? b[0] - a[0] : a[0] - b[0]));
}

describe.each(['bids', 'asks'] as const)('a side of %s', (kind) => {
  it('does not change with a size that it has already, or with a level that it does not have', () => {
    const side = new LadderSide(kind);
    expect([side.set(4_900, 7), side.set(4_900, 7), side.set(4_800, 0)]).toEqual([true, false, false]);
  });

  it('has a clone that later changes of either do not affect', () => {
    const side = new LadderSide(kind);
    side.set(4_900, 1_000_000);
    side.set(4_800, 2_000_000);
    const printed = side.toWireJson();
    const clone = side.clone();
    side.set(4_900, 0);
    expect([clone.toWireJson(), clone.best]).toEqual([printed, kind === 'bids' ? 4_900 : 4_800]);
    clone.set(4_800, 0);
    expect([levelsOf(side), levelsOf(clone)]).toEqual([[[4_800, 2_000_000]], [[4_900, 1_000_000]]]);
  });

  it('has a clone whose levels print as they were, also if only some had been printed before', () => {
    const side = new LadderSide(kind);
    side.set(4_900, 1_000_000);
    side.toWireJson();
    side.set(4_800, 2_000_000);
    const clone = side.clone();
    side.set(4_700, 3_000_000);
    side.set(5_000, 3_000_000);
    side.toWireJson();
    const levels = levelsOf(clone).map(([p, s]) => ({ price: formatPrice(p), size: formatSize(s) }));
    expect(clone.toWireJson()).toBe(JSON.stringify(levels.reverse()));
  });

  it('equals a plain map after any changes, and returns whether it changed', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 400 }), (changes) => {
        const side = new LadderSide(kind);
        const map = new Map<number, number>();
        for (const { price, size } of changes) {
          const before = map.get(price) ?? 0;
          if (size === 0) map.delete(price);
          else map.set(price, size);
          expect(side.set(price, size)).toBe(before !== size);
        }
        const expected = naive(kind, map);
        expect(levelsOf(side)).toEqual(expected);
        expect(side.best).toBe(expected[0]?.[0] ?? null);
        const wire = expected.reverse().map(([p, s]) => ({ price: formatPrice(p), size: formatSize(s) }));
        expect(side.toWireJson()).toBe(JSON.stringify(wire));
      }),
    );
  });

  it('keeps its wire text correct after changes', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const side = new LadderSide(kind);
        for (const { price, size } of changes) {
          side.set(price, size);
          const fresh = new LadderSide(kind);
          for (const [p, s] of levelsOf(side)) fresh.set(p, s);
          expect(side.toWireJson()).toBe(fresh.toWireJson());
        }
      }),
    );
  });

  it('has room for a level at every price, whether they come one by one or as a snapshot', () => {
    const best = kind === 'bids' ? 10_000 : 0;
    // Every seventh price in turn: each is inserted between others.
    const prices = Array.from({ length: 10_001 }, (_, at) => (at * 7) % 10_001);
    const sizes = prices.map((price) => 1 + price);
    const [single, whole] = [new LadderSide(kind), new LadderSide(kind)];
    prices.forEach((price, at) => {
      single.set(price, sizes[at] as number);
    });
    whole.replace({ prices, sizes });
    for (const side of [single, whole, single.clone()]) {
      expect(side.count).toBe(10_001);
      for (const at of [0, 127, 128, 129, 255, 256, 8_191, 8_192, 10_000]) {
        const price = Math.abs(best - at);
        expect([side.prices[at], side.sizes[at]]).toEqual([price, 1 + price]);
      }
    }
  });

  it('is replaced by a snapshot in any order', () => {
    const side = new LadderSide(kind);
    expect(side.replace({ prices: [100, 300, 200], sizes: [1, 3, 2] })).toBe(true);
    expect(side.replace({ prices: [300, 200, 100, 400], sizes: [3, 2, 1, 0] })).toBe(false);
    expect(side.count).toBe(3);
  });

  it('equals the last snapshot, whatever other sides contain and however many levels there were before', () => {
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 200 }), { maxLength: 5 }), (snapshots) => {
        const [side, other] = [new LadderSide(kind), new LadderSide(kind)];
        other.replace({ prices: [5000], sizes: [7] });
        for (const snapshot of snapshots) {
          const fresh = new LadderSide(kind);
          for (const { price, size } of snapshot) fresh.set(price, size);
          const isNews = !sameLevels(side, fresh);
          const [prices, sizes] = [snapshot.map(({ price }) => price), snapshot.map(({ size }) => size)];
          expect(side.replace({ prices, sizes })).toBe(isNews);
          expect(levelsOf(side)).toEqual(levelsOf(fresh));
          expect(side.toWireJson()).toBe(fresh.toWireJson());
        }
        expect(levelsOf(other)).toEqual([[5000, 7]]);
      }),
    );
  });
});

describe('isMirror', () => {
  const filled = (kind: 'bids' | 'asks', levels: [number, number][]) => {
    const side = new LadderSide(kind);
    for (const [price, size] of levels) side.set(price, size);
    return side;
  };

  it('is true only for p against 1 - p with equal sizes', () => {
    const bids = filled('bids', [
      [4900, 5],
      [4800, 7],
    ]);
    const mirror: [number, number][] = [
      [5100, 5],
      [5200, 7],
    ];
    expect(isMirror(bids, filled('asks', mirror))).toBe(true);
    expect(isMirror(bids, filled('asks', [[5100, 5]]))).toBe(false);
    expect(isMirror(bids, filled('asks', [[5100, 6], mirror[1] as [number, number]]))).toBe(false);
    expect(sameLevels(bids, bids)).toBe(true);
  });
});
