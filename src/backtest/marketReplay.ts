/** Replays one market of a job in a worker thread. Pure: the tape is already loaded. */
import { hash } from 'node:crypto';
import { MICRO_PER_USDC } from '../core/fees.ts';
import { tapeAtDepth } from '../core/session/depth.ts';
import { type PreparedMarket, prepareMarket } from '../core/session/prepare.ts';
import { coverageOf, type MarketReplay, replayMarket, type SkipReason } from '../core/session/replay.ts';
import type { SessionTerms } from '../core/session/session.ts';
import { NO_ORDERS } from '../core/session/sessionEvents.ts';
import type { MarketTape, Resolution } from '../core/session/tape.ts';
import { compileStrategy } from '../core/strategies/compile.ts';
import type { Cell } from './cells.ts';
import { depthOf } from './depth.ts';

/** Result of one backtest on one market. */
export interface MarketOutcome {
  readonly replay: MarketReplay;
  /** `coverageOf` the market. */
  readonly coverage: number;
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
}

export function notReplayed(skipped: SkipReason): MarketOutcome {
  return { replay: { skipped, trades: [], orders: NO_ORDERS }, coverage: 0 };
}

export function notSwept(skipped: SkipReason, cells: number): MarketSweep {
  const none = { closedMs: new Float64Array(0), pnl: new Float64Array(0) };
  return { skipped, coverage: 0, offsets: new Uint32Array(cells + 1), ...none };
}

export function replayOne(tape: MarketTape, resolution: Resolution | null, cell: Cell): MarketOutcome {
  const terms = termsOf(cell);
  const prepared = prepareMarket(tape, terms.strategy.needs);
  return { replay: replayMarket(prepared, terms, { resolution }), coverage: coverageOf(prepared) };
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
  const preparedFor = preparedByDepth(tape, { model: runs.some((run) => run?.strategy.needs.model) });
  const offsets = new Uint32Array(runs.length + 1);
  const closedMs: number[] = [];
  const pnls: number[] = [];
  let [tried, skips] = [0, 0];
  let skipped: SkipReason | null = null;
  for (const [at, terms] of runs.entries()) {
    if (terms !== null) {
      const replay = replayMarket(preparedFor(terms), terms, { resolution });
      for (const trade of replay.trades) {
        closedMs.push(trade.closedMs ?? Number.NaN);
        pnls.push(trade.pnl ?? 0);
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
  };
}

/**
 * Prepares the rows of each depth once, with everything that any cell reads. `null` stands for the full depth of the
 * tape.
 */
function preparedByDepth(
  tape: MarketTape,
  needs: { model: boolean },
): (terms: SessionTerms | null) => PreparedMarket {
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

/** SHA-256 in hex over all data that a replay of the market can read. */
export function tapeHash(
  { market, quotes, books, prices, trades, gaps }: MarketTape,
  resolution: Resolution | null,
): string {
  const parts: string[] = [JSON.stringify({ market, gaps, resolution })];
  const columns = [quotes, books ?? {}, prices ?? {}, trades ?? {}].flatMap((part) => Object.entries(part));
  for (const [name, column] of columns) {
    if (ArrayBuffer.isView(column)) parts.push(`${name} ${bytesHash(column)}`);
    else if (column !== null) {
      for (const [inner, view] of Object.entries(column as object)) {
        parts.push(`${name}.${inner} ${bytesHash(view as ArrayBufferView)}`);
      }
    }
  }
  return hash('sha256', parts.join('\n'), 'hex');
}

function bytesHash({ buffer, byteOffset, byteLength }: ArrayBufferView): string {
  return hash('sha256', Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength), 'hex');
}
