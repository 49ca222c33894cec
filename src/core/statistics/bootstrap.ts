/**
 * How far chance alone could have moved a backtest's figures: 95 % intervals by a circular block bootstrap over the
 * traded markets. Blocks of neighbouring markets are drawn whole, so dependence between neighbours is kept.
 * @see Politis, Romano 1992, "A circular block-resampling procedure"; Hesterberg 2015,
 * https://doi.org/10.1080/00031305.2015.1089789 (expanded percentile intervals)
 */
import { normalCdf } from '../pricing/normal.ts';
import { RETURNS_MIN } from './returns.ts';
import { dependenceLength } from './serialCorrelation.ts';
import { type Interval, Z_95 } from './wilson.ts';

/** One less than a round number: the bounds are then exactly drawn figures. */
const RESAMPLES = 1_999;

/** A strategy's result in one traded market. */
export interface TradedMarket {
  /** In any one unit. */
  readonly pnl: number;
  readonly trades: number;
  readonly won: number;
}

/** Source of the draws; the same source gives the same intervals. */
interface Draws {
  /** A whole number in [0, count). */
  below(count: number): number;
}

export interface ResultIntervals {
  /** In the unit of the markets' P&L. */
  readonly totalPnl: Interval;
  readonly winRate: Interval;
  /** Null if the ratio is not defined, or a bound is not finite. */
  readonly sharpePerMarket: Interval | null;
}

/**
 * @param markets The traded markets in order of time.
 * @returns Null below 30 of them: too few for a reliable interval.
 */
export function resultIntervals(markets: readonly TradedMarket[], draws: Draws): ResultIntervals | null {
  const count = markets.length;
  if (count < RETURNS_MIN) return null;
  const length = dependenceLength(count);
  const mean = markets.reduce((sum, { pnl }) => sum + pnl, 0) / count;
  const blocks = new BlockSums(markets, { mean, length });
  const figures = [0, 1, 2].map(() => new Float64Array(RESAMPLES)) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const [totals, winRates, sharpes] = figures;
  for (let at = 0; at < RESAMPLES; at++) {
    const { deviation, square, trades, won } = blocks.resample(draws);
    totals[at] = count * mean + deviation;
    winRates[at] = won / trades;
    const variance = (square - deviation ** 2 / count) / (count - 1);
    const average = mean + deviation / count;
    // Rounding leaves a little variance among equal results.
    sharpes[at] = variance > 1e-18 * average ** 2 ? average / Math.sqrt(variance) : Math.sign(average) / 0;
  }
  const level = tailLevel(count, length);
  const sharpe = bounds(sharpes, level);
  const isDefined = Number.isFinite(sharpe.low) && Number.isFinite(sharpe.high);
  return {
    totalPnl: bounds(totals, level),
    winRate: bounds(winRates, level),
    sharpePerMarket: isDefined ? sharpe : null,
  };
}

/**
 * Share of the resamples outside each bound. Blocks drawn from the markets themselves vary less than new markets would
 * (by 1 - length / count), and their variance is itself estimated, from about 1.5 count / length independent blocks. So
 * the levels are widened as Student's distribution widens the normal one.
 */
function tailLevel(count: number, length: number): number {
  const freedom = (1.5 * count) / length - 1;
  // Cornish and Fisher's expansion of Student's quantile, within 0.001 from 10 degrees of freedom on.
  const student =
    Z_95 +
    (Z_95 ** 3 + Z_95) / (4 * freedom) +
    (5 * Z_95 ** 5 + 16 * Z_95 ** 3 + 3 * Z_95) / (96 * freedom ** 2);
  return normalCdf(-student * Math.sqrt(count / (count - length)));
}

function bounds(figures: Float64Array, level: number): Interval {
  figures.sort();
  const rank = Math.max(1, Math.floor((RESAMPLES + 1) * level));
  return { low: figures[rank - 1] as number, high: figures[RESAMPLES - rank] as number };
}

interface Sums {
  /** Of the P&L from its mean. */
  deviation: number;
  square: number;
  trades: number;
  won: number;
}

/** Running sums over the markets in a circle: any block is the difference of two of them. */
class BlockSums {
  readonly #count: number;
  readonly #length: number;
  readonly #deviation: Float64Array;
  readonly #square: Float64Array;
  readonly #trades: Float64Array;
  readonly #won: Float64Array;

  constructor(markets: readonly TradedMarket[], { mean, length }: { mean: number; length: number }) {
    this.#count = markets.length;
    this.#length = length;
    const running = (of: (market: TradedMarket) => number) => {
      const sums = new Float64Array(markets.length + length + 1);
      for (let at = 1; at < sums.length; at++) {
        const market = markets[(at - 1) % markets.length] as TradedMarket;
        sums[at] = (sums[at - 1] as number) + of(market);
      }
      return sums;
    };
    this.#deviation = running(({ pnl }) => pnl - mean);
    this.#square = running(({ pnl }) => (pnl - mean) ** 2);
    this.#trades = running(({ trades }) => trades);
    this.#won = running(({ won }) => won);
  }

  /** Draws as many markets as there are, block by block; the last block is cut. */
  resample(draws: Draws): Sums {
    const drawn = { deviation: 0, square: 0, trades: 0, won: 0 };
    for (let taken = 0; taken < this.#count; taken += this.#length) {
      const from = draws.below(this.#count);
      const to = from + Math.min(this.#length, this.#count - taken);
      drawn.deviation += (this.#deviation[to] as number) - (this.#deviation[from] as number);
      drawn.square += (this.#square[to] as number) - (this.#square[from] as number);
      drawn.trades += (this.#trades[to] as number) - (this.#trades[from] as number);
      drawn.won += (this.#won[to] as number) - (this.#won[from] as number);
    }
    return drawn;
  }
}
