/**
 * Rates of the negative controls: how often worthless strategies pass, and how often intervals contain the known value.
 */

import { Random } from '../../src/core/random.ts';
import { resultIntervals } from '../../src/core/statistics/bootstrap.ts';
import {
  Coverage,
  type FairPath,
  fairPath,
  judgeOutcomes,
  passes,
  type SignedMarket,
  signedMarkets,
  signOutcome,
  thresholdOutcome,
  withShuffledOutcomes,
} from './worthlessSweeps.ts';

const DIRECTIONS = ['above', 'below'] as const;
const WIDE = steps(0.05, 0.95, 19);
/** Nearly certain bets: they hardly ever lose, and then show no deviation. */
const DEAR = steps(0.9, 0.98, 9);
const SIGN_THRESHOLDS = steps(0, 1.1, 12);
/** Threshold of the strategy whose intervals are counted: it trades nine of ten markets. */
const COVERED_THRESHOLD = 0.1;

interface Amount {
  readonly markets: number;
  readonly seeds: number;
}

/** Shares of worthless sweeps that pass: over all thresholds, close to the best cell, and of expensive bets. */
export function fairMarketPasses({ markets, seeds }: Amount): { wide: number; zoomed: number; dear: number } {
  const passed = { wide: 0, zoomed: 0, dear: 0 };
  for (let seed = 0; seed < seeds; seed++) {
    const random = new Random(`worthless ${markets} ${seed}`);
    const paths = Array.from({ length: markets }, () => fairPath(random));
    for (const direction of DIRECTIONS) {
      const wide = judgedThresholds(paths, WIDE, direction);
      const near = closeTo(WIDE[wide.luck.best ?? 0] as number);
      passed.wide += Number(passes(wide));
      // As if run by another account: the cells of the wide sweep do not count.
      passed.zoomed += Number(passes(judgedThresholds(paths, near, direction)));
      passed.dear += Number(passes(judgedThresholds(paths, DEAR, direction)));
    }
  }
  const sweeps = seeds * DIRECTIONS.length;
  const { wide, zoomed, dear } = passed;
  return { wide: wide / sweeps, zoomed: zoomed / sweeps, dear: dear / sweeps };
}

/** Shares of sweeps over a true sign that pass: with the markets' own outcomes, and with shuffled ones. */
export function shuffledPasses({ markets, seeds }: Amount): { own: number; shuffled: number } {
  let [own, shuffled] = [0, 0];
  for (let seed = 0; seed < seeds; seed++) {
    const random = new Random(`control ${seed}`);
    const signed = signedMarkets(random, markets);
    own += Number(passes(judgedSigns(signed)));
    shuffled += Number(passes(judgedSigns(withShuffledOutcomes(signed, random))));
  }
  return { own: own / seeds, shuffled: shuffled / seeds };
}

/**
 * Shares of 95 % intervals that contain the true value with shuffled outcomes: P&L and Sharpe 0, half of the trades
 * won.
 */
export function shuffledCoverage({ markets, seeds }: Amount): {
  pnl: number;
  sharpe: number;
  winRate: number;
} {
  const covered = { pnl: new Coverage(), sharpe: new Coverage(), winRate: new Coverage() };
  for (let seed = 0; seed < seeds; seed++) {
    const random = new Random(`coverage ${markets} ${seed}`);
    const traded = withShuffledOutcomes(signedMarkets(random, markets), random).flatMap((market) => {
      const pnl = signOutcome(market, COVERED_THRESHOLD);
      return pnl === null ? [] : [{ pnl, trades: 1, won: Number(pnl > 0) }];
    });
    const intervals = resultIntervals(traded, random);
    covered.pnl.add(intervals?.totalPnl, 0);
    covered.sharpe.add(intervals?.sharpePerMarket, 0);
    covered.winRate.add(intervals?.winRate, 0.5);
  }
  const { pnl, sharpe, winRate } = covered;
  return { pnl: pnl.share, sharpe: sharpe.share, winRate: winRate.share };
}

function judgedThresholds(
  paths: readonly FairPath[],
  thresholds: readonly number[],
  direction: (typeof DIRECTIONS)[number],
) {
  return judgeOutcomes(
    paths.map((path) => thresholds.map((threshold) => thresholdOutcome(path, threshold, direction))),
  );
}

function judgedSigns(markets: readonly SignedMarket[]) {
  return judgeOutcomes(
    markets.map((market) => SIGN_THRESHOLDS.map((threshold) => signOutcome(market, threshold))),
  );
}

/** The thresholds of a second, finer sweep around the best cell of the first. */
function closeTo(threshold: number): number[] {
  return steps(Math.max(0.01, threshold - 0.02), Math.min(0.98, threshold + 0.02), 40);
}

function steps(from: number, to: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => from + (at * (to - from)) / (count - 1));
}
