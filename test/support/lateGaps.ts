import { Random } from '../../src/core/random.ts';
import type { MarketTape, TapeGap } from '../../src/core/session/tape.ts';

/** Free arrival numbers between two arrivals, for gap messages. */
const SPACING = 8;
const PLACE = 2;
/** Maximum number of books that a gap reaches back over, and that it stays open afterwards. */
const FOUND_AFTER_MAX = 25;
const ENDED_AFTER_MAX = 25;
const APART_MAX = 120;

/**
 * Adds late-detected gaps to the tape, each reported at a position among its events: some in the very millisecond of
 * the previous event, a third of them already over when detected. None overlap.
 */
export function withLateGaps(tape: MarketTape, seed: string): MarketTape {
  const spaced = <T extends { readonly seq: Float64Array }>(rows: T): T => ({
    ...rows,
    seq: rows.seq.map((seq) => seq * SPACING),
  });
  const { quotes, books, prices, trades } = tape;
  if (books === null) throw new TypeError('a tape with books');
  const rows = { quotes: spaced(quotes), books: spaced(books), prices: prices && spaced(prices) };
  const traded = trades ? { trades: spaced(trades) } : {};
  return { ...tape, ...rows, ...traded, gaps: lateGaps(rows.books, seed) };
}

function lateGaps({ seq, receivedMs }: NonNullable<MarketTape['books']>, seed: string): TapeGap[] {
  const random = new Random(`${seed} late gaps`);
  const at = (index: number) => ({ seq: seq[index] as number, ms: receivedMs[index] as number });
  const gaps: TapeGap[] = [];
  for (let from = random.below(APART_MAX); ; ) {
    const known = from + 1 + random.below(FOUND_AFTER_MAX);
    const end = known + 1 + random.below(ENDED_AFTER_MAX);
    if (end >= seq.length) return gaps;
    const isOver = random.chance(1 / 3);
    // Between two books, or at the time of the earlier one.
    const laterMs = random.chance(0.5) ? 0 : Math.floor((at(known + 1).ms - at(known).ms) / 2);
    const knownMs = at(known).ms + laterMs;
    const found = { startMs: at(from).ms, knownMs, knownSeq: at(known).seq + PLACE };
    if (isOver) gaps.push({ ...found, endMs: knownMs, endSeq: found.knownSeq + 1 });
    else gaps.push({ ...found, endMs: at(end).ms, endSeq: at(end).seq + PLACE });
    from = end + 1 + random.below(APART_MAX);
  }
}
