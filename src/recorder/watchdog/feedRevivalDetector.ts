import { SNAPSHOT_PATIENCE_MS, TICK_MS } from './watchdogLimits.ts';

/** Detects a feed that delivers again after all of it was silent: every market in a gap is then retried at once. */
export class FeedRevivalDetector {
  /** Monotonic time of the last revival. */
  at = Number.NEGATIVE_INFINITY;
  #isDelivering = true;

  /** @param silentForMs Silence of the part of the feed that delivered last. */
  update(silentForMs: number, nowAt: number): void {
    if (silentForMs >= SNAPSHOT_PATIENCE_MS) this.#isDelivering = false;
    else if (!this.#isDelivering && silentForMs < TICK_MS * 3) {
      this.#isDelivering = true;
      this.at = nowAt;
    }
  }
}
