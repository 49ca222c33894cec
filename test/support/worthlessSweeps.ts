/** Sweeps of strategies that are worth nothing by construction, as the judge of a sweep gets them. */
import type { Cell } from '../../src/backtest/cells.ts';
import type { MarketSweep } from '../../src/backtest/marketReplay.ts';
import { type JudgedSweep, judgeSweep, type SweptMarket } from '../../src/backtest/sweepReport.ts';
import { normalCdf } from '../../src/core/pricing/normal.ts';
import type { Random } from '../../src/core/random.ts';
import { CONFIDENCE } from '../../src/core/statistics/trackRecord.ts';
import type { Interval } from '../../src/core/statistics/wilson.ts';
import { DEFAULT_PARAMS } from '../../src/schema/api/strategies.ts';
import { TAPE_MARKET } from './tapes.ts';

const SIZE_USD = 10;
const STEPS = 60;
const HOUR_MS = 3_600_000;
/** No order is filled above the default `max_fill_price`. */
const PRICE_MAX = DEFAULT_PARAMS.max_fill_price;
const PRICE_MIN = 0.005;

/** Fair prices of one market's YES in order of time; the last one, 0 or 1, is what it pays. */
export type FairPath = Float64Array;

/** What a cell made of a market for each USD spent; null where it did not trade. */
export type Outcome = number | null;

/** A price that is the true probability at every moment: nothing that is decided by it alone has an edge. */
export function fairPath(random: Random): FairPath {
  const path = new Float64Array(STEPS);
  let walk = 0;
  for (let step = 0; step < STEPS; step++) {
    walk += random.normal();
    const left = STEPS - step - 1;
    path[step] = left === 0 ? Number(walk > 0) : normalCdf(walk / Math.sqrt(left));
  }
  return path;
}

/** Buys YES at the first price beyond the threshold and holds it to the end; nothing is paid for it but the price. */
export function thresholdOutcome(path: FairPath, threshold: number, direction: 'above' | 'below'): Outcome {
  const payout = path.at(-1) as number;
  for (const price of path.subarray(0, STEPS - 1)) {
    const isBeyond = direction === 'above' ? price > threshold : price < threshold;
    if (isBeyond && price <= PRICE_MAX && price >= PRICE_MIN) return payout / price - 1;
  }
  return null;
}

/** @param outcomes Of each market in order of time, what each cell made of it. */
export function judgeOutcomes(outcomes: readonly (readonly Outcome[])[], trialsBefore = 0): JudgedSweep {
  const markets = outcomes.map(
    (cells, at): SweptMarket => ({
      market: {
        ...TAPE_MARKET,
        ...{ marketId: `m${at}`, startTimeMs: at * HOUR_MS, endTimeMs: (at + 1) * HOUR_MS },
      },
      ranges: [flat(cells, (at + 1) * HOUR_MS)],
    }),
  );
  const cell: Cell = {
    strategy: { type: 'threshold_entry', threshold: 0.5, direction: 'below', side: 'buy_yes' },
    ...{ params: DEFAULT_PARAMS, sizeUsd: SIZE_USD },
  };
  const cells = (outcomes[0] ?? []).map(() => cell);
  return judgeSweep(markets, cells, { trialsBefore });
}

/** Whether a sweep would be believed. */
export function passes({ luck }: JudgedSweep): boolean {
  return luck.deflatedSharpe !== null && luck.deflatedSharpe >= CONFIDENCE;
}

function flat(cells: readonly Outcome[], closedMs: number): MarketSweep {
  const offsets = new Uint32Array(cells.length + 1);
  const pnl: number[] = [];
  for (const [at, outcome] of cells.entries()) {
    if (outcome !== null) pnl.push(Math.round(outcome * SIZE_USD * 1e6));
    offsets[at + 1] = pnl.length;
  }
  const times = new Float64Array(pnl.length).fill(closedMs);
  return { skipped: null, coverage: 1, offsets, closedMs: times, pnl: Float64Array.from(pnl) };
}

/** A market at its opening, and a sign that may say how it ends. */
export interface SignedMarket {
  readonly sign: number;
  /** Of either token, near one half. */
  readonly price: number;
  readonly isUp: boolean;
}

/** Markets whose sign does say how they end. */
export function signedMarkets(random: Random, count: number): SignedMarket[] {
  return Array.from({ length: count }, () => {
    const sign = random.normal();
    const price = (48 + random.below(5)) / 100;
    return { sign, price, isUp: random.chance(normalCdf(0.8 * sign)) };
  });
}

/** The negative control: every market keeps its sign and price, and gets the outcome of another. */
export function withShuffledOutcomes(markets: readonly SignedMarket[], random: Random): SignedMarket[] {
  const outcomes = markets.map(({ isUp }) => isUp);
  for (let at = outcomes.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [outcomes[at], outcomes[other]] = [outcomes[other] as boolean, outcomes[at] as boolean];
  }
  return markets.map((market, at) => ({ ...market, isUp: outcomes[at] as boolean }));
}

/** Buys what the sign says, where it says it loudly enough. */
export function signOutcome({ sign, price, isUp }: SignedMarket, threshold: number): Outcome {
  if (Math.abs(sign) <= threshold) return null;
  return sign > 0 === isUp ? 1 / price - 1 : -1;
}

/** How often 95 % intervals hold a figure that is known. */
export class Coverage {
  #runs = 0;
  #held = 0;

  add(interval: Interval | null | undefined, truth: number): void {
    this.#runs++;
    if (interval && interval.low <= truth && truth <= interval.high) this.#held++;
  }

  get share(): number {
    return this.#held / this.#runs;
  }
}
