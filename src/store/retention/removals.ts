/** Which days of which tables are removed, and when the disk will be full. Pure: the caller reads and removes. */
import type { RetainedDataset, Retention } from '../../config/values.ts';

const DAY_MS = 86_400_000;
/** Days from which growth is measured: a week has every kind of day. */
const GROWTH_DAYS = 7;
/** The first day with this share of the largest one is the day on which recording began. */
const FIRST_DAY_SHARE_MIN = 0.1;

/** The rows of one table with a `ts` on one UTC day. */
export interface DatasetDay {
  readonly table: RetainedDataset;
  /** As `yyyy-mm-dd`. */
  readonly day: string;
  readonly bytes: number;
}

/**
 * The time by which ages are judged: the machine's, but at most the end of the newest recorded day. The venues stamp the
 * rows, so a clock that was set far ahead makes no row old, and removals cannot be taken back.
 */
export function judgedTime(days: readonly DatasetDay[], clockMs: number): number {
  // Within that day: it and the one before it stay.
  const newestMs = days.reduce((latestMs, { day }) => Math.max(latestMs, endOf(day) - 1), 0);
  return Math.min(clockMs, newestMs);
}

interface RemovalPlan {
  /** The oldest first. */
  readonly removals: readonly DatasetDay[];
  /** Bytes beyond the budget that nothing may be removed for. */
  readonly overBudgetBytes: number;
}

/**
 * Chooses what to remove: days older than their dataset's period, then the oldest days until the budget fits.
 * @param options.openSinceMs Start of the oldest window that is still open: its rows stay.
 * @param options.otherBytes Size of the tables that are never removed from.
 */
export function planRemovals(
  days: readonly DatasetDay[],
  options: {
    retention: Retention;
    budgetBytes: number | null;
    otherBytes: number;
    nowMs: number;
    openSinceMs: number;
  },
): RemovalPlan {
  const { retention, budgetBytes, otherBytes, nowMs, openSinceMs } = options;
  // The current and the previous day may still get late rows.
  const closedMs = Math.min(openSinceMs, nowMs - DAY_MS);
  const removable = [...days].sort(byAge).filter(({ day }) => endOf(day) <= closedMs);
  const isExpired = ({ table, day }: DatasetDay) => {
    const keptDays = retention[table] ?? null;
    return keptDays !== null && endOf(day) <= nowMs - keptDays * DAY_MS;
  };
  const removals = removable.filter(isExpired);
  let bytes = otherBytes + sizeOf(days) - sizeOf(removals);
  if (budgetBytes === null) return { removals, overBudgetBytes: 0 };
  for (const one of removable) {
    if (bytes <= budgetBytes) break;
    if (isExpired(one) || retention[one.table] === null) continue;
    removals.push(one);
    bytes -= one.bytes;
  }
  return { removals: removals.sort(byAge), overBudgetBytes: Math.max(0, bytes - budgetBytes) };
}

/**
 * Days of books that are old enough to be thinned and are not removed anyway, the oldest first.
 * @param options.openSinceMs Start of the oldest window that is still open: its rows stay.
 */
export function daysToThin(
  days: readonly DatasetDay[],
  options: { retention: Retention; removals: readonly DatasetDay[]; nowMs: number; openSinceMs: number },
): string[] {
  const { retention, removals, nowMs, openSinceMs } = options;
  const { books_thinned: afterDays } = retention;
  if (afterDays === undefined) return [];
  const beforeMs = Math.min(openSinceMs, nowMs - afterDays * DAY_MS);
  return [...days]
    .sort(byAge)
    .filter((one) => one.table === 'books' && endOf(one.day) <= beforeMs && !removals.includes(one))
    .map(({ day }) => day);
}

export interface DiskForecast {
  /** Mean of the last completely recorded days; null without one. */
  readonly bytesPerDay: number | null;
  /** When free space ends at that growth; null if it does not grow. */
  readonly fullAtMs: number | null;
}

/** @param freeBytes Free space beyond the reserve. */
export function forecastDisk(
  days: readonly DatasetDay[],
  { freeBytes, nowMs }: { freeBytes: number; nowMs: number },
): DiskForecast {
  const bytesOfDay = new Map<string, number>();
  for (const { day, bytes } of days) bytesOfDay.set(day, (bytesOfDay.get(day) ?? 0) + bytes);
  const firstDay = firstRecordedDay(bytesOfDay);
  const sizes = [...bytesOfDay]
    .filter(([day]) => day > firstDay && endOf(day) <= nowMs && endOf(day) > nowMs - GROWTH_DAYS * DAY_MS)
    .map(([, bytes]) => bytes);
  if (sizes.length === 0) return { bytesPerDay: null, fullAtMs: null };
  const bytesPerDay = sizes.reduce((sum, bytes) => sum + bytes, 0) / sizes.length;
  const fullAtMs = bytesPerDay > 0 ? nowMs + (freeBytes / bytesPerDay) * DAY_MS : null;
  return { bytesPerDay, fullAtMs };
}

/**
 * The day on which recording began, which is recorded in part. A first book may state the time of a change hours before,
 * so some rows can have an earlier day: a day of them is small beside one of recording.
 */
function firstRecordedDay(bytesOfDay: ReadonlyMap<string, number>): string {
  const enough = Math.max(0, ...bytesOfDay.values()) * FIRST_DAY_SHARE_MIN;
  return [...bytesOfDay]
    .filter(([, bytes]) => bytes >= enough)
    .reduce((first, [day]) => (day < first ? day : first), '9999');
}

function endOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) + DAY_MS;
}

function byAge(a: DatasetDay, b: DatasetDay): number {
  if (a.day !== b.day) return a.day < b.day ? -1 : 1;
  return b.bytes - a.bytes;
}

function sizeOf(days: readonly DatasetDay[]): number {
  return days.reduce((sum, { bytes }) => sum + bytes, 0);
}
