/** So far a detection may be dated ahead of the clock. A clock set back further is believed. */
const AHEAD_MAX_MS = 100;

/**
 * Dates detections: those of one market are told apart by their moment, and all together are in the order they were
 * made in, which is that of the audit's rows.
 */
export class Moments {
  #lastMs = Number.NEGATIVE_INFINITY;

  /** @param datedMs What this market's detections are dated already. */
  next(datedMs: Iterable<number>, nowMs: number): number {
    const taken = new Set(datedMs);
    let momentMs = this.#lastMs - nowMs > AHEAD_MAX_MS ? nowMs : Math.max(nowMs, this.#lastMs);
    while (taken.has(momentMs)) momentMs++;
    this.#lastMs = momentMs;
    return momentMs;
  }
}
