import * as fc from 'fast-check';
import type { BookView, SideView } from '../../src/schema/records.ts';

/** A side from levels [price in ticks, size in micro-shares], best first. */
export function side(levels: readonly (readonly [number, number])[]): SideView {
  // One entry more than counts: only the first `count` may be read.
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
/** Any count of micro-shares; nearly none is a whole number of hundredths. */
const anySize = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

export function arbitrarySide(sizes: 'narrow' | 'any'): fc.Arbitrary<SideView> {
  const size = sizes === 'narrow' ? narrowSize : anySize;
  return fc.array(fc.tuple(fc.integer({ min: 0, max: 10_000 }), size), { maxLength: 130 }).map(side);
}

export function arbitraryBook(): fc.Arbitrary<BookView> {
  return fc
    .constantFrom('narrow' as const, 'any' as const)
    .chain((sizes) => fc.record({ bids: arbitrarySide(sizes), asks: arbitrarySide(sizes) }));
}
