/** No collector sends older messages: its outbox is full long before. */
const REMEMBERED_MS = 90_000_000;
/** Digits of a market id that are kept: 64 bits. */
const ID_DIGITS = 16;

/** When each market was forgotten (the stream's time), by the last digits of its id; oldest first. */
export type ForgottenMarketsState = Record<string, number>;

/**
 * The ids of markets whose state the merge has dropped. A collector that was cut off from the stream for hours still
 * sends what it recorded of them. Without their state, the merge would store copies of rows again and apply old records.
 */
export class ForgottenMarkets {
  readonly #forgottenMs: Map<string, number>;

  constructor(state: ForgottenMarketsState = {}) {
    this.#forgottenMs = new Map(Object.entries(state));
  }

  get state(): ForgottenMarketsState {
    return Object.fromEntries(this.#forgottenMs);
  }

  /** @param key A market id, or another key of a message; null: none. */
  has(key: string | null): boolean {
    return key !== null && this.#forgottenMs.has(key.slice(-ID_DIGITS));
  }

  add(marketId: string, timeMs: number): void {
    this.#forgottenMs.set(marketId.slice(-ID_DIGITS), timeMs);
  }

  dropOld(timeMs: number): void {
    for (const [id, forgottenMs] of this.#forgottenMs) {
      if (timeMs - forgottenMs <= REMEMBERED_MS) return;
      this.#forgottenMs.delete(id);
    }
  }
}
