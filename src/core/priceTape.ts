/**
 * The last minutes of one price by the second, as received. A missing second stays missing: an average never carries a
 * price over a hole.
 */

/** Longest look-back of a rule, plus the lateness of points (2.2 s) and of readers. */
const KEPT_SECONDS = 600;
export const PRICE_TAPE_MS = KEPT_SECONDS * 1000;

/** The price at a time, or null. */
export interface Tape {
  /** At a whole second; null if none was received for it. */
  at(timeMs: number): number | null;
  /** Mean of the seconds in (endMs - seconds, endMs]; null if one is missing. */
  meanUntil(endMs: number, seconds: number): number | null;
}

/** Points that are stamped with their whole second, in any order of arrival. */
export class PointTape implements Tape {
  readonly #prices = new Float64Array(KEPT_SECONDS);
  /** The second in each slot; a slot of another second is empty. */
  readonly #seconds = new Float64Array(KEPT_SECONDS).fill(-1);
  /** 1 where the price counts in averages only. */
  readonly #averaged = new Uint8Array(KEPT_SECONDS);

  /**
   * The first price of a second is kept: the relay repeats points, it does not correct them.
   * @param use `average`: the price is not returned as that of its second, unless the point is added again for any use.
   */
  add(timeMs: number, price: number, use: 'any' | 'average' = 'any'): void {
    if (timeMs % 1000 !== 0) return;
    const second = timeMs / 1000;
    const slot = second % KEPT_SECONDS;
    const known = this.#seconds[slot] as number;
    if (known > second) return;
    if (known === second) {
      if (use === 'any') this.#averaged[slot] = 0;
      return;
    }
    this.#seconds[slot] = second;
    this.#prices[slot] = price;
    this.#averaged[slot] = use === 'average' ? 1 : 0;
  }

  at(timeMs: number): number | null {
    const slot = (timeMs / 1000) % KEPT_SECONDS;
    return this.#averaged[slot] === 1 ? null : this.#received(timeMs);
  }

  meanUntil(endMs: number, seconds: number): number | null {
    return meanOf((timeMs) => this.#received(timeMs), endMs, seconds);
  }

  #received(timeMs: number): number | null {
    const second = timeMs / 1000;
    const slot = second % KEPT_SECONDS;
    return this.#seconds[slot] === second ? (this.#prices[slot] as number) : null;
  }
}

/** A trade's price is valid until the next trade, but a feed without trades for longer than this may be dead. */
const TRADE_HOLDS_SECONDS = 5;

/** Trades: the price of a second is that of the last trade before or at it. */
export class TradeTape implements Tape {
  readonly #points = new Map<number, { timeMs: number; price: number }>();
  #newestSecond = Number.NEGATIVE_INFINITY;

  /** Trades of one second may arrive in any order; the latest by the venue's time is kept. */
  add(timeMs: number, price: number): void {
    const second = Math.ceil(timeMs / 1000);
    const known = this.#points.get(second);
    if (known !== undefined && known.timeMs > timeMs) return;
    this.#points.set(second, { timeMs, price });
    this.#newestSecond = Math.max(this.#newestSecond, second);
    if (known !== undefined || this.#points.size <= KEPT_SECONDS) return;
    for (const kept of this.#points.keys()) if (kept <= second - KEPT_SECONDS) this.#points.delete(kept);
    // Only times that jump back can leave more.
    if (this.#points.size > 2 * KEPT_SECONDS) this.#points.clear();
  }

  /** Null also until a later trade has arrived: another trade of that second may still arrive. */
  at(timeMs: number): number | null {
    const second = timeMs / 1000;
    if (this.#newestSecond <= second) return null;
    for (let back = 0; back <= TRADE_HOLDS_SECONDS; back++) {
      const point = this.#points.get(second - back);
      if (point !== undefined) return point.price;
    }
    return null;
  }

  meanUntil(endMs: number, seconds: number): number | null {
    return meanOf((timeMs) => this.at(timeMs), endMs, seconds);
  }
}

function meanOf(priceAt: (timeMs: number) => number | null, endMs: number, seconds: number): number | null {
  let sum = 0;
  for (let back = seconds - 1; back >= 0; back--) {
    const price = priceAt(endMs - back * 1000);
    if (price === null) return null;
    sum += price;
  }
  return sum / seconds;
}
