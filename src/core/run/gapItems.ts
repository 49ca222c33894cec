import { gapKey } from '../session/gapReplay.ts';
import type { MarketTape, TapeGap } from '../session/tape.ts';
import type { RunItem } from './runner.ts';

/** Less than arrival numbers differ by. */
const BEFORE = 0.5;

export interface GapItem {
  /** Its place in the order of arrival. */
  readonly order: number;
  readonly item: Extract<RunItem, { kind: 'gap' | 'gap_end' }>;
}

/**
 * The reports of a recording's gaps, at the places where they were published: by their arrival number, or, in recordings
 * without it, before the first record received at or after their detection. See `GapReplay`.
 */
export function gapItemsOf(tape: MarketTape): GapItem[] {
  return tape.gaps.flatMap((gap) => itemsOfGap(tape, gap)).sort((a, b) => a.order - b.order);
}

function itemsOfGap(tape: MarketTape, gap: TapeGap): GapItem[] {
  const { startMs, knownMs, endMs, knownSeq, endSeq } = gap;
  const { marketId } = tape.market;
  const id = gapKey(gap);
  const seq = knownSeq ?? firstSeqFrom(tape, knownMs);
  const order = knownSeq ?? seq - BEFORE;
  const known: GapItem = { order, item: { kind: 'gap', id, seq, timeMs: knownMs, marketId, startMs } };
  if (endMs === null) return [known];
  // Without arrival numbers the end counts as known at once; it applies from the first record after it.
  const endOrder = knownSeq === undefined ? order : (endSeq ?? knownSeq);
  const passedMs = knownSeq === undefined ? Math.max(endMs, knownMs) : endMs;
  const end = {
    kind: 'gap_end',
    id,
    seq: knownSeq === undefined ? seq : endOrder,
    timeMs: knownMs,
    marketId,
  } as const;
  return [known, { order: endOrder, item: { ...end, endMs: passedMs } }];
}

/** The arrival number of the first record received at or after a time; after all records if there is none. */
function firstSeqFrom({ market, quotes, books, prices }: MarketTape, timeMs: number): number {
  let [first, last] = [Number.POSITIVE_INFINITY, 0];
  for (const rows of [quotes, books, prices]) {
    if (rows === null) continue;
    const fromMs = rows === prices ? Math.max(timeMs, market.startTimeMs) : timeMs;
    const at = rows.receivedMs.findIndex((receivedMs) => receivedMs >= fromMs);
    if (at >= 0) first = Math.min(first, rows.seq[at] as number);
    last = Math.max(last, rows.seq.at(-1) ?? 0);
  }
  return first === Number.POSITIVE_INFINITY ? last + 1 : first;
}
