import type { Gap, RowTimes } from '../../schema/gap.ts';
import { gapIdOf } from '../gapTracker.ts';
import type { CommonInterval } from './commonBlindness.ts';
import { compareRows } from './rowOrder.ts';

/** `repairedBy` of a gap that a late copy of another sender filled. */
const LATE_COPY = 'late_copy';

interface Reconciliation {
  /** The gaps of the market after the change, oldest first. */
  readonly gaps: Gap[];
  /** Their new and changed records; a gap that was filled has no length. */
  readonly changed: Gap[];
}

/**
 * The gaps of a market after its senders' blindness changed. A gap keeps its id and its detection while it grows,
 * shrinks, ends or is filled.
 * @param options.settledTo Gaps before this row are final.
 * @param options.isShared Several senders know the market: a period without length in venue time is then no gap,
 *   because one of them proved the book before and after it.
 */
export function reconcileGaps(
  known: readonly Gap[],
  intervals: readonly CommonInterval[],
  options: { marketId: string; seq: number; settledTo: RowTimes | null; isShared: boolean },
): Reconciliation {
  const { seq, settledTo, isShared } = options;
  const isOpenQuestion = (end: RowTimes | null) =>
    end === null || settledTo === null || compareRows(end, settledTo) > 0;
  const open = known.filter((gap) => isOpenQuestion(endOf(gap)));
  const left = intervals.filter(({ end }) => isOpenQuestion(end));
  const [gaps, changed]: [Gap[], Gap[]] = [[], []];
  for (const gap of open) {
    const at = matchOf(gap, left);
    const [interval] = at < 0 ? [] : left.splice(at, 1);
    const next = interval === undefined ? filled(gap) : withInterval(gap, interval);
    if (interval !== undefined || next === gap) gaps.push(next);
    if (next !== gap) changed.push(next);
  }
  for (const interval of left) {
    if (isShared && isWithoutLength(interval)) continue;
    const gap = newGap(interval, { ...options, taken: gaps, seq });
    gaps.push(gap);
    changed.push(gap);
  }
  gaps.sort((a, b) => compareRows(startOf(a), startOf(b)));
  return { gaps, changed };
}

/** The interval that a gap describes: the one that began it, or the first that overlaps it. */
function matchOf(gap: Gap, intervals: readonly CommonInterval[]): number {
  const own = intervals.findIndex(({ startedBy }) => startedBy.gapId === gap.gapId);
  if (own >= 0) return own;
  const [start, end] = [startOf(gap), endOf(gap)];
  return intervals.findIndex(
    (interval) =>
      (end === null || compareRows(interval.start, end) < 0) &&
      (interval.end === null || compareRows(start, interval.end) < 0),
  );
}

function withInterval(gap: Gap, { start, end, startedBy, endedBy }: CommonInterval): Gap {
  // A gap that another interval began keeps its cause: only its bounds moved.
  const { cause, feed } = startedBy.gapId === gap.gapId ? startedBy : gap;
  const next = {
    ...gap,
    cause,
    feed,
    startTimeMs: start.eventTimeMs,
    startReceivedMs: start.receivedTimeMs,
    endTimeMs: end === null ? null : end.eventTimeMs,
    endReceivedMs: end === null ? null : Math.max(end.receivedTimeMs, start.receivedTimeMs),
    repairedBy: end === null ? null : endedBy === null ? 'snapshot' : endedBy.repairedBy,
  };
  return JSON.stringify(next) === JSON.stringify(gap) ? gap : next;
}

/** A gap that no longer exists. One without length stays as it is. */
function filled(gap: Gap): Gap {
  const { startTimeMs, startReceivedMs } = gap;
  if (gap.endTimeMs === startTimeMs) return gap;
  return { ...gap, endTimeMs: startTimeMs, endReceivedMs: startReceivedMs, repairedBy: LATE_COPY };
}

function newGap(
  interval: CommonInterval,
  { marketId, seq, taken }: { marketId: string; seq: number; taken: readonly Gap[] },
): Gap {
  const { start, startedBy } = interval;
  const { cause, feed } = startedBy;
  const isTaken = taken.some(({ gapId }) => gapId === startedBy.gapId);
  const empty: Gap = {
    gapId: isTaken ? gapIdOf({ marketId, start, cause }) : startedBy.gapId,
    marketId,
    startTimeMs: start.eventTimeMs,
    endTimeMs: null,
    startReceivedMs: start.receivedTimeMs,
    endReceivedMs: null,
    knownTimeMs: interval.knownTimeMs,
    knownSeq: seq,
    cause,
    feed,
    repairedBy: null,
  };
  return withInterval(empty, interval);
}

function isWithoutLength({ start, end }: CommonInterval): boolean {
  return end !== null && end.eventTimeMs <= start.eventTimeMs;
}

function startOf({ startTimeMs, startReceivedMs }: Gap): RowTimes {
  return { eventTimeMs: startTimeMs, receivedTimeMs: startReceivedMs };
}

function endOf({ endTimeMs, endReceivedMs }: Gap): RowTimes | null {
  return endTimeMs === null ? null : { eventTimeMs: endTimeMs, receivedTimeMs: endReceivedMs ?? endTimeMs };
}
