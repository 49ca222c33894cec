import { Duplex } from 'node:stream';
import { StoreUnavailableError } from '../errors.ts';
import { BookRows } from '../store/bookRows.ts';
import type { Around } from './rows.ts';
import { SnapshotPrinter } from './snapshotText.ts';

/** Printed before anything else gets its turn: a fraction of a millisecond. */
const ROWS_A_TURN = 256;

/**
 * Turns the engine's binary books into a JSON body with the array of them, no faster than it is read: what the engine
 * sends at once is a few megabytes of text.
 */
export class SnapshotBody extends Duplex {
  readonly #rows = new BookRows();
  readonly #printer: SnapshotPrinter;
  readonly #count: number;
  readonly #around: Around;
  #printed = 0;
  /** Asks for the next bytes; null while there are none to print. */
  #more: (() => void) | null = null;
  #isWanted = false;
  /** It is printing, or will go on when others had their turn. */
  #isBusy = false;

  /**
   * @param options.count Books there must be: fewer are an answer cut short, which fails the stream.
   * @param options.ticker As printed in each snapshot.
   * @param around The text before and after the array.
   */
  constructor({ count, ticker }: { count: number; ticker: string }, around: Around) {
    super();
    this.#count = count;
    this.#around = around;
    this.#printer = new SnapshotPrinter(ticker);
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#rows.add(bytes);
    this.#more = done;
    this.#print();
  }

  override _read(): void {
    this.#isWanted = true;
    this.#print();
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#printed !== this.#count || !this.#rows.isWhole) {
      done(new StoreUnavailableError('the engine ended its answer early'));
      return;
    }
    const { prefix, suffix } = this.#around;
    this.push(this.#count === 0 ? `${prefix}[]${suffix}` : `]${suffix}`);
    this.push(null);
    done();
  }

  #print(): void {
    if (this.#isBusy || !this.#isWanted || this.#more === null) return;
    this.#isBusy = true;
    if (this.#printTurn()) {
      // Also what is no whole piece: the client is not made to wait for the next block.
      const piece = this.#printer.take();
      if (piece.length > 0) this.#send(piece);
      const more = this.#more;
      this.#more = null;
      this.#isBusy = false;
      more();
      return;
    }
    // What has come meanwhile would else be printed before everybody else's request.
    setImmediate(() => {
      this.#isBusy = false;
      if (!this.destroyed) this.#print();
    });
  }

  /** @returns Whether all that came is printed. */
  #printTurn(): boolean {
    for (let left = ROWS_A_TURN; left > 0; left--) {
      const row = this.#rows.next();
      if (row === null) return true;
      if (this.#printed === 0) this.push(this.#around.prefix);
      const piece = this.#printer.print(row, this.#printed++ === 0 ? '[' : ',');
      if (piece) this.#send(piece);
    }
    return false;
  }

  #send(piece: Buffer): void {
    if (!this.push(piece)) this.#isWanted = false;
  }
}
