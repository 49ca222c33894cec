import { BookGapError } from './errors.ts';
import type { Level } from './schema.ts';
import type { SnapshotMessage, StreamMessage } from './streamMessages.ts';

/** One changed level: a row of the export `deltas`. All rows of one state have its `seq`. */
export interface DeltaRow {
  readonly market_id: string;
  readonly ts: string;
  readonly trusted: boolean;
  readonly token: 'yes' | 'no';
  readonly side: 'bid' | 'ask';
  /** USDC per share. */
  readonly price: number;
  /** Shares of the level from now on; 0: the level is gone. */
  readonly size: number;
  /** The row belongs to a whole book, which replaces the one before. */
  readonly is_snapshot: boolean;
  /** Number of the state in the order of arrival. */
  readonly seq: number;
}

/** A book as the API prints it. */
export interface Book {
  readonly market_id: string;
  readonly ts: string;
  readonly trusted: boolean;
  readonly seq: number;
  /** Best first. */
  readonly yes_bids: readonly Level[];
  readonly yes_asks: readonly Level[];
  readonly no_bids: readonly Level[];
  readonly no_asks: readonly Level[];
}

type SideName = 'yes_bids' | 'yes_asks' | 'no_bids' | 'no_asks';
const SIDES: readonly SideName[] = ['yes_bids', 'yes_asks', 'no_bids', 'no_asks'];

/**
 * The books of one market, from the export `deltas`: one for each state.
 * @throws {BookGapError} If the rows do not begin with a whole book, go back, are of two markets, or remove a level that
 * does not exist: rows are missing.
 */
export async function* booksOf(
  rows: AsyncIterable<DeltaRow> | Iterable<DeltaRow>,
): AsyncGenerator<Book, void> {
  let last: DeltaRow | null = null;
  let sides = emptySides();
  for await (const row of rows) {
    const isNewState = last === null || row.seq !== last.seq;
    if (isNewState) {
      if (last !== null) yield bookOf(last, sides);
      checkOrder(row, last);
      if (row.is_snapshot) sides = emptySides();
    }
    applyChange(sides[`${row.token}_${row.side}s`], row);
    last = row;
  }
  if (last !== null) yield bookOf(last, sides);
}

function emptySides(): Record<SideName, Map<number, number>> {
  return { yes_bids: new Map(), yes_asks: new Map(), no_bids: new Map(), no_asks: new Map() };
}

function checkOrder(row: DeltaRow, last: DeltaRow | null): void {
  if (last === null) {
    if (!row.is_snapshot) throw new BookGapError(`the changes begin at seq ${row.seq} without a whole book`);
    return;
  }
  if (row.market_id !== last.market_id)
    throw new BookGapError(`changes of two markets: ${last.market_id} and ${row.market_id}`);
  // Rows are in the order of time, then of arrival.
  const isLater = row.ts > last.ts || (row.ts === last.ts && row.seq > last.seq);
  if (!isLater) throw new BookGapError(`seq ${row.seq} at ${row.ts} follows seq ${last.seq} at ${last.ts}`);
}

function applyChange(levels: Map<number, number>, { price, size, seq, ts }: DeltaRow): void {
  if (size > 0) levels.set(price, size);
  else if (!levels.delete(price))
    throw new BookGapError(`seq ${seq} at ${ts} removes a level at ${price} that does not exist`);
}

function bookOf({ market_id, ts, trusted, seq }: DeltaRow, sides: ReturnType<typeof emptySides>): Book {
  const [yes_bids, yes_asks, no_bids, no_asks] = SIDES.map((name) => {
    const levels = [...sides[name]].map(([price, size]) => ({ price, size }));
    const direction = name.endsWith('bids') ? -1 : 1;
    return levels.sort((a, b) => direction * (a.price - b.price));
  }) as [Level[], Level[], Level[], Level[]];
  return { market_id, ts, trusted, seq, yes_bids, yes_asks, no_bids, no_asks };
}

/** Resolved markets whose books are kept: a stream of months must not fill the memory. */
const RESOLVED_MAX = 100;

/** The newest book of each market of a stream, and whether it can be trusted at this moment. */
export class LiveBooks {
  readonly #books = new Map<string, SnapshotMessage>();
  readonly #openGaps = new Map<string, Set<string>>();
  /** Markets whose book is of a connection that could not be continued. */
  readonly #outdated = new Set<string>();
  /** Oldest first. */
  readonly #resolved = new Set<string>();
  /** Changes may be missing before the newest books: the stream could not continue where it was. */
  missedChanges = false;

  /** Applies one message of a stream or a replay. @returns The market's book, if the message changed it. */
  apply(message: StreamMessage): SnapshotMessage | null {
    switch (message.type) {
      case 'snapshot':
        this.#books.set(message.market_id, message);
        this.#outdated.delete(message.market_id);
        return message;
      case 'gap':
        this.#applyGap(message);
        return null;
      case 'ack':
        if (message.resumed === false) this.#startAgain();
        return null;
      case 'market':
        if (message.status === 'resolved') this.#onResolved(message.market_id);
        return null;
      default:
        return null;
    }
  }

  /**
   * Null before the market's first book, after at least 100 other markets were resolved since its own outcome, and after
   * two connections in a row that could not continue and brought no book of it.
   */
  book(marketId: string): SnapshotMessage | null {
    return this.#books.get(marketId) ?? null;
  }

  /**
   * False while a gap is open, and until a trusted book follows it or a connection that could not continue where the
   * last one ended.
   */
  isTrusted(marketId: string): boolean {
    const hasGap = (this.#openGaps.get(marketId)?.size ?? 0) > 0;
    return (this.book(marketId)?.trusted ?? false) && !hasGap && !this.#outdated.has(marketId);
  }

  /** The service reports the open gaps again, but not those that closed meanwhile. */
  #startAgain(): void {
    this.missedChanges = true;
    this.#openGaps.clear();
    // Without a book since the last such time, the market has probably ended, and nothing will say so.
    for (const marketId of this.#outdated) this.#release(marketId);
    for (const marketId of this.#books.keys()) this.#outdated.add(marketId);
  }

  #onResolved(marketId: string): void {
    this.#resolved.add(marketId);
    const [oldest] = this.#resolved;
    if (this.#resolved.size > RESOLVED_MAX && oldest !== undefined) this.#release(oldest);
  }

  #release(marketId: string): void {
    this.#books.delete(marketId);
    this.#openGaps.delete(marketId);
    this.#outdated.delete(marketId);
    this.#resolved.delete(marketId);
  }

  #applyGap({ market_id: marketId, gap_id: gapId, state }: StreamMessage & { type: 'gap' }): void {
    const open = this.#openGaps.get(marketId) ?? new Set();
    if (state === 'open') open.add(gapId);
    else open.delete(gapId);
    if (open.size > 0) this.#openGaps.set(marketId, open);
    else this.#openGaps.delete(marketId);
  }
}
