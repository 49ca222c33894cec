/**
 * The mids of the last whole seconds, one a second, so that their mean and deviation do not depend on how often a book
 * changes. The last mid of a second is its sample, and that of following seconds without a change.
 */
export class SecondMids {
  /** Twice the mid, in ticks: whole, so that the sums below are exact. */
  readonly #samples: Float64Array;
  #next = 0;
  #filled = 0;
  #sum = 0;
  #squares = 0;
  #second = 0;
  /** Of the current second; NaN until a mid was seen since the last break. */
  #last = Number.NaN;

  constructor(seconds: number) {
    this.#samples = new Float64Array(seconds);
  }

  /** Whether all its seconds are known; without them `mean` and `variance` mean nothing. */
  get isFull(): boolean {
    return this.#filled === this.#samples.length;
  }

  /** Of the doubled mids, in ticks; without the current second. */
  get mean(): number {
    return this.#sum / this.#filled;
  }

  /**
   * With the divisor n - 1, in square ticks of the doubled mids. Never below 0: a single different mid outweighs the
   * rounding of whole sums.
   */
  get variance(): number {
    return (this.#squares - this.#sum * this.mean) / (this.#filled - 1);
  }

  /** @param doubled Twice the mid, in ticks. */
  push(timeMs: number, doubled: number): void {
    const second = Math.floor(timeMs / 1_000);
    if (!Number.isNaN(this.#last)) this.#pass(second - this.#second);
    this.#second = second;
    this.#last = doubled;
  }

  /** Call at a break: an untrusted book, or one with only one side. */
  restart(): void {
    this.#filled = this.#next = this.#sum = this.#squares = 0;
    this.#last = Number.NaN;
  }

  #pass(seconds: number): void {
    const { length } = this.#samples;
    for (let i = Math.min(seconds, length); i > 0; i--) {
      const oldest = this.#filled === length ? (this.#samples[this.#next] as number) : 0;
      this.#sum += this.#last - oldest;
      this.#squares += this.#last * this.#last - oldest * oldest;
      this.#samples[this.#next] = this.#last;
      this.#next = (this.#next + 1) % length;
      if (this.#filled < length) this.#filled++;
    }
  }
}
