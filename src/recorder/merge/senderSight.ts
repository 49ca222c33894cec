import type { Gap, GapCause, RowTimes } from '../../schema/gap.ts';
import { gapIdOf } from '../gapTracker.ts';
import type { BlindInterval } from './commonBlindness.ts';
import type { StatedFacts } from './marketJoin.ts';
import { compareRows, laterRow } from './rowOrder.ts';

/** Most blind intervals kept of one sender and market. */
const INTERVALS_MAX = 100;
/** Most remembered trades with one venue time. */
export const TRADE_IDS_MAX = 200;
/** Most remembered books with one venue time. */
const BOOK_KEYS_MAX = 64;

/** What one sender saw of one market. */
export interface SenderSight {
  /** A row was proven in the sender's current run. */
  isRunProven: boolean;
  /** Its last action was untrusted. */
  isInDoubt: boolean;
  /** The first row that any of its runs proved. */
  firstProven: RowTimes | null;
  /** The newest proven row that it delivered. */
  provenTo: RowTimes | null;
  /**
   * The newest trusted books that it delivered: their venue time and keys; missing in states of earlier releases.
   */
  lastBooks?: { readonly eventTimeMs: number; readonly keys: readonly string[] } | null;
  /** The newest trades that its current run delivered: their venue time and ids. */
  trades: { readonly eventTimeMs: number; readonly ids: readonly string[] } | null;
  /** What the last market record of its current run states; missing in states of earlier releases. */
  stated?: StatedFacts | null;
  blind: BlindInterval[];
}

export function newSight(): SenderSight {
  return {
    isRunProven: false,
    isInDoubt: false,
    firstProven: null,
    provenTo: null,
    lastBooks: null,
    trades: null,
    stated: null,
    blind: [],
  };
}

/** Whether the sender sees the market now. */
export function sees({ isRunProven, isInDoubt, blind }: SenderSight): boolean {
  return isRunProven && !isInDoubt && !blind.some(({ end }) => end === null);
}

/**
 * Whether the sender surely delivered nothing of this venue time. What a presumed interval hides may still be delivered,
 * in order: its delivered part is seen.
 */
export function wasBlindAt(
  { firstProven, provenTo, blind }: SenderSight,
  { eventTimeMs }: RowTimes,
): boolean {
  if (firstProven === null || eventTimeMs < firstProven.eventTimeMs) return true;
  return blind.some(({ kind, start, end }) => {
    const isInside = eventTimeMs > start.eventTimeMs && (end === null || eventTimeMs < end.eventTimeMs);
    return isInside && (kind !== 'presumed' || provenTo === null || eventTimeMs > provenTo.eventTimeMs);
  });
}

/** Whether the sender's own gap contains a row, by venue time alone: the rows of one run never fall behind it. */
export function isInOwnGap({ blind }: SenderSight, { eventTimeMs }: RowTimes): boolean {
  return blind.some(
    ({ kind, start, end }) =>
      kind === 'reported' &&
      eventTimeMs > start.eventTimeMs &&
      (end === null || eventTimeMs < end.eventTimeMs),
  );
}

/**
 * Whether the sender delivered a row before. It sends the rows of a market in the order of venue time, and after an
 * outage again from one that the stream may have stored.
 */
export function wasDelivered({ provenTo }: SenderSight, { eventTimeMs }: RowTimes): boolean {
  return provenTo !== null && eventTimeMs < provenTo.eventTimeMs;
}

/** Notes a trade. @returns Whether the sender's current run has delivered it before. */
export function noteTrade(
  sight: SenderSight,
  { id, eventTimeMs }: { id: string; eventTimeMs: number },
): boolean {
  const { trades } = sight;
  if (trades !== null && eventTimeMs < trades.eventTimeMs) return true;
  const ids = trades?.eventTimeMs === eventTimeMs ? trades.ids : [];
  if (ids.includes(id)) return true;
  sight.trades = { eventTimeMs, ids: [...ids, id].slice(-TRADE_IDS_MAX) };
  return false;
}

/** Notes a trusted book that the sender delivers for the first time. */
export function noteLastBook(
  sight: SenderSight,
  { key, eventTimeMs }: { key: string; eventTimeMs: number },
): void {
  const keys = sight.lastBooks?.eventTimeMs === eventTimeMs ? sight.lastBooks.keys : [];
  sight.lastBooks = { eventTimeMs, keys: [...keys, key].slice(-BOOK_KEYS_MAX) };
}

/** Notes a proven row. The first one of a run ends what an earlier run, or its absence, left open. */
export function noteProven(sight: SenderSight, row: RowTimes): void {
  sight.firstProven ??= row;
  sight.provenTo = laterRow(sight.provenTo, row);
  if (sight.isRunProven) return;
  sight.isRunProven = true;
  sight.blind = sight.blind.map((interval) => ended(interval, row, 'snapshot'));
}

/** Notes the sender's own gap, or its newest version. */
export function noteGap(sight: SenderSight, gap: Gap): void {
  const { gapId, cause, feed, knownTimeMs, repairedBy, startTimeMs, startReceivedMs, endTimeMs } = gap;
  const start = { eventTimeMs: startTimeMs, receivedTimeMs: startReceivedMs };
  const endReceivedMs = gap.endReceivedMs ?? endTimeMs;
  const end =
    endTimeMs === null || endReceivedMs === null
      ? null
      : { eventTimeMs: endTimeMs, receivedTimeMs: endReceivedMs };
  const interval = { gapId, start, end, cause, feed, knownTimeMs, repairedBy, kind: 'reported' } as const;
  const at = sight.blind.findIndex((known) => known.gapId === gapId);
  if (at < 0) sight.blind.push(interval);
  else sight.blind[at] = interval;
  if (end !== null && repairedBy !== null) sight.provenTo = laterRow(sight.provenTo, end);
}

/** Opens an interval from a row on, because the sender is unheard or has restarted. */
export function openAbsence(
  sight: SenderSight,
  absence: {
    readonly marketId: string;
    readonly start: RowTimes;
    readonly knownTimeMs: number;
    readonly kind: 'presumed' | 'restarted';
    readonly cause?: GapCause;
  },
): void {
  if (sight.blind.some(({ end }) => end === null)) return;
  const { marketId, start, knownTimeMs, kind, cause = 'process_down' } = absence;
  const gapId = gapIdOf({ marketId, start, cause });
  sight.blind = sight.blind.filter((interval) => interval.gapId !== gapId);
  sight.blind.push({
    gapId,
    start,
    end: null,
    cause,
    feed: 'underround',
    knownTimeMs,
    repairedBy: null,
    kind,
  });
}

/** Removes the presumption that the sender was blind: it delivered all that it saw. */
export function withdrawPresumption(sight: SenderSight): void {
  sight.blind = sight.blind.filter(({ kind }) => kind !== 'presumed');
}

/** Another run of the sender began: a presumption becomes certain, from the last row that was delivered. */
export function beginRun(sight: SenderSight): void {
  sight.isRunProven = sight.isInDoubt = false;
  sight.trades = null;
  sight.stated = null;
  sight.blind = sight.blind.map((interval) =>
    interval.kind === 'presumed'
      ? { ...interval, kind: 'restarted', start: laterRow(interval.start, sight.provenTo) ?? interval.start }
      : interval,
  );
}

/** Notes a row of an earlier run that arrived after the next run began: the absence starts after it. */
export function noteEarlierRun(sight: SenderSight, row: RowTimes): void {
  sight.blind = sight.blind.map((interval) => {
    const { kind, start, end } = interval;
    const isInside = compareRows(row, start) > 0 && (end === null || compareRows(row, end) < 0);
    return kind === 'restarted' && isInside ? { ...interval, start: row } : interval;
  });
}

/** Ends what is open, because the market has ended. */
export function endAll(sight: SenderSight, end: RowTimes): void {
  sight.blind = sight.blind.map((interval) => ended(interval, end, null));
}

/**
 * Drops the oldest ended intervals above a limit.
 * @returns The newest end of the dropped ones: gaps before it are final. Null if none was dropped.
 */
export function dropOldest(sight: SenderSight): RowTimes | null {
  let dropped: RowTimes | null = null;
  while (sight.blind.length > INTERVALS_MAX) {
    const [oldest] = sight.blind;
    if (oldest === undefined || oldest.end === null) break;
    dropped = laterRow(dropped, oldest.end);
    sight.blind.shift();
  }
  return dropped;
}

function ended(interval: BlindInterval, row: RowTimes, repairedBy: string | null): BlindInterval {
  if (interval.end !== null) return interval;
  const { start } = interval;
  const end = {
    eventTimeMs: Math.max(row.eventTimeMs, start.eventTimeMs),
    receivedTimeMs: Math.max(row.receivedTimeMs, start.receivedTimeMs),
  };
  return { ...interval, end, repairedBy };
}
