import type { BookView, SideView } from '../../schema/records.ts';

/** A price unchanged for this long is `stable`; a younger one may be gone before an order arrives. */
export const STABLE_AFTER_MS = 30_000;
const EMPTY = -1;

/** Since when the best ask of each of a market's two tokens is unchanged. */
export class BestPriceAge {
  readonly #prices = new Int32Array(2).fill(EMPTY);
  readonly #sinceMs = new Float64Array(2);

  /** @param timeMs Receive time of a trusted state; call `reset` for an untrusted one. */
  update({ yes, no }: { yes: BookView; no: BookView }, timeMs: number): void {
    this.#note(0, yes.asks, timeMs);
    this.#note(1, no.asks, timeMs);
  }

  /** The prices during an untrusted book are unknown: both start over. */
  reset(): void {
    this.#prices.fill(EMPTY);
  }

  /** How long the best ask of a token is unchanged; 0 if there is none. */
  askHeldMs(token: 'yes' | 'no', nowMs: number): number {
    const at = token === 'yes' ? 0 : 1;
    return this.#prices[at] === EMPTY ? 0 : Math.max(0, nowMs - (this.#sinceMs[at] as number));
  }

  #note(at: number, side: SideView, timeMs: number): void {
    const price = side.count === 0 ? EMPTY : (side.prices[0] as number);
    if (this.#prices[at] === price) return;
    this.#prices[at] = price;
    this.#sinceMs[at] = timeMs;
  }
}
