/** The interface between a strategy and the session that runs it. */
import type { ConditionMetric } from '../../schema/strategy.ts';
import type { RowNeeds, Rows } from '../session/rows.ts';
import type { TapeMarket } from '../session/tape.ts';
import type { Token } from '../signals/signal.ts';
import type { ReadingColumns } from './readingColumns.ts';

export const WAIT = 0;
export const BUY_YES = 1;
export const BUY_NO = 2;
export const TAKE_PROFIT = 3;
export const STOP_LOSS = 4;
export type Intent = typeof WAIT | typeof BUY_YES | typeof BUY_NO | typeof TAKE_PROFIT | typeof STOP_LOSS;

/** A value that conditions compare. */
export interface Reading {
  readonly metric: ConditionMetric;
  readonly token: Token;
  /** The price behind `token_price`: the ask before the token is held, the bid while it is. */
  readonly price: 'ask' | 'bid';
}

/** A crossing's memory: the value before the next row; NaN at first, and after a break. */
export interface Crossing {
  readonly reading: Reading;
  before: number;
}

/** A threshold: reached at a row whose reading is beyond the value or, for a crossing, has just passed it. */
export interface Bound {
  readonly reading: Reading;
  readonly side: 'above' | 'below';
  /** The remembered reading before the row must be on the other side or at the value. */
  readonly crosses: boolean;
  readonly value: number;
}

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
  readonly needs: RowNeeds & { readonly books: boolean };
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
