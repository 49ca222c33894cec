import { describe, expect, test } from 'vitest';
import { withNoApart } from '../../test/support/oddTapes.ts';
import { STRATEGIES } from '../../test/support/strategies.ts';
import { type Level, START_MS, TapeWriter } from '../../test/support/tapes.ts';
import { Random } from '../core/random.ts';
import type { MarketTape, TapeBooks, TapeSide } from '../core/session/tape.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import { depthOf } from './depth.ts';
import { cellTerms, replayCells, replayOne } from './marketReplay.ts';

const SIZES = [10, 100, 200, 1_000, 2_000];
const RESOLUTION = { payoutYes: 1, resolvedTimeMs: START_MS + 400_000 };
const SIDES = ['yesBids', 'yesAsks', 'noBids', 'noAsks'] as const;

/** Most changes affect one level, near or far from the best price. */
function deepTape(seed: string): MarketTape {
  const random = new Random(seed);
  const writer = new TapeWriter();
  const side = (mid: number, direction: 1 | -1) =>
    Array.from(
      { length: 60 },
      (_, at): Level => [(mid + direction * (1 + at)) / 1_000, 1 + random.below(40)],
    );
  let mid = 500;
  let [bids, asks] = [side(mid, -1), side(mid, 1)];
  for (let at = -20_000; at < 300_000; at += 400) {
    writer.price(at, 97_000 * Math.exp(0.001 * random.normal()));
    if (random.chance(0.1)) {
      mid = Math.min(900, Math.max(100, mid + Math.round(30 * random.normal())));
      [bids, asks] = [side(mid, -1), side(mid, 1)];
    }
    const changed = random.chance(0.5) ? bids : asks;
    const level = random.below(changed.length);
    changed[level] = [(changed[level] as Level)[0], 1 + random.below(40)];
    writer.book({ at, bids, asks, trusted: random.chance(0.98) });
  }
  return writer.tape();
}

/** Limits the tape level by level and book by book to what a loader with that depth returns. */
function cut(tape: MarketTape, depth: number): MarketTape {
  const books = tape.books as TapeBooks;
  const levelsOf = ({ offsets, prices, sizes }: TapeSide, book: number) =>
    Array.from({ length: (offsets[book + 1] as number) - (offsets[book] as number) }, (_, at) => {
      const level = (offsets[book] as number) + at;
      return [prices[level], sizes[level]] as [number, number];
    }).slice(0, depth);
  const rows: { seq: number; at: number; trusted: number; sides: [number, number][][] }[] = [];
  for (let book = 0; book < books.seq.length; book++) {
    const sides = SIDES.map((side) => (books[side] === null ? [] : levelsOf(books[side], book)));
    const [seq, at, trusted] = [books.seq[book], books.receivedMs[book], books.trusted[book]] as number[];
    const last = rows.at(-1);
    const repeats = JSON.stringify([last?.trusted, last?.sides]) === JSON.stringify([trusted, sides]);
    if (!repeats) rows.push({ seq: seq!, at: at!, trusted: trusted!, sides });
  }
  const sideOf = (at: number): TapeSide => {
    const levels = rows.map(({ sides }) => sides[at]!);
    const offsets = [0];
    for (const { length } of levels) offsets.push(offsets.at(-1)! + length);
    return {
      offsets: Uint32Array.from(offsets),
      prices: Uint16Array.from(levels.flat(), ([price]) => price),
      sizes: Float64Array.from(levels.flat(), ([, size]) => size),
    };
  };
  const column = (of: (row: (typeof rows)[number]) => number) => Float64Array.from(rows, of);
  const shared = { seq: column(({ seq }) => seq), receivedMs: column(({ at }) => at) };
  const no =
    books.noBids === null ? { noBids: null, noAsks: null } : { noBids: sideOf(2), noAsks: sideOf(3) };
  const trusted = Uint8Array.from(rows, (row) => row.trusted);
  return { ...tape, books: { ...shared, trusted, yesBids: sideOf(0), yesAsks: sideOf(1), ...no } };
}

describe.each(['mirrored', 'apart'])('cells of many sizes on one market, books %s', (kind) => {
  test('each cell trades like the backtest of its size, on books of the depth that backtest reads', () => {
    const tape = kind === 'apart' ? withNoApart(deepTape('deep'), deepTape('other')) : deepTape('deep');
    let changedByDepth = 0;
    for (const strategy of Object.values(STRATEGIES)) {
      const cells = SIZES.map((sizeUsd) => ({ strategy, params: DEFAULT_PARAMS, sizeUsd }));
      const swept = replayCells(tape, RESOLUTION, cellTerms(cells));
      for (const [at, cell] of cells.entries()) {
        const own = replayOne(cut(tape, depthOf(cell.sizeUsd)), RESOLUTION, cell).replay.trades;
        const range = [swept.offsets[at], swept.offsets[at + 1]] as const;
        expect([...swept.pnl.slice(...range)]).toEqual(own.map(({ pnl }) => pnl));
        expect([...swept.closedMs.slice(...range)]).toEqual(own.map(({ closedMs }) => closedMs));
        const whole = replayOne(tape, RESOLUTION, cell).replay.trades;
        if (JSON.stringify(whole) !== JSON.stringify(own)) changedByDepth++;
      }
    }
    expect(changedByDepth).toBeGreaterThan(0);
  });
});
