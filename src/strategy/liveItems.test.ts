import fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomTape } from '../../test/support/tapes.ts';
import type { RunItem } from '../core/run/runner.ts';
import type { MarketTape, TapeSide } from '../core/session/tape.ts';
import { LiveItems } from './liveItems.ts';

/** The rows of a tape with arrival numbers of a range, as a store reads them. */
function stretchOf(tape: MarketTape, afterSeq: number, toSeq: number): MarketTape {
  const rows = <T extends { readonly seq: Float64Array }>(columns: T): T => {
    const kept = [...columns.seq.keys()].filter((at) => {
      const seq = columns.seq[at] as number;
      return seq > afterSeq && seq <= toSeq;
    });
    const [from, to] = [kept[0] ?? 0, (kept.at(-1) ?? -1) + 1];
    const cut = Object.entries(columns).map(([name, column]) => [name, cutColumn(column, from, to)]);
    return Object.fromEntries(cut);
  };
  const { books, prices } = tape;
  return {
    ...tape,
    quotes: rows(tape.quotes),
    books: books === null ? null : rows(books),
    prices: prices === null ? null : rows(prices),
    gaps: tape.gaps.filter(({ knownSeq = 0 }) => knownSeq <= toSeq),
  };
}

function cutColumn(column: unknown, from: number, to: number): unknown {
  if (column === null) return null;
  if (ArrayBuffer.isView(column)) return (column as Float64Array).slice(from, to);
  const { offsets, prices, sizes } = column as TapeSide;
  const first = offsets[from] ?? 0;
  const last = offsets[Math.max(from, to)] ?? first;
  return {
    offsets: offsets.slice(from, Math.max(from, to) + 1).map((offset) => offset - first),
    prices: prices.slice(first, last),
    sizes: sizes.slice(first, last),
  };
}

/** Items with their books written out, because the ladders of stretches are other objects. */
function written(item: RunItem): unknown {
  if (item.kind !== 'book') return item;
  const { ladders, ...rest } = item;
  const sides = (['bids', 'asks'] as const).map((side) => {
    const { count, prices, sizes } = ladders.side(item.book, 'yes', side);
    return [[...prices.subarray(0, count)], [...sizes.subarray(0, count)]];
  });
  return { ...rest, sides };
}

function itemsOver(tape: MarketTape, ends: readonly number[]): unknown[] {
  const items = new LiveItems();
  const found: unknown[] = [];
  const resolution = { payoutYes: 1, resolvedTimeMs: tape.market.endTimeMs + 30_000 };
  let afterSeq = 0;
  for (const toSeq of [...ends, Number.MAX_SAFE_INTEGER]) {
    items.addMarket({ tape: stretchOf(tape, afterSeq, toSeq), resolution });
    const next = [tape.quotes, tape.books, tape.prices]
      .flatMap((rows) =>
        rows === null ? [] : [...rows.seq.keys()].map((at) => [rows.seq[at], rows.receivedMs[at]]),
      )
      .filter(([seq]) => (seq as number) > toSeq)
      .map(([, timeMs]) => timeMs as number);
    for (const item of items.before(Math.min(Number.MAX_SAFE_INTEGER, ...next))) found.push(written(item));
    afterSeq = toSeq;
  }
  return found;
}

test('the items of a market do not depend on where its stretches end', () => {
  fc.assert(
    fc.property(fc.nat(), fc.array(fc.integer({ min: 1, max: 600 }), { maxLength: 6 }), (seed, ends) => {
      const tape = randomTape(`stretches ${seed}`, { books: 120, levels: 3, gaps: false });
      const stretches = [...new Set(ends)].sort((a, b) => a - b);
      expect(itemsOver(tape, stretches)).toEqual(itemsOver(tape, []));
    }),
    { numRuns: 60 },
  );
});
