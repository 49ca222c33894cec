interface Curve {
  readonly cumulative_pnl: number;
}

interface Curves {
  /** Numbers of closed positions, from 0. */
  readonly counts: number[];
  /** P&L after so many positions; null after the last one, and no values without a closed position. */
  readonly live: (number | null)[] | null;
  readonly baseline: (number | null)[] | null;
}

/** P&L by the number of closed positions: the days that the two traded differ. */
export function curvesOf(live: readonly Curve[], baseline: readonly Curve[]): Curves {
  const counts = Array.from({ length: Math.max(live.length, baseline.length) + 1 }, (_, count) => count);
  const valuesOf = (curve: readonly Curve[]) =>
    curve.length === 0
      ? null
      : counts.map((count) => (count === 0 ? 0 : (curve[count - 1]?.cumulative_pnl ?? null)));
  return { counts, live: valuesOf(live), baseline: valuesOf(baseline) };
}
