/**
 * Position of our resting order in its level's queue. A recording shows neither whose orders were cancelled nor their
 * position, so the part of a decrease without a trade that was ahead of us is a model.
 * @see https://hftbacktest.readthedocs.io/en/latest/order_fill.html, read 2026-11
 */
export class QueuePosition {
  /** Units ahead of ours. */
  #ahead: number;
  /** Units of ours still waiting. */
  #waiting: number;
  readonly #power: number | null;

  /**
   * @param ahead Size displayed when we joined.
   * @param power Exponent n of the model that a cancel was behind us with odds back^n : front^n; null: always behind
   * us, which never flatters the result.
   */
  constructor({ ahead, size, power }: { ahead: number; size: number; power: number | null }) {
    this.#ahead = ahead;
    this.#waiting = size;
    this.#power = power;
  }

  get ahead(): number {
    return this.#ahead;
  }

  /** Applies a trade at our price. @returns Units of ours that it filled. */
  traded(size: number): number {
    const before = Math.min(this.#ahead, size);
    this.#ahead -= before;
    const filled = Math.min(this.#waiting, size - before);
    this.#waiting -= filled;
    return filled;
  }

  /** Applies a change of the displayed size (without ours) that was not a trade. */
  shown({ from, to }: { from: number; to: number }): void {
    if (to >= from) return;
    if (this.#power !== null) {
      const front = this.#ahead ** this.#power;
      const back = Math.max(0, from - this.#ahead) ** this.#power;
      const share = front + back === 0 ? 0 : front / (front + back);
      this.#ahead -= share * (from - to);
    }
    // The size ahead of us cannot exceed the displayed size.
    this.#ahead = Math.max(0, Math.min(this.#ahead, to));
  }
}
