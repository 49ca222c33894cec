import type { MeanReversion } from '../../schema/strategy.ts';
import type { Rows } from '../session/rows.ts';
import type { Token } from '../signals/signal.ts';
import {
  BUY_NO,
  BUY_YES,
  type CompiledStrategy,
  type Intent,
  type StrategyRun,
  TAKE_PROFIT,
  WAIT,
} from './strategy.ts';

/**
 * Buys the token that is cheap against its own recent mean, and sells it when the mean is reached again. The mean uses
 * one YES mid per second, so that it does not depend on how often a book changes.
 */
export function meanReversion(strategy: MeanReversion): CompiledStrategy {
  return {
    needs: { model: false, books: false },
    tradesMax: 1,
    exits: true,
    bounds: null,
    start: (rows) => new MeanReversionRun(rows, strategy),
  };
}

class MeanReversionRun implements StrategyRun {
  readonly #rows: Rows;
  readonly #threshold: number;
  /** Twice the mid, in ticks: whole, so that the sums below are exact. */
  readonly #samples: Float64Array;
  #next = 0;
  #filled = 0;
  #sum = 0;
  #squares = 0;
  #second = 0;
  /** Of the current second; NaN until a mid was seen since the last break. */
  #last = Number.NaN;

  constructor(rows: Rows, { lookback, z_threshold }: MeanReversion) {
    this.#rows = rows;
    this.#threshold = z_threshold;
    this.#samples = new Float64Array(lookback);
  }

  decide(row: number, held: Token | null): Intent {
    const { timeMs, trusted, yesBid, yesAsk } = this.#rows;
    const doubled = (yesBid[row] as number) + (yesAsk[row] as number);
    if (trusted[row] === 0 || Number.isNaN(doubled)) {
      this.#forget();
      return WAIT;
    }
    const second = Math.floor((timeMs[row] as number) / 1_000);
    if (!Number.isNaN(this.#last)) this.#pass(second - this.#second);
    this.#second = second;
    this.#last = doubled;
    if (this.#filled < this.#samples.length) return WAIT;
    return this.#intent(doubled, held);
  }

  #intent(doubled: number, held: Token | null): Intent {
    const count = this.#filled;
    const mean = this.#sum / count;
    if (held === 'yes') return doubled >= mean ? TAKE_PROFIT : WAIT;
    if (held === 'no') return doubled <= mean ? TAKE_PROFIT : WAIT;
    const variance = (this.#squares - this.#sum * mean) / (count - 1);
    if (!(variance > 0)) return WAIT;
    const z = (doubled - mean) / Math.sqrt(variance);
    if (z <= -this.#threshold) return BUY_YES;
    return z >= this.#threshold ? BUY_NO : WAIT;
  }

  /** The last mid of a second is its sample, and that of following seconds without a change. */
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

  /** The window restarts after a break: an untrusted book, or one with only one side. */
  #forget(): void {
    this.#filled = this.#next = this.#sum = this.#squares = 0;
    this.#last = Number.NaN;
  }
}
