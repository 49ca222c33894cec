import { type Clock, every, type Timer } from '../runtime/clock.ts';
import { EVENT_TYPES, TICKERS } from '../schema/market.ts';
import { printJson } from '../schema/moneyJson.ts';
import { formatTime } from '../schema/time.ts';
import type { Board } from '../signals/liveBoard.ts';
import { ENGINE_SIGMA_SECONDS } from '../signals/watchedMarket.ts';
import type { Connection } from './connection.ts';

/** Shortest interval between two messages of a changed board: faster than an eye reads numbers. */
export const SEND_INTERVAL_MS = 250;
/** More than there can be: each market of the followed windows has one opportunity per kind. */
const ROWS_MAX = 200;
/** Selects every row of the board; clients filter the rows themselves. */
const WHOLE = {
  ...{ minEdge: 0, limit: ROWS_MAX, sigmaSeconds: ENGINE_SIGMA_SECONDS },
  ...{ tickers: TICKERS, eventTypes: EVENT_TYPES },
};

type Reader = Pick<Connection, 'send' | 'answer' | 'isPressed' | 'onDrained' | 'onClosed'>;

/**
 * Sends the board of opportunities to its readers: the whole board on joining, and again after each change. It is read
 * once for all readers, and not at all without readers.
 */
export class BoardStream {
  readonly #board: () => Board;
  readonly #clock: Clock;
  readonly #readers = new Set<Reader>();
  /** Readers that were under pressure at the last change. */
  readonly #behind = new Set<Reader>();
  #timer: Timer | null = null;
  #rows = '';
  #message = Buffer.alloc(0);

  /** @param board Called on the first read. */
  constructor(board: () => Board, clock: Clock) {
    this.#board = board;
    this.#clock = clock;
  }

  add(reader: Reader): void {
    // A change found by this read goes to the other readers too.
    this.#refresh();
    reader.answer(this.#message.toString());
    this.#readers.add(reader);
    this.#timer ??= every(this.#clock, SEND_INTERVAL_MS, () => this.#refresh());
    reader.onDrained = () => {
      if (this.#behind.delete(reader)) reader.send(this.#message);
    };
    reader.onClosed = () => {
      this.#readers.delete(reader);
      this.#behind.delete(reader);
      if (this.#readers.size > 0) return;
      this.#timer?.cancel();
      this.#timer = null;
    };
  }

  /** Reads the board, and sends it to all readers if it has changed. */
  #refresh(): void {
    const { asOfMs, opportunities } = this.#board().read(WHOLE);
    const rows = printJson(opportunities);
    if (rows === this.#rows) return;
    this.#rows = rows;
    this.#message = Buffer.from(`{"type":"board","as_of":"${formatTime(asOfMs)}","opportunities":${rows}}`);
    for (const reader of this.#readers) {
      // Nothing is queued for a slow reader: the next board replaces this one.
      if (reader.isPressed) this.#behind.add(reader);
      else reader.send(this.#message);
    }
  }
}
