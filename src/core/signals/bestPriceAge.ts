import type { BookView, SideView } from '../../schema/records.ts';

/** A price unchanged for this long is `stable`; a younger one may be gone before an order arrives. */
export const STABLE_AFTER_MS = 30_000;
const EMPTY = -1;

/** Since when each of a market's four best prices is unchanged. */
export class BestPriceAge {
  readonly #prices = new Int32Array(4).fill(EMPTY);
  readonly #sinceMs = new Float64Array(4);

  /** @param timeMs Receive time of a trusted state; call `reset` for an untrusted one. */
  update({ yes, no }: { yes: BookView; no: BookView }, timeMs: number): void {
    this.#note(0, yes.bids, timeMs);
    this.#note(1, yes.asks, timeMs);
    this.#note(2, no.bids, timeMs);
    this.#note(3, no.asks, timeMs);
  }

  /** The prices during an untrusted book are unknown: all four start over. */
  reset(): void {
    this.#prices.fill(EMPTY);
  }

  /** How long the best ask of a token is unchanged; 0 if there is none. */
  askHeldMs(token: 'yes' | 'no', nowMs: number): number {
    const at = token === 'yes' ? 1 : 3;
    return this.#prices[at] === EMPTY ? 0 : Math.max(0, nowMs - (this.#sinceMs[at] as number));
  }

  #note(at: number, side: SideView, timeMs: number): void {
    const price = side.count === 0 ? EMPTY : (side.prices[0] as number);
    if (this.#prices[at] === price) return;
    this.#prices[at] = price;
    this.#sinceMs[at] = timeMs;
  }
}
