/** What a strategy is to the session that runs it. */
import type { RowNeeds, Rows } from '../session/rows.ts';
import type { TapeMarket } from '../session/tape.ts';
import type { Token } from '../signals/signal.ts';
import type { Bound, Crossing } from './condition.ts';
import type { ReadingColumns } from './readingColumns.ts';

export const WAIT = 0;
export const BUY_YES = 1;
export const BUY_NO = 2;
export const TAKE_PROFIT = 3;
export const STOP_LOSS = 4;
export type Intent = typeof WAIT | typeof BUY_YES | typeof BUY_NO | typeof TAKE_PROFIT | typeof STOP_LOSS;

/** Nothing is bought (sold) at a row that reaches none of them. */
export interface Bounds {
  readonly entry: readonly Bound[];
  readonly exit: readonly Bound[];
}

/** One strategy on one market. It keeps its own memory; a new one forgets everything. */
export interface StrategyRun {
  /**
   * Called for every row up to the end of the window, in order and once, whether or not it may trade then.
   * @param held What is held, also while it is being sold.
   */
  decide(row: number, held: Token | null): Intent;
  /**
   * The first row from one on at which `decide` may want anything and the book is proven, or at which a gap becomes
   * known; `rows.count` when there is none. Rows before it need not be shown. Left out by what has to see every row.
   */
  readonly nextWish?: (from: number, held: Token | null) => number;
  /** All that it remembers, where that is all. Who leaves rows out has to set it as those rows would have. */
  readonly crossings?: readonly Crossing[];
}

/** A strategy ready to be run on any number of markets. */
export interface CompiledStrategy {
  readonly needs: RowNeeds & { readonly books: boolean };
  /** Most positions opened in one market, one at a time. */
  readonly tradesMax: number;
  /** False: what is bought is held to the resolution. */
  readonly exits: boolean;
  /** Null: there are none, or a run remembers more than crossings. */
  readonly bounds: Bounds | null;
  start(rows: Rows, market: TapeMarket): StrategyRun;
  /**
   * The same where all rows are there, decided from columns that its other runs share. It remembers nothing, so no row
   * has to be shown to it.
   */
  startRecorded?(columns: ReadingColumns): StrategyRun;
}
