/** Compares two runs market by market: the difference of their P&L, how far chance could have moved it, and a test. */
import { MICRO_PER_USDC } from '../core/fees.ts';
import { Random } from '../core/random.ts';
import { resultIntervals } from '../core/statistics/bootstrap.ts';
import { pairedTest } from '../core/statistics/pairedDifference.ts';
import { RETURNS_MIN } from '../core/statistics/returns.ts';
import { counted } from '../runtime/counted.ts';
import type { ComparedRun } from './comparedResult.ts';

const LEVEL = 0.05;
/** The same files always have the same interval. */
const SEED = 'compare 1';

interface Side {
  readonly name: string;
  readonly data_hash: string;
  readonly code_version: string;
  readonly markets_traded: number;
  /** Over the compared markets. */
  readonly total_pnl: number;
}

/** Money is USD; a figure that is not defined is null. Differences are A minus B. */
export interface Comparison {
  readonly a: Side;
  readonly b: Side;
  readonly same_data: boolean;
  readonly pairs: number;
  readonly traded_by_both: number;
  readonly traded_by_a_only: number;
  readonly traded_by_b_only: number;
  /** Traded by one of the two, and left out because one did not replay them or has no result in them yet. */
  readonly left_out: number;
  readonly difference: {
    readonly total: number;
    readonly per_market: number | null;
    readonly total_interval: readonly [number, number] | null;
    /** Share of the markets in which A earned more. */
    readonly better_share: number | null;
  };
  readonly test: {
    readonly name: string;
    readonly t: number;
    readonly freedom: number;
    readonly p: number;
    readonly block_length: number;
    readonly detectable_per_market: number;
  } | null;
  readonly conclusion: readonly string[];
}

type Figures = Omit<Comparison, 'conclusion'>;

/**
 * Pairs are the markets that at least one of the two traded: a market without a trade earned 0. A market that one of
 * them skipped, or in which one holds an open position, is left out. Blocks of pairs are drawn whole for the interval, so a
 * pair stays a pair.
 */
export function compareRuns(a: ComparedRun, b: ComparedRun): Comparison {
  const ids = [...new Set([...a.traded.keys(), ...b.traded.keys()])];
  const known = ids.filter((id) => hasResult(a, id) && hasResult(b, id)).sort(byTime(a, b));
  const difference = (id: string) => pnlOf(a, id) - pnlOf(b, id);
  const differences = known.map((id) => difference(id) / MICRO_PER_USDC);
  const total = known.reduce((sum, id) => sum + difference(id), 0) / MICRO_PER_USDC;
  const intervals = resultIntervals(
    differences.map((pnl) => ({ pnl, trades: 1, won: pnl > 0 ? 1 : 0 })),
    new Random(SEED),
  );
  const tested = pairedTest(differences);
  const better = differences.filter((value) => value > 0).length;
  const figures: Figures = {
    a: sideOf(a, known),
    b: sideOf(b, known),
    same_data: a.dataHash === b.dataHash,
    pairs: known.length,
    traded_by_both: known.filter((id) => a.traded.has(id) && b.traded.has(id)).length,
    traded_by_a_only: known.filter((id) => !b.traded.has(id)).length,
    traded_by_b_only: known.filter((id) => !a.traded.has(id)).length,
    left_out: ids.length - known.length,
    difference: {
      total,
      per_market: known.length === 0 ? null : total / known.length,
      total_interval: intervals === null ? null : [intervals.totalPnl.low, intervals.totalPnl.high],
      better_share: known.length === 0 ? null : better / known.length,
    },
    test: tested && {
      name: `paired t-test on means of blocks of ${tested.blockLength} markets, two-sided`,
      ...{ t: tested.t, freedom: tested.freedom, p: tested.p },
      block_length: tested.blockLength,
      detectable_per_market: tested.detectable,
    },
  };
  const isEqual = differences.every((value) => value === 0);
  return { ...figures, conclusion: conclusionOf(figures, { isEqual }) };
}

/**
 * What the figures allow to say, in words.
 * @param isEqual Both earned the same in each market; the total is 0 also where differences cancel out.
 */
function conclusionOf(
  { a, b, difference, test, pairs, ...figures }: Figures,
  { isEqual }: { isEqual: boolean },
): string[] {
  const [nameA, nameB] = a.name === b.name ? ['A', 'B'] : [`A (${a.name})`, `B (${b.name})`];
  const caution = figures.same_data ? [] : [DIFFERENT_DATA];
  if (pairs > 0 && isEqual) {
    const where = pairs === 1 ? 'the one market that was compared' : `each of ${pairs} markets`;
    return [`Both earned the same in ${where}.`, ...caution];
  }
  if (pairs < RETURNS_MIN) {
    const compared = counted(pairs, 'compared market is', 'compared markets are');
    return [`Nothing can be concluded: ${compared} fewer than ${RETURNS_MIN}.`, ...caution];
  }
  if (test === null && difference.total === 0) {
    return [
      'Both earned the same in every block of markets, but not in each market: no difference can be concluded.',
      ...caution,
    ];
  }
  const [winner, loser] = difference.total > 0 ? [nameA, nameB] : [nameB, nameA];
  const amount = Math.abs(difference.per_market ?? 0).toFixed(4);
  if (test === null) {
    return [
      `${winner} earned ${amount} USD a market more than ${loser} in every block of markets.`,
      ...caution,
    ];
  }
  const chance = `${Number((100 * test.p).toPrecision(2))} %`;
  const detectable = test.detectable_per_market.toFixed(4);
  if (test.p >= LEVEL) {
    return [
      `No difference can be concluded. Two equally good strategies differ at least this much in ${chance} of such comparisons.`,
      `${pairs} markets usually show a difference from ${detectable} USD a market on; this one is ${amount} USD.`,
      ...caution,
    ];
  }
  return [
    `${winner} earned more than ${loser}: ${amount} USD a market over ${pairs} markets. Two equally good strategies differ at least this much in ${chance} of such comparisons.`,
    'This is valid for one comparison decided beforehand. The best of several variants needs a lower percentage.',
    ...caution,
  ];
}

const DIFFERENT_DATA =
  'The two runs read different data. Part of the difference may come from the data and not from the strategies.';

function sideOf(run: ComparedRun, ids: readonly string[]): Side {
  return {
    name: run.name,
    data_hash: run.dataHash,
    code_version: run.codeVersion,
    markets_traded: ids.filter((id) => run.traded.has(id)).length,
    total_pnl: ids.reduce((sum, id) => sum + pnlOf(run, id), 0) / MICRO_PER_USDC,
  };
}

function pnlOf({ traded }: ComparedRun, id: string): number {
  return traded.get(id)?.pnl ?? 0;
}

/** A file that does not list its markets is assumed to have replayed those that it did not skip. */
function hasResult({ skipped, markets }: ComparedRun, id: string): boolean {
  return !skipped.has(id) && (markets === null || markets.has(id));
}

function byTime(a: ComparedRun, b: ComparedRun): (one: string, other: string) => number {
  const time = (id: string) => (a.traded.get(id) ?? b.traded.get(id))?.timeMs ?? 0;
  return (one, other) => time(one) - time(other) || (one < other ? -1 : 1);
}
