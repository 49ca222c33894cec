/** Half open, Unix milliseconds. */
interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Millionths: of a daily window one is a tenth of a second. */
const PARTS = 1_000_000;

/**
 * The recorded share of a window's elapsed part; 1 before it begins.
 * @param sinceMs Receive time of its first proven book; null: there is none yet.
 * @param lost Its gaps, in any order; they may overlap.
 */
export function recordedShare(
  window: Stretch,
  { sinceMs, lost, nowMs }: { sinceMs: number | null; lost: readonly Stretch[]; nowMs: number },
): number {
  const { fromMs } = window;
  const toMs = Math.min(window.toMs, nowMs);
  if (fromMs >= toMs) return 1;
  const before = { fromMs: Number.NEGATIVE_INFINITY, toMs: sinceMs ?? nowMs };
  const pieces = [before, ...lost].sort((a, b) => a.fromMs - b.fromMs);
  let lostMs = 0;
  let countedToMs = fromMs;
  for (const piece of pieces) {
    const endMs = Math.min(piece.toMs, toMs);
    lostMs += Math.max(0, endMs - Math.max(piece.fromMs, countedToMs));
    countedToMs = Math.max(countedToMs, endMs);
  }
  return Math.floor((1 - lostMs / (toMs - fromMs)) * PARTS + 0.5) / PARTS;
}
