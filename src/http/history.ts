import type { TierLimits } from '../accounts/users/tiers.ts';
import { formatTime } from '../schema/time.ts';
import { forbidden } from './refusal.ts';

const DAY_MS = 86_400_000;
/**
 * A time this much before the window is accepted. The window moves while a client reads the earliest allowed time in a
 * refusal, so a request with exactly that time must succeed. CONFIGURATION.md documents this.
 */
const GRACE_MS = 60_000;

/** The parameter names of a range, as used in messages to the client. */
type RangeNames = readonly [first: string, last: string];
export const START_END: RangeNames = ['start', 'end'];
/** For lists of markets, filtered by the ends of their windows. */
export const SINCE_UNTIL: RangeNames = ['since', 'until'];

/**
 * How far back a request may read. Handlers check it after everything that causes a 422 or 400, and before any look-up.
 */
export class HistoryWindow {
  /** Null: no limit. */
  readonly earliestMs: number | null;

  constructor(limits: Pick<TierLimits, 'history_days'>, nowMs: number) {
    this.earliestMs = limits.history_days === null ? null : Math.floor(nowMs - limits.history_days * DAY_MS);
  }

  /**
   * The start of the range to read: the given one, or the earliest allowed.
   * @param names The parameters of the range, as used in messages to the client.
   * @param resumed The request has a cursor of the same query. The window has moved since the first page, so rows
   * before it are omitted instead of refusing the page.
   * @throws {RequestRefusedError} 403 if the range starts or ends more than `GRACE_MS` before the history window.
   */
  range(
    { startMs, endMs }: { startMs: number | null; endMs: number | null },
    { names = START_END, resumed = false }: { names?: RangeNames; resumed?: boolean } = {},
  ): number | null {
    if (this.earliestMs === null) return startMs;
    // An end within the grace may be before the window, and a range must not end before it starts.
    const earliestMs = Math.min(this.earliestMs, endMs ?? Infinity);
    if (resumed && (startMs === null || startMs < this.earliestMs)) return earliestMs;
    this.check(startMs, names[0]);
    this.check(endMs, names[1]);
    return startMs ?? earliestMs;
  }

  /** @throws {RequestRefusedError} 403 if a time is more than `GRACE_MS` before the history window. */
  check(givenMs: number | null, name: string): void {
    if (this.earliestMs === null || givenMs === null || givenMs >= this.earliestMs - GRACE_MS) return;
    const earliest = formatTime(this.earliestMs);
    throw forbidden(
      `${name} is before the history window of your tier; the earliest allowed time is ${earliest}, with one minute of grace`,
    );
  }
}
