/** Detection timestamps may run at most this far ahead of the wall clock; if the clock was set back further, use it. */
const AHEAD_MAX_MS = 100;

/**
 * Dates detections. Those of one market have distinct times, and all together are in the order of detection, which is
 * that of the audit's rows.
 */
export class DetectionClock {
  #lastMs = Number.NEGATIVE_INFINITY;

  /** @param datedMs The times of this market's earlier detections. */
  next(datedMs: Iterable<number>, nowMs: number): number {
    const taken = new Set(datedMs);
    let momentMs = this.#lastMs - nowMs > AHEAD_MAX_MS ? nowMs : Math.max(nowMs, this.#lastMs);
    while (taken.has(momentMs)) momentMs++;
    this.#lastMs = momentMs;
    return momentMs;
  }
}
