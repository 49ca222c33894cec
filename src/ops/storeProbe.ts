import { type Clock, every, type Timer } from '../runtime/clock.ts';

const PERIOD_MS = 2000;
/** Two probes may fail before the service is not ready, because an engine restart takes less time. */
const SILENCE_LIMIT_MS = 6000;

/** Probes a store periodically, so that `/readyz` answers from memory. */
export class StoreProbe {
  readonly #clock: Clock;
  readonly #name: string;
  readonly #timer: Timer;
  #lastAnswerAt: number;
  #asking = false;

  /**
   * @param options.ask Resolves when the store has answered. The store must have answered before construction.
   * @param options.name Of the store, in the reasons.
   */
  constructor(options: { clock: Clock; ask: () => Promise<unknown>; name?: string }) {
    this.#clock = options.clock;
    this.#name = options.name ?? 'the store';
    this.#lastAnswerAt = this.#clock.monotonic();
    this.#timer = every(this.#clock, PERIOD_MS, () => void this.#probe(options.ask));
  }

  /** Why the service cannot work; empty if it can. */
  reasons(): string[] {
    const silentMs = this.#clock.monotonic() - this.#lastAnswerAt;
    return silentMs > SILENCE_LIMIT_MS
      ? [`${this.#name} has not answered for ${Math.floor(silentMs / 1000)} s`]
      : [];
  }

  stop(): void {
    this.#timer.cancel();
  }

  async #probe(ask: () => Promise<unknown>): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    try {
      await ask();
      this.#lastAnswerAt = this.#clock.monotonic();
    } catch {
      // The driver logs and counts the failure; here it shows as age.
    } finally {
      this.#asking = false;
    }
  }
}
