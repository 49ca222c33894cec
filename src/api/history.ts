import type { TierLimits } from '../accounts/tiers.ts';
import { formatTime } from '../schema/time.ts';
import { forbidden } from './refusal.ts';

const DAY_MS = 86_400_000;
/**
 * The window slides while a client reads in a refusal what the earliest allowed time is; a `start` this much before
 * it is still taken, so that asking again with that very time works.
 */
const GRACE_MS = 60_000;

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
   * The first moment to read from: the earliest allowed where none is given.
   * @param name The parameter, as the client knows it.
   * @param resumed A cursor of this very query came with it: the window has slid since its first page, so what has left
   *   it is left out instead of the page refused.
   * @throws {RequestRefusedError} 403 when it lies before the window.
   */
  start(givenMs: number | null, { name = 'start', resumed = false } = {}): number | null {
    if (this.earliestMs === null) return givenMs;
    if (givenMs === null || (resumed && givenMs < this.earliestMs)) return this.earliestMs;
    this.check(givenMs, name);
    return givenMs;
  }

  /** @throws {RequestRefusedError} 403 when a moment lies before the window. */
  check(givenMs: number | null, name: string): void {
    if (this.earliestMs === null || givenMs === null || givenMs >= this.earliestMs - GRACE_MS) return;
    const earliest = formatTime(this.earliestMs);
    throw forbidden(
      `${name} is before the history window of your tier; the earliest allowed time is ${earliest}`,
    );
  }
}
