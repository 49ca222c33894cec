import * as fc from 'fast-check';
import { sizeOfShares } from '../../src/core/money.ts';
import type { BookView, SideView } from '../../src/schema/records.ts';

/** A side from levels [price in ticks, size in micro-shares], best first. */
function side(levels: readonly (readonly [number, number])[]): SideView {
  // One extra entry: only the first `count` may be read.
  const prices = new Uint16Array([...levels.map(([price]) => price), 9_999]);
  const sizes = new Float64Array([...levels.map(([, size]) => size), 123]);
  return { count: levels.length, prices, sizes };
}

export function book(
  bids: readonly (readonly [number, number])[],
  asks: readonly (readonly [number, number])[],
): BookView {
  return { bids: side(bids), asks: side(asks) };
}

export function levelsOf(view: SideView): { prices: number[]; sizes: number[] } {
  return {
    prices: [...view.prices.subarray(0, view.count)],
    sizes: [...view.sizes.subarray(0, view.count)],
  };
}

const narrowSize = fc.integer({ min: 1, max: 0xffff_ffff }).map((hundredths) => hundredths * 10_000);
/**
 * Up to a thousand million shares in whole micro-shares (15 digits, the limit of a double), almost never whole
 * hundredths, and a few sizes finer than a unit.
 */
const anySize = fc.oneof(
  fc.integer({ min: 1, max: 999_999_999_999_999 }),
  fc.constantFrom(57.220000000000006, 1.1400000000000001).map((shares) => sizeOfShares(shares) as number),
);

function arbitrarySide(sizes: 'narrow' | 'any'): fc.Arbitrary<SideView> {
  const size = sizes === 'narrow' ? narrowSize : anySize;
  return fc.array(fc.tuple(fc.integer({ min: 0, max: 10_000 }), size), { maxLength: 130 }).map(side);
}

export function arbitraryBook(): fc.Arbitrary<BookView> {
  return fc
    .constantFrom('narrow' as const, 'any' as const)
    .chain((sizes) => fc.record({ bids: arbitrarySide(sizes), asks: arbitrarySide(sizes) }));
}
