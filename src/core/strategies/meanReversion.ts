import type { MeanReversion } from '../../schema/strategy.ts';
import type { Rows } from '../session/rows.ts';
import type { Token } from '../signals/signal.ts';
import { SecondMids } from './secondMids.ts';
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
    needs: { model: false, books: false, strike: false },
    tradesMax: 1,
    exits: true,
    bounds: null,
    start: (rows) => new MeanReversionRun(rows, strategy),
  };
}

class MeanReversionRun implements StrategyRun {
  readonly #rows: Rows;
  readonly #threshold: number;
  readonly #mids: SecondMids;

  constructor(rows: Rows, { lookback, z_threshold }: MeanReversion) {
    this.#rows = rows;
    this.#threshold = z_threshold;
    this.#mids = new SecondMids(lookback);
  }

  decide(row: number, held: Token | null): Intent {
    const { timeMs, trusted, yesBid, yesAsk } = this.#rows;
    const doubled = (yesBid[row] as number) + (yesAsk[row] as number);
    if (trusted[row] === 0 || Number.isNaN(doubled)) {
      this.#mids.restart();
      return WAIT;
    }
    this.#mids.push(timeMs[row] as number, doubled);
    return this.#mids.isFull ? this.#intent(doubled, held) : WAIT;
  }

  #intent(doubled: number, held: Token | null): Intent {
    const { mean, variance } = this.#mids;
    if (held === 'yes') return doubled >= mean ? TAKE_PROFIT : WAIT;
    if (held === 'no') return doubled <= mean ? TAKE_PROFIT : WAIT;
    if (!(variance > 0)) return WAIT;
    const z = (doubled - mean) / Math.sqrt(variance);
    if (z <= -this.#threshold) return BUY_YES;
    return z >= this.#threshold ? BUY_NO : WAIT;
  }
}
