import type { VenueTrade } from '../desk/limitOrder.ts';
import { TAPE_TRADE_SIDES, type TapeTrades } from './tape.ts';

/** The trades of a recorded market between its rows. */
export interface TradeRows {
  readonly trades: TapeTrades;
  /** For each trade: the first row received after it. */
  readonly nextRow: Int32Array;
}

/** Reads trades in order of arrival, row by row. */
export class TradeCursor {
  readonly #rows: TradeRows;
  #at = 0;

  constructor(rows: TradeRows) {
    this.#rows = rows;
  }

  /** Leaves out the trades received before a row or with it. */
  skipTo(row: number): void {
    const { nextRow } = this.#rows;
    let [low, high] = [this.#at, nextRow.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((nextRow[middle] as number) <= row) low = middle + 1;
      else high = middle;
    }
    this.#at = low;
  }

  /** The next trade received before a row; null: none. */
  before(row: number): VenueTrade | null {
    const { trades, nextRow } = this.#rows;
    const at = this.#at;
    if (at >= nextRow.length || (nextRow[at] as number) > row) return null;
    this.#at++;
    const side = TAPE_TRADE_SIDES[trades.side[at] as number];
    if (side === undefined) throw new RangeError(`no side ${trades.side[at]}`);
    return {
      side,
      price: trades.price[at] as number,
      size: trades.size[at] as number,
      eventTimeMs: trades.eventMs[at] as number,
      timeMs: trades.receivedMs[at] as number,
    };
  }
}
