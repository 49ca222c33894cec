/** Curves of a report: equity over time, its falls below earlier peaks, and both thinned for a page. */
import type { Report } from '../schema/report.ts';
import { formatTime } from '../schema/time.ts';

/** Equal spans of time; of each at most four points are kept. */
const SPANS = 400;
const THINNING = `of each of ${SPANS} equal spans of time: the first, lowest, highest and last point`;
const WHOLE = 'every point';

/** Money in USD. `cash` and `inUse` are null where money is not counted. */
export interface CurvePoint {
  readonly timeMs: number;
  readonly equity: number;
  readonly cash: number | null;
  /** Reserved, locked and marked money. */
  readonly inUse: number | null;
}

interface Fall {
  readonly timeMs: number;
  /** <= 0, below the highest equity so far. */
  readonly usd: number;
  /** The same as a share of that highest equity; null unless it is positive. */
  readonly share: number | null;
}

interface Drawdown {
  readonly falls: readonly Fall[];
  /** <= 0. */
  readonly deepestUsd: number;
  readonly deepestShare: number | null;
  /** Share of the time below an earlier peak; null without two times. */
  readonly timeUnderWater: number | null;
  readonly longestMs: number | null;
}

/** @param start Equity before the first point: it is the first peak. */
export function drawdownOf(points: readonly CurvePoint[], start: number): Drawdown {
  let [peak, deepestUsd, underMs, longestMs] = [start, 0, 0, 0];
  let deepestShare: number | null = start > 0 ? 0 : null;
  /** When the current stretch below the peak began; null: at the peak. */
  let sinceMs: number | null = null;
  const falls = points.map(({ timeMs, equity }): Fall => {
    peak = Math.max(peak, equity);
    const usd = equity - peak;
    const share = peak > 0 ? usd / peak : null;
    if (share !== null) deepestShare = Math.min(deepestShare ?? 0, share);
    deepestUsd = Math.min(deepestUsd, usd);
    if (usd < 0) sinceMs ??= timeMs;
    else if (sinceMs !== null) {
      underMs += timeMs - sinceMs;
      longestMs = Math.max(longestMs, timeMs - sinceMs);
      sinceMs = null;
    }
    return { timeMs, usd, share };
  });
  const [first, last] = [points[0], points.at(-1)];
  const totalMs = first === undefined || last === undefined ? 0 : last.timeMs - first.timeMs;
  if (sinceMs !== null && last !== undefined) {
    underMs += last.timeMs - sinceMs;
    longestMs = Math.max(longestMs, last.timeMs - sinceMs);
  }
  const known = totalMs > 0;
  return {
    ...{ falls, deepestUsd, deepestShare },
    timeUnderWater: known ? underMs / totalMs : null,
    longestMs: known ? longestMs : null,
  };
}

/** Of each span of time the first, lowest, highest and last point: a drawing of the result loses no extreme. */
export function thinned<P extends { readonly timeMs: number }>(
  points: readonly P[],
  measure: (point: P) => number,
): { readonly points: readonly P[]; readonly thinning: string } {
  const [first, last] = [points[0], points.at(-1)];
  if (points.length <= 4 * SPANS || first === undefined || last === undefined)
    return { points, thinning: WHOLE };
  const spanMs = (last.timeMs - first.timeMs) / SPANS || 1;
  const spans = new Map<number, number[]>();
  for (const [at, { timeMs }] of points.entries()) {
    const span = Math.min(SPANS - 1, Math.floor((timeMs - first.timeMs) / spanMs));
    const known = spans.get(span);
    if (known === undefined) spans.set(span, [at]);
    else known.push(at);
  }
  const kept = [...spans.values()].flatMap((indices) => extremesOf(points, indices, measure));
  return { points: kept.map((at) => points[at] as P), thinning: THINNING };
}

function extremesOf<P>(points: readonly P[], indices: readonly number[], measure: (point: P) => number) {
  const value = (at: number) => measure(points[at] as P);
  const lowest = indices.reduce((low, at) => (value(at) < value(low) ? at : low));
  const highest = indices.reduce((high, at) => (value(at) > value(high) ? at : high));
  const kept = [indices[0] as number, lowest, highest, indices.at(-1) as number];
  return [...new Set(kept)].sort((a, b) => a - b);
}

/** The report's members `equity` and `underwater`. */
export function curveBodies(
  points: readonly CurvePoint[],
  { falls }: Drawdown,
  basis: Report['equity']['basis'],
): Pick<Report, 'equity' | 'underwater'> {
  const equity = thinned(points, (point) => point.equity);
  const underwater = thinned(falls, (fall) => fall.usd);
  return {
    equity: {
      basis,
      thinning: equity.thinning,
      points_total: points.length,
      points: equity.points.map((point) => ({
        ts: formatTime(point.timeMs),
        equity: point.equity,
        cash: point.cash,
        in_use: point.inUse,
      })),
    },
    underwater: {
      thinning: underwater.thinning,
      points: underwater.points.map(({ timeMs, usd, share }) => ({
        ts: formatTime(timeMs),
        usd,
        pct: share === null ? null : 100 * share,
      })),
    },
  };
}
