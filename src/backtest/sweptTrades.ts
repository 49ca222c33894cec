/** Reads the trades of single cells from a sweep's flat arrays. A sweep has too many trades for objects. */
import { MICRO_PER_USDC } from '../core/fees.ts';
import type { MarketSweep } from './marketReplay.ts';

/** The trades of one cell. */
export interface CellTrades {
  /** P&L of its trades in closing order, in whole micro-USD. */
  readonly pnls: readonly number[];
  /** P&L of each market in USD, 0 if it did not trade. */
  readonly marketPnls: readonly number[];
  /** P&L of the markets it traded, in USD. */
  readonly tradedPnls: readonly number[];
  /** Indexes of the traded markets in `marketPnls`. */
  readonly tradedAt: readonly number[];
}

/**
 * @param markets For each market its ranges of cells, in the order of the cells.
 * @param cell Index among all cells.
 */
export function cellTrades(markets: readonly (readonly MarketSweep[])[], cell: number): CellTrades {
  const pnls: number[] = [];
  const closedMs: number[] = [];
  const marketPnls: number[] = [];
  const tradedPnls: number[] = [];
  const tradedAt: number[] = [];
  let inOrder = true;
  for (const ranges of markets) {
    const { range, at } = placeOf(ranges, cell);
    const [from, to] = [range.offsets[at] as number, range.offsets[at + 1] as number];
    let micro = 0;
    for (let i = from; i < to; i++) {
      const [pnl, timeMs] = [range.pnl[i] as number, range.closedMs[i] as number];
      micro += pnl;
      inOrder &&= closedMs.length === 0 || timeMs >= (closedMs.at(-1) as number);
      pnls.push(pnl);
      closedMs.push(timeMs);
    }
    if (to > from) {
      tradedAt.push(marketPnls.length);
      tradedPnls.push(micro / MICRO_PER_USDC);
    }
    marketPnls.push(micro / MICRO_PER_USDC);
  }
  return { pnls: inOrder ? pnls : ordered(pnls, closedMs), marketPnls, tradedPnls, tradedAt };
}

/** The P&L of one cell under the job's stress, in USD. Markets that it does not annul keep theirs. */
export function stressedPnl(markets: readonly (readonly MarketSweep[])[], cell: number): number {
  let micro = 0;
  for (const ranges of markets) {
    const { range, at } = placeOf(ranges, cell);
    const [from, to] = [range.offsets[at] as number, range.offsets[at + 1] as number];
    if (range.stressedPnl !== undefined) micro += range.stressedPnl[at] as number;
    else for (let i = from; i < to; i++) micro += range.pnl[i] as number;
  }
  return micro / MICRO_PER_USDC;
}

/** Trades that closed at the same time stay in the order of their markets. */
function ordered(pnls: readonly number[], closedMs: readonly number[]): number[] {
  return pnls
    .map((_, at) => at)
    .sort((a, b) => (closedMs[a] as number) - (closedMs[b] as number))
    .map((at) => pnls[at] as number);
}

function placeOf(ranges: readonly MarketSweep[], cell: number): { range: MarketSweep; at: number } {
  let at = cell;
  for (const range of ranges) {
    const cells = range.offsets.length - 1;
    if (at < cells) return { range, at };
    at -= cells;
  }
  throw new RangeError(`no cell ${cell}`);
}
