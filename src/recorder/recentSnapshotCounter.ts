const WINDOW_SECONDS = 300;
/** The period that `/health` counts. */
export const RECENT_MS = WINDOW_SECONDS * 1_000;

/** The number of book snapshots received in the last five minutes, by second; read by `/health`. */
export class RecentSnapshotCounter {
  latestTimeMs: number | null = null;
  readonly #counts = new Uint32Array(WINDOW_SECONDS);
  readonly #seconds = new Float64Array(WINDOW_SECONDS);

  add(receivedTimeMs: number, count = 1): void {
    const second = Math.floor(receivedTimeMs / 1000);
    const slot = second % WINDOW_SECONDS;
    if (this.#seconds[slot] !== second) {
      if ((this.#seconds[slot] as number) > second) return;
      this.#seconds[slot] = second;
      this.#counts[slot] = 0;
    }
    this.#counts[slot] = (this.#counts[slot] as number) + count;
    if (this.latestTimeMs === null || receivedTimeMs > this.latestTimeMs) this.latestTimeMs = receivedTimeMs;
  }

  count(nowMs: number): number {
    const oldest = Math.floor(nowMs / 1000) - WINDOW_SECONDS;
    let total = 0;
    for (let slot = 0; slot < WINDOW_SECONDS; slot++) {
      if ((this.#seconds[slot] as number) > oldest) total += this.#counts[slot] as number;
    }
    return total;
  }
}
