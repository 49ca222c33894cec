/**
 * Where a resting order of ours stands in its level's queue. A recording shows neither who cancelled nor where they
 * stood, so how much of a decrease without a trade lay before us is a model.
 * @see https://hftbacktest.readthedocs.io/en/latest/order_fill.html, read 2026-11
 */
export class QueuePosition {
  /** Units before ours. */
  #ahead: number;
  /** Units of ours still waiting. */
  #waiting: number;
  readonly #power: number | null;

  /**
   * @param ahead Size displayed when we joined.
   * @param power Exponent n of the model that a cancel lay behind us with odds back^n : front^n; null: always behind
   *   us, which never flatters.
   */
  constructor({ ahead, size, power }: { ahead: number; size: number; power: number | null }) {
    this.#ahead = ahead;
    this.#waiting = size;
    this.#power = power;
  }

  get ahead(): number {
    return this.#ahead;
  }

  /** A trade at our price. @returns Units of ours it filled. */
  traded(size: number): number {
    const before = Math.min(this.#ahead, size);
    this.#ahead -= before;
    const filled = Math.min(this.#waiting, size - before);
    this.#waiting -= filled;
    return filled;
  }

  /** The displayed size, ours not in it, changed without a trade. */
  shown({ from, to }: { from: number; to: number }): void {
    if (to >= from) return;
    if (this.#power !== null) {
      const front = this.#ahead ** this.#power;
      const back = Math.max(0, from - this.#ahead) ** this.#power;
      const share = front + back === 0 ? 0 : front / (front + back);
      this.#ahead -= share * (from - to);
    }
    // No more can stand before us than is shown at all.
    this.#ahead = Math.max(0, Math.min(this.#ahead, to));
  }
}
