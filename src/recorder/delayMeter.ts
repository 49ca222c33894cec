/** The least of the last minutes counts as no delay. An older one does not count: a clock may be set back. */
const PERIOD_MS = 300_000;
/** Clocks that work differ by less: a message that seems later has waited, whatever was measured before. */
const CLOCK_DIFFERENCE_MAX_MS = 60_000;

/** The measured differences between two clocks, as plain JSON. */
export interface DelayMeterState {
  /** The least one in the current period; null before the first. */
  clockOffsetMs: number | null;
  /** The least one of the period before, and when the current one began; missing in states of earlier releases. */
  earlierOffsetMs?: number | null;
  offsetSinceMs?: number;
}

/**
 * How late messages are, measured between two clocks that may differ: a message's delay is what it takes longer than
 * the fastest one of the last minutes.
 */
export class DelayMeter {
  readonly #state: DelayMeterState;

  /** @param state Continues from it and changes it. */
  constructor(state: DelayMeterState = { clockOffsetMs: null }) {
    this.#state = state;
  }

  /**
   * @param differenceMs The receiver's clock at receipt minus the sender's clock at sending.
   * @param nowMs The time by which the periods are measured.
   * @returns The delay in milliseconds, at least 0.
   */
  delayOf(differenceMs: number, nowMs: number): number {
    const state = this.#state;
    state.offsetSinceMs ??= nowMs;
    if (nowMs - state.offsetSinceMs >= PERIOD_MS) {
      state.earlierOffsetMs = state.clockOffsetMs;
      state.clockOffsetMs = null;
      state.offsetSinceMs = nowMs;
    }
    state.clockOffsetMs = Math.min(state.clockOffsetMs ?? differenceMs, differenceMs);
    if (differenceMs > CLOCK_DIFFERENCE_MAX_MS) return differenceMs;
    return differenceMs - Math.min(state.clockOffsetMs, state.earlierOffsetMs ?? Number.POSITIVE_INFINITY);
  }
}
