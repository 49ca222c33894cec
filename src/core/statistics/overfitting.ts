/**
 * Probability of backtest overfitting: how often the trial that is best on one half of the data is no better than the
 * median on the other half, over all ways to halve it (combinatorially symmetric cross-validation).
 * @see Bailey, Borwein, López de Prado, Zhu 2017, https://doi.org/10.21314/JCF.2016.322
 */

/** Results of all trials, period by period. */
export interface TrialResults {
  /** Result of trial `n` in period `t` at `t * trials + n`, periods in order of time. */
  readonly results: Float64Array;
  readonly periods: number;
  readonly trials: number;
}

/** Maximum number of blocks that the periods are cut into: 12,870 halvings. */
const BLOCKS_MAX = 16;
const BLOCKS_MIN = 4;
/** A block of fewer periods has no meaningful deviation. */
const BLOCK_PERIODS_MIN = 2;

/** Even number of blocks for a number of periods; null if they are too few for meaningful halves. */
export function blocksFor(periods: number): number | null {
  const blocks = Math.min(BLOCKS_MAX, 2 * Math.floor(periods / (2 * BLOCK_PERIODS_MIN)));
  return blocks < BLOCKS_MIN ? null : blocks;
}

/**
 * @param blocks Even, 2..16; surplus periods are left out at the beginning.
 * @returns In [0, 1]: near 0.5 for noise (a little below with few trials), 0 for a trial that is best everywhere; null
 * with fewer than two trials or too few periods.
 */
export function overfittingProbability(
  { results, periods, trials }: TrialResults,
  blocks = blocksFor(periods),
): number | null {
  if (blocks === null || trials < 2 || periods < blocks) return null;
  const halves = new Halves(distinctOf(blockSums({ results, periods, trials }, blocks)));
  return halves.overfit() / halves.count;
}

interface BlockSums {
  readonly blocks: number;
  readonly trials: number;
  readonly size: number;
  /** Of block `b` and trial `n` at `b * trials + n`. */
  readonly sums: Float64Array;
  readonly squares: Float64Array;
}

/** Each distinct trial once, in the order of their first ones. Neighbours in a grid often make the same trades. */
interface DistinctSums extends BlockSums {
  /** How many trials are equal to each distinct one, itself included. */
  readonly copies: Uint32Array;
  /** Number of trials, copies included. */
  readonly all: number;
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

function distinctOf(all: BlockSums): DistinctSums {
  const { blocks, trials } = all;
  const counts = new Map<string, { readonly trial: number; copies: number }>();
  const own = new Float64Array(2 * blocks);
  for (let trial = 0; trial < trials; trial++) {
    for (let block = 0; block < blocks; block++) {
      own[block] = all.sums[block * trials + trial] as number;
      own[blocks + block] = all.squares[block * trials + trial] as number;
    }
    const key = own.join();
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { trial, copies: 1 });
    else known.copies++;
  }
  const distinct = [...counts.values()];
  const columnsOf = (sums: Float64Array) =>
    Float64Array.from({ length: blocks * distinct.length }, (_, at) => {
      const { trial } = distinct[at % distinct.length] as { trial: number };
      return sums[Math.floor(at / distinct.length) * trials + trial] as number;
    });
  return {
    ...{ blocks, size: all.size, trials: distinct.length },
    ...{ sums: columnsOf(all.sums), squares: columnsOf(all.squares) },
    ...{ copies: Uint32Array.from(distinct, ({ copies }) => copies), all: trials },
  };
}

/** Sums of every trial over the chosen blocks, and the resulting ratios. */
interface Chosen {
  /** After `n` blocks, at `n`. */
  readonly sums: readonly Float64Array[];
  readonly squares: readonly Float64Array[];
  readonly scores: Float64Array;
}

/**
 * All ways to halve the blocks. Blocks are assigned to one half or the other in order, so halvings with the same
 * beginning share its sums. Each halving is judged in both directions, so only half of them are enumerated.
 */
class Halves {
  /** Halvings, each direction counted. */
  count = 0;
  readonly #blocks: DistinctSums;
  readonly #one: Chosen;
  readonly #other: Chosen;

  constructor(blocks: DistinctSums) {
    this.#blocks = blocks;
    const columns = () =>
      Array.from({ length: blocks.blocks / 2 + 1 }, () => new Float64Array(blocks.trials));
    const chosen = () => ({ sums: columns(), squares: columns(), scores: new Float64Array(blocks.trials) });
    [this.#one, this.#other] = [chosen(), chosen()];
  }

  /** @returns Halvings whose best trial on one half is no better than the median on the other. */
  overfit(): number {
    this.#add(this.#one, 0, 0);
    return this.#deal(1, 1);
  }

  /** Assigns the blocks from `block` on; `taken` of the earlier ones belong to the first half. */
  #deal(block: number, taken: number): number {
    const { blocks } = this.#blocks;
    if (block === blocks) return this.#judge();
    let overfit = 0;
    if (taken < blocks / 2) {
      this.#add(this.#one, block, taken);
      overfit += this.#deal(block + 1, taken + 1);
    }
    if (block - taken < blocks / 2) {
      this.#add(this.#other, block, block - taken);
      overfit += this.#deal(block + 1, taken);
    }
    return overfit;
  }

  #add({ sums, squares }: Chosen, block: number, at: number): void {
    const from = block * this.#blocks.trials;
    addTo(sums[at + 1] as Float64Array, sums[at] as Float64Array, this.#blocks.sums, from);
    addTo(squares[at + 1] as Float64Array, squares[at] as Float64Array, this.#blocks.squares, from);
  }

  #judge(): number {
    this.count += 2;
    const { blocks, size } = this.#blocks;
    const count = (blocks / 2) * size;
    const one = scored(this.#one, count);
    const other = scored(this.#other, count);
    return (
      (rankShare(other, indexOfMaximum(one), this.#blocks) <= 0.5 ? 1 : 0) +
      (rankShare(one, indexOfMaximum(other), this.#blocks) <= 0.5 ? 1 : 0)
    );
  }
}

function addTo(into: Float64Array, before: Float64Array, block: Float64Array, from: number): void {
  for (let i = 0; i < into.length; i++) into[i] = (before[i] as number) + (block[from + i] as number);
}

/** Sharpe ratio of each trial over a whole half; for a trial without variation, the sign of its mean. */
function scored({ sums, squares, scores }: Chosen, count: number): Float64Array {
  const [sum, square] = [sums.at(-1) as Float64Array, squares.at(-1) as Float64Array];
  for (let trial = 0; trial < scores.length; trial++) {
    const mean = (sum[trial] as number) / count;
    const variance = (square[trial] as number) / count - mean * mean;
    scores[trial] = variance > 1e-18 * mean * mean ? mean / Math.sqrt(variance) : Math.sign(mean);
  }
  return scores;
}

function indexOfMaximum(values: Float64Array): number {
  let best = 0;
  for (let i = 1; i < values.length; i++) if ((values[i] as number) > (values[best] as number)) best = i;
  return best;
}

/** Rank of a trial among all and their copies, in (0, 1): ties count half, divided by the number of all plus one. */
function rankShare(values: Float64Array, at: number, { copies, all }: DistinctSums): number {
  const own = values[at] as number;
  let [less, equal] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    const count = copies[i] as number;
    if (value < own) less += count;
    else if (value === own) equal += count;
  }
  return (1 + less + (equal - 1) / 2) / (all + 1);
}
