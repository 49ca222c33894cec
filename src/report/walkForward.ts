/**
 * Walk-forward: parameters are chosen on a train window, and judged on the test window after it, which had no part in
 * the choice. Between the two an embargo is left out, so that no market of the train window reaches into the test.
 */

/** Markets whose window ends in it: startMs <= end < endMs. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

export interface WalkForwardPlan {
  readonly trainMs: number;
  readonly embargoMs: number;
  readonly testMs: number;
}

interface Fold {
  readonly train: Span;
  readonly test: Span;
}

/**
 * The folds that fit into a range, oldest first. Test windows follow each other without a gap and never overlap; a
 * rest at the end that is shorter than a test window is not used.
 */
export function planFolds({ startMs, endMs }: Span, { trainMs, embargoMs, testMs }: WalkForwardPlan): Fold[] {
  const folds: Fold[] = [];
  for (let trainStart = startMs; ; trainStart += testMs) {
    const trainEnd = trainStart + trainMs;
    const testStart = trainEnd + embargoMs;
    const testEnd = testStart + testMs;
    if (testEnd > endMs) return folds;
    folds.push({
      train: { startMs: trainStart, endMs: trainEnd },
      test: { startMs: testStart, endMs: testEnd },
    });
  }
}

/** One set of parameters on a train window. */
interface Candidate<P> {
  readonly params: P;
  readonly sharpe: number | null;
  readonly totalPnl: number;
}

interface WalkForwardRunner<P, R> {
  /** All candidates on a train window, or null if nothing of it can be replayed. */
  candidates(train: Span): Promise<readonly Candidate<P>[] | null>;
  /** The chosen parameters on a test window; null if nothing of it can be replayed. */
  evaluate(params: P, test: Span): Promise<R | null>;
}

export interface FoldResult<P, R> extends Fold {
  /** Null: no candidate has a Sharpe ratio on the train window. */
  readonly chosen: Candidate<P> | null;
  /** Null: nothing was chosen or replayed. */
  readonly result: R | null;
}

/** Evaluates the folds in order of time. The choice sees the train window alone. */
export async function walkForward<P, R>(
  folds: readonly Fold[],
  runner: WalkForwardRunner<P, R>,
): Promise<FoldResult<P, R>[]> {
  const results: FoldResult<P, R>[] = [];
  for (const fold of folds) {
    const chosen = bestOf((await runner.candidates(fold.train)) ?? []);
    const result = chosen === null ? null : await runner.evaluate(chosen.params, fold.test);
    results.push({ ...fold, chosen, result });
  }
  return results;
}

/** By the highest Sharpe ratio, among equal ones by the highest P&L, as a sweep ranks its cells. */
function bestOf<P>(candidates: readonly Candidate<P>[]): Candidate<P> | null {
  let best: Candidate<P> | null = null;
  for (const candidate of candidates) {
    if (candidate.sharpe === null) continue;
    const known = best?.sharpe ?? Number.NEGATIVE_INFINITY;
    if (
      candidate.sharpe > known ||
      (candidate.sharpe === known && candidate.totalPnl > (best?.totalPnl ?? 0))
    ) {
      best = candidate;
    }
  }
  return best;
}
