import { SNAPSHOT_PATIENCE_MS, TICK_MS } from './watchdogLimits.ts';

/** Notices a feed that speaks again after all of it was silent: every market in a gap is then worth a try at once. */
export class Revival {
  /** When that last was, monotonic. */
  at = Number.NEGATIVE_INFINITY;
  #isHeard = true;

  /** @param silentForMs Of whatever part of the feed spoke last. */
  look(silentForMs: number, nowAt: number): void {
    if (silentForMs >= SNAPSHOT_PATIENCE_MS) this.#isHeard = false;
    else if (!this.#isHeard && silentForMs < TICK_MS * 3) {
      this.#isHeard = true;
      this.at = nowAt;
    }
  }
}
