import type { GapCause, RowTimes } from '../../schema/gap.ts';
import { compareRows } from './rowOrder.ts';

/** A period in which one sender did not see a market, between two of its proven rows. */
export interface BlindInterval {
  readonly gapId: string;
  readonly start: RowTimes;
  /** Null while it is open. */
  readonly end: RowTimes | null;
  readonly cause: GapCause;
  readonly feed: string;
  readonly knownTimeMs: number | null;
  readonly repairedBy: string | null;
  /**
   * `reported`: the sender's own gap; `presumed`: it is unheard, and may still deliver what it saw; `restarted`: another
   * run of it began, so what it saw in this period will not come.
   */
  readonly kind: 'reported' | 'presumed' | 'restarted';
}

/** When one sender did not see a market. */
interface Blindness {
  /** The first row that it ever proved: before it, it saw nothing. Null: it has proved none. */
  readonly firstProven: RowTimes | null;
  readonly blind: readonly BlindInterval[];
}

/** A period in which no sender saw a market. */
export interface CommonInterval {
  readonly start: RowTimes;
  readonly end: RowTimes | null;
  /** The interval that began last: it made the market unseen. */
  readonly startedBy: BlindInterval;
  /** The interval that ended first; null while it is open, or where a sender proved its first row ever. */
  readonly endedBy: BlindInterval | null;
  readonly knownTimeMs: number | null;
}

/** Before a sender's first proven row, nothing has a start: null. */
type Part = Omit<CommonInterval, 'start' | 'startedBy'> & {
  readonly start: RowTimes | null;
  readonly startedBy: BlindInterval | null;
};

/**
 * The periods in which all senders were blind, oldest first. A market that no sender had seen before has no gap. The
 * intervals of a single sender are returned as they are.
 */
export function commonBlindness(senders: readonly Blindness[]): CommonInterval[] {
  const [first, ...others] = senders.map(partsOf);
  const common = others.reduce(intersect, first ?? []);
  const begun = common.filter((part): part is CommonInterval => part.startedBy !== null);
  return senders.length === 1 ? begun : joined(begun);
}

function partsOf({ firstProven, blind }: Blindness): Part[] {
  const parts: Part[] = blind.map((interval) => {
    const { start, end, knownTimeMs } = interval;
    return { start, end, knownTimeMs, startedBy: interval, endedBy: end === null ? null : interval };
  });
  parts.push({ start: null, end: firstProven, startedBy: null, endedBy: null, knownTimeMs: null });
  return parts;
}

function intersect(ones: readonly Part[], others: readonly Part[]): Part[] {
  return ones.flatMap((one) => others.flatMap((other) => overlap(one, other) ?? []));
}

function overlap(one: Part, other: Part): Part | null {
  const later = startsAfter(other, one) ? other : one;
  const sooner = endsBefore(other, one) ? other : one;
  const { start, startedBy } = later;
  const { end, endedBy } = sooner;
  if (start !== null && end !== null && compareRows(start, end) >= 0) return null;
  const knownTimeMs =
    one.knownTimeMs === null || other.knownTimeMs === null
      ? (one.knownTimeMs ?? other.knownTimeMs)
      : Math.max(one.knownTimeMs, other.knownTimeMs);
  return { start, end, startedBy, endedBy, knownTimeMs };
}

/** Of two that start at one row, the one known first decides. */
function startsAfter(a: Part, b: Part): boolean {
  if (a.start === null || b.start === null) return b.start === null && a.start !== null;
  const order = compareRows(a.start, b.start);
  return order === 0 ? (a.knownTimeMs ?? 0) < (b.knownTimeMs ?? 0) : order > 0;
}

function endsBefore(a: Part, b: Part): boolean {
  if (a.end === null || b.end === null) return a.end !== null && b.end === null;
  return compareRows(a.end, b.end) < 0;
}

/** Overlapping intervals become one, which keeps the cause of the first. */
function joined(intervals: readonly CommonInterval[]): CommonInterval[] {
  const result: CommonInterval[] = [];
  for (const interval of [...intervals].sort((a, b) => compareRows(a.start, b.start))) {
    const last = result.at(-1);
    if (last === undefined || (last.end !== null && compareRows(interval.start, last.end) >= 0))
      result.push(interval);
    else if (last.end !== null && (interval.end === null || compareRows(interval.end, last.end) > 0))
      result[result.length - 1] = { ...last, end: interval.end, endedBy: interval.endedBy };
  }
  return result;
}
