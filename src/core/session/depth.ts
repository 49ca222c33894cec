import type { MarketTape, TapeBooks, TapeSide } from './tape.ts';

/**
 * The tape as if it had been read with at most this many levels per side: a book without a change down to that depth is
 * left out.
 */
export function tapeAtDepth(tape: MarketTape, levels: number): MarketTape {
  const { books } = tape;
  if (books === null || !sidesOf(books).some((side) => isDeeper(side, levels))) return tape;
  return { ...tape, books: booksAtDepth(books, levels) };
}

function booksAtDepth(books: TapeBooks, levels: number): TapeBooks {
  const kept = changedAt(books, levels);
  const cut = (side: TapeSide) => sideAtDepth(side, kept, levels);
  return {
    seq: books.seq.filter((_, book) => kept[book] === 1),
    receivedMs: books.receivedMs.filter((_, book) => kept[book] === 1),
    trusted: books.trusted.filter((_, book) => kept[book] === 1),
    yesBids: cut(books.yesBids),
    yesAsks: cut(books.yesAsks),
    noBids: books.noBids && cut(books.noBids),
    noAsks: books.noAsks && cut(books.noAsks),
  };
}

/** 1 at each book that differs from the last kept book in trust or in the levels down to a depth. */
function changedAt(books: TapeBooks, levels: number): Uint8Array {
  const sides = sidesOf(books);
  const { trusted } = books;
  const kept = new Uint8Array(trusted.length);
  let last = -1;
  for (let book = 0; book < kept.length; book++) {
    const repeats =
      last >= 0 &&
      trusted[book] === trusted[last] &&
      sides.every((side) => isSame(side, { book, other: last, levels }));
    if (repeats) continue;
    kept[book] = 1;
    last = book;
  }
  return kept;
}

function sideAtDepth({ offsets, prices, sizes }: TapeSide, kept: Uint8Array, levels: number): TapeSide {
  const stays = new Uint8Array(prices.length);
  const cutOffsets = [0];
  for (let book = 0; book < kept.length; book++) {
    if (kept[book] === 0) continue;
    const from = offsets[book] as number;
    const to = Math.min(offsets[book + 1] as number, from + levels);
    stays.fill(1, from, to);
    cutOffsets.push((cutOffsets.at(-1) as number) + to - from);
  }
  return {
    offsets: Uint32Array.from(cutOffsets),
    prices: prices.filter((_, at) => stays[at] === 1),
    sizes: sizes.filter((_, at) => stays[at] === 1),
  };
}

function sidesOf({ yesBids, yesAsks, noBids, noAsks }: TapeBooks): TapeSide[] {
  return [yesBids, yesAsks, noBids, noAsks].filter((side) => side !== null);
}

function isDeeper({ offsets }: TapeSide, levels: number): boolean {
  return offsets.some((to, book) => book > 0 && to - (offsets[book - 1] as number) > levels);
}

function isSame(
  { offsets, prices, sizes }: TapeSide,
  { book, other, levels }: { book: number; other: number; levels: number },
): boolean {
  const [from, otherFrom] = [offsets[book] as number, offsets[other] as number];
  const count = Math.min(levels, (offsets[book + 1] as number) - from);
  if (count !== Math.min(levels, (offsets[other + 1] as number) - otherFrom)) return false;
  for (let i = 0; i < count; i++) {
    if (prices[from + i] !== prices[otherFrom + i] || sizes[from + i] !== sizes[otherFrom + i]) return false;
  }
  return true;
}
