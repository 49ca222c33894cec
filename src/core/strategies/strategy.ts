/** What a strategy is to the session that runs it. */
import type { RowNeeds, Rows } from '../session/rows.ts';
import type { TapeMarket } from '../session/tape.ts';
import type { Token } from '../signals/signal.ts';
import type { Bound } from './bound.ts';
import type { Crossing } from './condition.ts';
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

/** One strategy on one market. It has its own memory; a new run starts empty. */
export interface StrategyRun {
  /**
   * Called for every row up to the end of the window, in order and once, whether or not it may trade then.
   * @param held The held token, also while it is being sold.
   */
  decide(row: number, held: Token | null): Intent;
  /**
   * The first row from `from` on with a proven book at which `decide` may return an intent, or at which a gap becomes
   * known; `rows.count` if there is none. Rows before it may be skipped. Undefined for a run that must see every row.
   */
  readonly nextWish?: (from: number, held: Token | null) => number;
  /**
   * Its whole memory, if it consists of crossings only. A caller that skips rows must update it as those rows would
   * have.
   */
  readonly crossings?: readonly Crossing[];
}

/** A strategy ready to run on any number of markets. */
export interface CompiledStrategy {
  /** `strike`: it reads values that are unknown without the strike. */
  readonly needs: RowNeeds & { readonly books: boolean; readonly strike: boolean };
  /** Maximum number of positions opened in one market, one at a time. */
  readonly tradesMax: number;
  /** False: positions are held to the resolution. */
  readonly exits: boolean;
  /** Null: there are none, or a run remembers more than crossings. */
  readonly bounds: Bounds | null;
  start(rows: Rows, market: TapeMarket): StrategyRun;
  /**
   * The same for recorded rows, decided from columns shared with other runs. It has no memory, so rows may be skipped.
   */
  startRecorded?(columns: ReadingColumns): StrategyRun;
}
