import { Duplex } from 'node:stream';
import { SnapshotPrinter } from '../print/snapshotText.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import type { Page, PageRequest } from '../store/queries/keyset.ts';
import { pageIn } from '../store/queries/pagedRows.ts';
import { borrowBookRowReader, returnBookRowReader } from '../store/tables/bookRowReader.ts';
import type { Around, PrintedBody } from './rows.ts';

/** Rows printed before other work may run: a fraction of a millisecond. */
const ROWS_A_TURN = 256;
const CUT = 'the engine ended its answer early';

/**
 * Turns the engine's binary books into a JSON body with an array of them, no faster than it is read. One block of the
 * engine becomes a few megabytes of text.
 */
export class SnapshotBody extends Duplex implements PrintedBody {
  readonly #rows = borrowBookRowReader();
  readonly #printer: SnapshotPrinter;
  readonly #found: Promise<readonly bigint[] | null>;
  /** Resolves `#found`; null once it is resolved. */
  #resolveFound: ((found: readonly bigint[] | null) => void) | null = null;
  #fail: (error: Error) => void = () => {};
  #frame: (Around & Pick<Page, 'count'>) | null = null;
  #printed = 0;
  /** Rows after those of the page, which are not printed. */
  #behind = 0;
  /** Requests the next bytes; null while there are none to print. */
  #more: (() => void) | null = null;
  #isWanted = false;
  /** Printing, or scheduled to continue after other work. */
  #isBusy = false;

  /** @param ticker Printed in each snapshot. */
  constructor(ticker: string) {
    super();
    this.#printer = new SnapshotPrinter(ticker);
    this.#found = new Promise((resolve, reject) => {
      this.#resolveFound = resolve;
      this.#fail = reject;
    });
    // Callers of `page` and readers of the body observe the error; suppress the unhandled-rejection warning.
    this.#found.catch(() => {});
    this.on('error', () => {});
  }

  async page(request: PageRequest): Promise<Page | null> {
    const found = await this.#found;
    if (found !== null) return pageIn(found, request);
    this.destroy();
    return null;
  }

  begin({ count }: Pick<Page, 'count'>, around: Around, behind = 0): void {
    this.#frame = { ...around, count };
    this.#behind = behind;
    this.#print();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#rows.add(bytes);
    this.#more = done;
    this.#guard(() => {
      if (!this.#rows.hasNext()) this.#requestMore();
      else if (this.#resolveFound) this.#setFound(this.#rows.extra());
    });
    this.#print();
  }

  override _read(): void {
    this.#isWanted = true;
    this.#print();
  }

  override _final(done: (error?: Error | null) => void): void {
    const [frame, printed] = [this.#frame, this.#printed];
    if (!this.#rows.isWhole || printed !== (frame?.count ?? 0)) {
      done(new StoreUnavailableError(CUT));
      return;
    }
    this.#setFound(null);
    if (frame) this.push(printed === 0 ? `${frame.prefix}[]${frame.suffix}` : `]${frame.suffix}`);
    this.push(null);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#fail(error ?? new StoreUnavailableError(CUT));
    this.#printer.close();
    returnBookRowReader(this.#rows);
    done(error);
  }

  #setFound(found: readonly bigint[] | null): void {
    this.#resolveFound?.(found);
    this.#resolveFound = null;
  }

  #requestMore(): void {
    const more = this.#more;
    this.#more = null;
    more?.();
  }

  #print(): void {
    const frame = this.#frame;
    if (this.destroyed || this.#isBusy || !this.#isWanted || this.#more === null || frame === null) return;
    this.#isBusy = true;
    const isOver = this.#guard(() => this.#printTurn(frame));
    if (this.destroyed) return;
    if (isOver) {
      // Also what is no whole piece: the client is not made to wait for the next block.
      const piece = this.#printer.finishPiece();
      if (piece.length > 0) this.#send(piece);
      this.#isBusy = false;
      this.#requestMore();
      return;
    }
    // Continuing at once would delay all other requests that have arrived meanwhile.
    setImmediate(() => {
      this.#isBusy = false;
      this.#print();
    });
  }

  /** @returns Whether all received rows are printed. */
  #printTurn({ prefix, count }: Around & Pick<Page, 'count'>): boolean {
    for (let left = ROWS_A_TURN; left > 0; left--) {
      const row = this.#rows.next();
      if (row === null) return true;
      if (this.#printed === count && this.#behind > 0) {
        this.#behind--;
        continue;
      }
      if (this.#printed === 0) this.push(prefix);
      const piece = this.#printer.print(row, this.#printed++ === 0 ? '[' : ',');
      if (piece) this.#send(piece);
    }
    return false;
  }

  #send(piece: Buffer): void {
    if (!this.push(piece)) this.#isWanted = false;
  }

  /** Destroys the body if the bytes have an unexpected format; no other request is affected. */
  #guard<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      this.destroy(error as Error);
      return undefined;
    }
  }
}
