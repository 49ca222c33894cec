import { SNAPSHOT_PATIENCE_MS, TICK_MS } from './watchdogLimits.ts';

/** Detects a feed that delivers again after all of it was silent: every market in a gap is then retried at once. */
export class FeedRevivalDetector {
  /** Monotonic time of the last revival. */
  at = Number.NEGATIVE_INFINITY;
  #isHeard = true;

  /** @param silentForMs Silence of the part of the feed that delivered last. */
  look(silentForMs: number, nowAt: number): void {
    if (silentForMs >= SNAPSHOT_PATIENCE_MS) this.#isHeard = false;
    else if (!this.#isHeard && silentForMs < TICK_MS * 3) {
      this.#isHeard = true;
      this.at = nowAt;
    }
  }
}
