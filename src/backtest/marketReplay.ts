/** Replays one market of a job in a worker thread. Pure: the tape is already loaded. */
import { MICRO_PER_USDC } from '../core/fees.ts';
import { tapeAtDepth } from '../core/session/depth.ts';
import { type PreparedMarket, prepareMarket } from '../core/session/prepare.ts';
import {
  coverageOf,
  type MarketReplay,
  replayMarket,
  replayResults,
  type SkipReason,
} from '../core/session/replay.ts';
import { needsOfAll, type RowNeeds } from '../core/session/rows.ts';
import type { SessionTerms } from '../core/session/session.ts';
import { NO_ORDERS } from '../core/session/sessionEvents.ts';
import type { MarketTape, Resolution } from '../core/session/tape.ts';
import { compileStrategy } from '../core/strategies/compile.ts';
import type { Cell } from './cells.ts';
import { depthOf } from './depth.ts';
import { type StressKind, stressedResolution } from './stress.ts';

/** Result of one backtest on one market. */
export interface MarketOutcome {
  readonly replay: MarketReplay;
  /** `coverageOf` the market. */
  readonly coverage: number;
  /** Under the job's stress, if that changes the market's resolution. */
  readonly stressed?: { readonly kind: StressKind; readonly replay: MarketReplay };
}

/** Results of a sweep's cells on one market. */
export interface MarketSweep {
  /** The reason if no cell could replay the market. */
  readonly skipped: SkipReason | null;
  readonly coverage: number;
  /** Trades of cell `n` are at `offsets[n]` up to `offsets[n + 1]`. */
  readonly offsets: Uint32Array;
  readonly closedMs: Float64Array;
  /** In whole micro-USD. */
  readonly pnl: Float64Array;
  /** The sum of each cell, if the job's stress annuls the market. */
  readonly stressedPnl?: Float64Array;
}

export function notReplayed(skipped: SkipReason): MarketOutcome {
  const nothing = { trades: [], orders: NO_ORDERS, paidOutCost: 0, costChanges: [] };
  return { replay: { skipped, ...nothing }, coverage: 0 };
}

export function notSwept(skipped: SkipReason, cells: number): MarketSweep {
  const none = { closedMs: new Float64Array(0), pnl: new Float64Array(0) };
  return { skipped, coverage: 0, offsets: new Uint32Array(cells + 1), ...none };
}

export function replayOne(tape: MarketTape, resolution: Resolution | null, cell: Cell): MarketOutcome {
  const terms = termsOf(cell);
  const prepared = prepareMarket(tape, terms.strategy.needs);
  const outcome = { replay: replayMarket(prepared, terms, { resolution }), coverage: coverageOf(prepared) };
  const stressed = stressedBy(terms, tape, resolution);
  if (stressed === null) return outcome;
  const { kind } = stressed;
  const replay = replayMarket(prepared, terms, { resolution: stressed.resolution });
  return { ...outcome, stressed: { kind, replay } };
}

function stressedBy({ params: { stress } }: SessionTerms, tape: MarketTape, resolution: Resolution | null) {
  if (stress === undefined || resolution === null) return null;
  return stressedResolution(tape.market.marketId, { stress, resolution });
}

/**
 * @param tape With books deep enough for the largest size of any cell.
 * @param runs `cellTerms` of the cells.
 */
export function replayCells(
  tape: MarketTape,
  resolution: Resolution | null,
  runs: readonly (SessionTerms | null)[],
): MarketSweep {
  const preparedFor = preparedByDepth(
    tape,
    needsOfAll(runs.flatMap((run) => (run === null ? [] : [run.strategy.needs]))),
  );
  const offsets = new Uint32Array(runs.length + 1);
  const annulled = annulledPnls(tape, resolution, runs);
  const closedMs: number[] = [];
  const pnls: number[] = [];
  let [tried, skips] = [0, 0];
  let skipped: SkipReason | null = null;
  for (const [at, terms] of runs.entries()) {
    if (terms !== null) {
      const prepared = preparedFor(terms);
      const replay = replayResults(prepared, terms, resolution);
      if (annulled !== null) {
        const { results } = replayResults(prepared, terms, annulled.resolution);
        annulled.pnl[at] = results.reduce((sum, { pnl }) => sum + (pnl ?? 0), 0);
      }
      for (const result of replay.results) {
        closedMs.push(result.closedMs ?? Number.NaN);
        pnls.push(result.pnl ?? 0);
      }
      tried++;
      if (replay.skipped !== null) skips++;
      skipped ??= replay.skipped;
    }
    offsets[at + 1] = pnls.length;
  }
  return {
    skipped: tried === skips ? skipped : null,
    coverage: coverageOf(preparedFor(null)),
    offsets,
    closedMs: Float64Array.from(closedMs),
    pnl: Float64Array.from(pnls),
    ...(annulled === null ? {} : { stressedPnl: annulled.pnl }),
  };
}

/** Where the job's stress annuls the market: how, and room for each cell's P&L. A late payout changes no P&L. */
function annulledPnls(
  tape: MarketTape,
  resolution: Resolution | null,
  runs: readonly (SessionTerms | null)[],
): { resolution: Resolution; pnl: Float64Array } | null {
  const terms = runs.find((run) => run !== null) ?? null;
  const stressed = terms === null ? null : stressedBy(terms, tape, resolution);
  if (stressed?.kind !== 'void') return null;
  return { resolution: stressed.resolution, pnl: new Float64Array(runs.length) };
}

/**
 * Prepares the rows of each depth once, with everything that any cell reads. `null` stands for the full depth of the
 * tape.
 */
function preparedByDepth(tape: MarketTape, needs: RowNeeds): (terms: SessionTerms | null) => PreparedMarket {
  const prepared = new Map<MarketTape, PreparedMarket>();
  const tapes = new Map<number, MarketTape>();
  const tapeOf = (depth: number) => {
    const known = tapes.get(depth) ?? tapeAtDepth(tape, depth);
    tapes.set(depth, known);
    return known;
  };
  return (terms) => {
    const of = terms === null ? tape : tapeOf(depthOf(terms.size / MICRO_PER_USDC));
    const known = prepared.get(of) ?? prepareMarket(of, needs);
    prepared.set(of, known);
    return known;
  };
}

/** Compiled terms per cell, built once per sweep; null for an invalid cell, which does not trade. */
export function cellTerms(cells: readonly (Cell | string)[]): (SessionTerms | null)[] {
  return cells.map((cell) => (typeof cell === 'string' ? null : termsOf(cell)));
}

function termsOf({ strategy, params, sizeUsd }: Cell): SessionTerms {
  const size = Math.round(sizeUsd * MICRO_PER_USDC);
  return { strategy: compileStrategy(strategy), size, params, execution: strategy.execution };
}
