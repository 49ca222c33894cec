import type { DepthSnapshot, UnderlyingPoint } from '../../api/schema.ts';

/** Prices of a perpetual and of spot as columns, one row for each book. */
export interface Basis {
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  readonly mid: readonly (number | null)[];
  /** Newest spot price at each time; null if it is too old. */
  readonly spot: readonly (number | null)[];
  /** Mid less spot in basis points of spot. */
  readonly basisBps: readonly (number | null)[];
  readonly spread: readonly (number | null)[];
}

/** An older spot price says nothing about the basis now. */
const SPOT_AGE_MS_MAX = 30_000;

/** Joins each book with the newest spot price at its time; both lists are oldest first. */
export function basisOf(books: readonly DepthSnapshot[], spot: readonly UnderlyingPoint[]): Basis {
  let next = 0;
  let newest: UnderlyingPoint | null = null;
  const rows = books.map(({ timestamp, best_bid: bid, best_ask: ask }) => {
    const timeMs = Date.parse(timestamp);
    for (; next < spot.length; next++) {
      const point = spot[next] as UnderlyingPoint;
      if (Date.parse(point.ts) > timeMs) break;
      newest = point;
    }
    const isFresh = newest !== null && timeMs - Date.parse(newest.ts) <= SPOT_AGE_MS_MAX;
    const price = isFresh ? (newest?.price ?? null) : null;
    const isTwoSided = bid !== null && ask !== null;
    const mid = isTwoSided ? (bid + ask) / 2 : null;
    return {
      ...{ time: timeMs / 1000, mid, price },
      spread: isTwoSided ? Number((ask - bid).toPrecision(8)) : null,
      basisBps: mid === null || price === null ? null : ((mid - price) / price) * 10_000,
    };
  });
  return {
    times: rows.map(({ time }) => time),
    mid: rows.map(({ mid }) => mid),
    spot: rows.map(({ price }) => price),
    basisBps: rows.map(({ basisBps }) => basisBps),
    spread: rows.map(({ spread }) => spread),
  };
}
