/**
 * Probability of backtest overfitting: how often the trial that is best on one half of the data is no better than
 * the middle on the other half, over all ways to halve it (combinatorially symmetric cross-validation).
 * @see Bailey, Borwein, López de Prado, Zhu 2017, https://doi.org/10.21314/JCF.2016.322
 */

/** Results of all trials, period by period. */
export interface TrialResults {
  /** Result of trial `n` in period `t` at `t * trials + n`, periods in order of time. */
  readonly results: Float64Array;
  readonly periods: number;
  readonly trials: number;
}

/** Most blocks the periods are cut into: 12,870 halvings. */
export const BLOCKS_MAX = 16;
const BLOCKS_MIN = 4;
/** A block of fewer periods has no deviation worth the name. */
const BLOCK_PERIODS_MIN = 2;

/** Even number of blocks for so many periods; null where they are too few to be halved in a meaningful way. */
export function blocksFor(periods: number): number | null {
  const blocks = Math.min(BLOCKS_MAX, 2 * Math.floor(periods / (2 * BLOCK_PERIODS_MIN)));
  return blocks < BLOCKS_MIN ? null : blocks;
}

/**
 * @param blocks Even, 2..16; periods beyond the last whole block are left out at the beginning.
 * @returns In [0, 1]: near 0.5 for noise (a little below with few trials), 0 for a trial that is best everywhere;
 *   null with fewer than two trials or too few periods.
 */
export function overfittingProbability(
  { results, periods, trials }: TrialResults,
  blocks = blocksFor(periods),
): number | null {
  if (blocks === null || trials < 2 || periods < blocks) return null;
  const sums = blockSums({ results, periods, trials }, blocks);
  const halves = halvings(blocks);
  const inSample = new Float64Array(trials);
  const outOfSample = new Float64Array(trials);
  let overfit = 0;
  for (const half of halves) {
    score(sums, half, inSample);
    score(sums, ~half, outOfSample);
    const best = indexOfMaximum(inSample);
    if (rankShare(outOfSample, best) <= 0.5) overfit++;
  }
  return overfit / halves.length;
}

interface BlockSums {
  readonly blocks: number;
  readonly trials: number;
  readonly size: number;
  /** Of block `b` and trial `n` at `b * trials + n`. */
  readonly sums: Float64Array;
  readonly squares: Float64Array;
}

/** Sharpe's ratio needs only sums, and those of a half are the sums of its blocks. */
function blockSums({ results, periods, trials }: TrialResults, blocks: number): BlockSums {
  const size = Math.floor(periods / blocks);
  const skipped = periods - size * blocks;
  const sums = new Float64Array(blocks * trials);
  const squares = new Float64Array(blocks * trials);
  for (let period = 0; period < size * blocks; period++) {
    const to = Math.floor(period / size) * trials;
    const from = (skipped + period) * trials;
    for (let trial = 0; trial < trials; trial++) {
      const value = results[from + trial] as number;
      sums[to + trial] = (sums[to + trial] as number) + value;
      squares[to + trial] = (squares[to + trial] as number) + value * value;
    }
  }
  return { blocks, trials, size, sums, squares };
}

/** Sharpe ratio of each trial over the blocks whose bit is set; a trial without variation is worth its sign. */
function score({ blocks, trials, size, sums, squares }: BlockSums, half: number, into: Float64Array): void {
  const chosen: number[] = [];
  for (let block = 0; block < blocks; block++) if ((half >> block) & 1) chosen.push(block * trials);
  const count = chosen.length * size;
  for (let trial = 0; trial < trials; trial++) {
    let [sum, square] = [0, 0];
    for (let i = 0; i < chosen.length; i++) {
      const at = (chosen[i] as number) + trial;
      sum += sums[at] as number;
      square += squares[at] as number;
    }
    const mean = sum / count;
    const variance = square / count - mean * mean;
    into[trial] = variance > 1e-18 * mean * mean ? mean / Math.sqrt(variance) : Math.sign(mean);
  }
}

/** Every choice of half the blocks, as bits. */
function halvings(blocks: number): number[] {
  const found: number[] = [];
  for (let bits = 0; bits < 1 << blocks; bits++) {
    let ones = 0;
    for (let rest = bits; rest !== 0; rest &= rest - 1) ones++;
    if (ones === blocks / 2) found.push(bits);
  }
  return found;
}

function indexOfMaximum(values: Float64Array): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if ((values[i] as number) > (values[best] as number)) best = i;
  return best;
}

/** Where a trial stands among all, in (0, 1): its rank, ties counted half, over their number plus one. */
function rankShare(values: Float64Array, at: number): number {
  const own = values[at] as number;
  let rank = 1;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (value < own) rank++;
    else if (value === own && i !== at) rank += 0.5;
  }
  return rank / (values.length + 1);
}
