import type { TierLimits } from '../accounts/users/tiers.ts';
import { formatTime } from '../schema/time.ts';
import { forbidden } from './refusal.ts';

const DAY_MS = 86_400_000;
/**
 * A time this much before the window is accepted: the window slides while a client reads in a refusal what the
 * earliest allowed time is, and asking again with that very time works. CONFIGURATION.md states it.
 */
const GRACE_MS = 60_000;

/** The two parameters of a range, as the client knows them. */
export type RangeNames = readonly [first: string, last: string];
export const START_END: RangeNames = ['start', 'end'];
/** Of lists of markets, by the ends of their windows. */
export const SINCE_UNTIL: RangeNames = ['since', 'until'];

/**
 * How far back a request may read. A handler asks it after everything a 422 or 400 is for, and before it looks
 * anything up.
 */
export class HistoryWindow {
  /** Null: without limit. */
  readonly earliestMs: number | null;

  constructor(limits: Pick<TierLimits, 'history_days'>, nowMs: number) {
    this.earliestMs = limits.history_days === null ? null : Math.floor(nowMs - limits.history_days * DAY_MS);
  }

  /**
   * The first moment of a range to read from: the earliest allowed where it has none.
   * @param names The parameters it begins and ends by, as the client knows them.
   * @param resumed A cursor of this very query came with it: the window has slid since its first page, so what has left
   *   it is left out instead of the page refused.
   * @throws {RequestRefusedError} 403 when it begins or ends before the window and its grace.
   */
  range(
    { startMs, endMs }: { startMs: number | null; endMs: number | null },
    { names = START_END, resumed = false }: { names?: RangeNames; resumed?: boolean } = {},
  ): number | null {
    if (this.earliestMs === null) return startMs;
    // An end that is let through may lie just before it; no range ends before it starts.
    const earliestMs = Math.min(this.earliestMs, endMs ?? Infinity);
    if (resumed && (startMs === null || startMs < this.earliestMs)) return earliestMs;
    this.check(startMs, names[0]);
    this.check(endMs, names[1]);
    return startMs ?? earliestMs;
  }

  /** @throws {RequestRefusedError} 403 when a moment is before the window and its grace. */
  check(givenMs: number | null, name: string): void {
    if (this.earliestMs === null || givenMs === null || givenMs >= this.earliestMs - GRACE_MS) return;
    const earliest = formatTime(this.earliestMs);
    throw forbidden(
      `${name} is before the history window of your tier; the earliest allowed time is ${earliest}, with one minute of grace`,
    );
  }
}
