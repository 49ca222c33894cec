import { type Clock, every, type Timer } from '../runtime/clock.ts';
import { EVENT_TYPES, TICKERS } from '../schema/market.ts';
import { printJson } from '../schema/moneyJson.ts';
import { formatTime } from '../schema/time.ts';
import type { Board } from '../signals/liveBoard.ts';
import { ENGINE_SIGMA_SECONDS } from '../signals/watchedMarket.ts';
import type { Connection } from './connection.ts';

/** A changed board is told this often at most: faster than an eye reads numbers. */
export const TELL_MS = 250;
/** More than there can be: each market of the windows followed has one chance a tier. */
const ROWS_MAX = 200;
/** Everything, as the detectors have it; a reader leaves out what is not asked for. */
const WHOLE = {
  ...{ minEdge: 0, limit: ROWS_MAX, sigmaSeconds: ENGINE_SIGMA_SECONDS },
  ...{ tickers: TICKERS, eventTypes: EVENT_TYPES },
};

type Reader = Pick<Connection, 'send' | 'answer' | 'isPressed' | 'onDrained' | 'onClosed'>;

/**
 * The board of chances to whoever looks at it: whole at first, and whole again when anything of it has changed. It is read
 * once for all readers, and not at all while there is none.
 */
export class BoardStream {
  readonly #board: () => Board;
  readonly #clock: Clock;
  readonly #readers = new Set<Reader>();
  /** Were under pressure when the board changed last. */
  readonly #behind = new Set<Reader>();
  #timer: Timer | null = null;
  #rows = '';
  #message = Buffer.alloc(0);

  /** @param board Asked for when it is first looked at. */
  constructor(board: () => Board, clock: Clock) {
    this.#board = board;
    this.#clock = clock;
  }

  add(reader: Reader): void {
    // Whatever is found out for this one is news to the others too.
    this.#look();
    reader.answer(this.#message.toString());
    this.#readers.add(reader);
    this.#timer ??= every(this.#clock, TELL_MS, () => this.#look());
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

  /** Reads the board, and tells everybody of it if it has changed. */
  #look(): void {
    const { asOfMs, opportunities } = this.#board().read(WHOLE);
    const rows = printJson(opportunities);
    if (rows === this.#rows) return;
    this.#rows = rows;
    this.#message = Buffer.from(`{"type":"board","as_of":"${formatTime(asOfMs)}","opportunities":${rows}}`);
    for (const reader of this.#readers) {
      // Nothing waits in line for who is slow: what comes next replaces it.
      if (reader.isPressed) this.#behind.add(reader);
      else reader.send(this.#message);
    }
  }
}
