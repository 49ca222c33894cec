/** Sweeps of strategies that are worthless by construction, in the form that a sweep's judge receives. */
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

/** Fair prices of one market's YES in time order; the last one, 0 or 1, is the payout. */
export type FairPath = Float64Array;

/** A cell's return in a market per USD spent; null where it did not trade. */
export type Outcome = number | null;

/** A price that always equals the true probability: a decision based only on it has no edge. */
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

/** Buys YES at the first price beyond the threshold and holds it to the end, without fees. */
export function thresholdOutcome(path: FairPath, threshold: number, direction: 'above' | 'below'): Outcome {
  const payout = path.at(-1) as number;
  for (const price of path.subarray(0, STEPS - 1)) {
    const isBeyond = direction === 'above' ? price > threshold : price < threshold;
    if (isBeyond && price <= PRICE_MAX && price >= PRICE_MIN) return payout / price - 1;
  }
  return null;
}

/** @param outcomes For each market in time order, the outcome of each cell. */
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

/** A market at its opening, and a sign that may predict its outcome. */
export interface SignedMarket {
  readonly sign: number;
  /** Price of either token, near one half. */
  readonly price: number;
  readonly isUp: boolean;
}

/** Markets whose sign predicts the outcome. */
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

/** Buys the side of the sign if the sign is strong enough. */
export function signOutcome({ sign, price, isUp }: SignedMarket, threshold: number): Outcome {
  if (Math.abs(sign) <= threshold) return null;
  return sign > 0 === isUp ? 1 / price - 1 : -1;
}

/** How often 95 % intervals contain a known figure. */
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
