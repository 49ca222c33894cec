/**
 * Holds back the frames of a connection that joins its twin on a market. They wait until the twin, which serves the
 * market already, has delivered everything up to the book that answered the new subscription. Otherwise a connection
 * that subscribed later but is read first would deliver changes early, and the states between would not be recorded.
 */
import type { Clock } from '../../../runtime/clock.ts';

/** The serving connection has this long to catch up; then the joining one takes over with its own book. */
const JOIN_WAIT_MS_MAX = 1_000;
const MARKET = /"market":"([^"]+)"/;
const TIMESTAMP = /"timestamp":"?(\d+)/;
/** Trades are left out: their messages arrive before or after the changes they caused. */
const OF_BOOK = /"event_type":"(?:book|price_change)"/;

export type ConnectionIndex = 0 | 1;

/** A book sent in answer to a subscription. */
export interface FirstBook {
  readonly asset_id: string;
  readonly market?: string;
  readonly timestamp?: string | number;
}

/** A market that a connection has subscribed to while its twin serves it. */
interface Join {
  readonly books: FirstBook[];
  /** Venue time of the newest of the books, Unix milliseconds. */
  timeMs: number;
  readonly held: string[];
  /** Monotonic time since when frames are held; null while none is. */
  heldSinceMs: number | null;
}

export class JoinBuffer {
  readonly #clock: Clock;
  readonly #joins: readonly [Map<string, Join>, Map<string, Join>] = [new Map(), new Map()];
  /** Venue time of each connection's newest book or change, by market. */
  readonly #newest: readonly [Map<string, number>, Map<string, number>] = [new Map(), new Map()];
  readonly #marketOf = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records the books that answered a connection's subscription; the twin already serves the `repeated` ones. */
  onBooks(
    connection: ConnectionIndex,
    books: { readonly news: readonly FirstBook[]; readonly repeated: readonly FirstBook[] },
  ): void {
    for (const book of [...books.news, ...books.repeated]) {
      if (book.market === undefined) continue;
      this.#marketOf.set(book.asset_id, book.market);
      this.#noteTime(connection, book.market, Number(book.timestamp));
    }
    const other = otherOf(connection);
    for (const book of books.repeated) {
      const timeMs = Number(book.timestamp);
      if (book.market === undefined || !((this.#newest[other].get(book.market) ?? 0) < timeMs)) continue;
      const join = this.#joins[connection].get(book.market);
      if (join !== undefined) {
        join.books.push(book);
        join.timeMs = Math.max(join.timeMs, timeMs);
        continue;
      }
      this.#joins[connection].set(book.market, { books: [book], timeMs, held: [], heldSinceMs: null });
    }
  }

  /** @returns Whether the frame is held back. */
  hold(connection: ConnectionIndex, text: string): boolean {
    const marketId = MARKET.exec(text)?.[1];
    if (marketId === undefined) return false;
    if (OF_BOOK.test(text)) this.#noteTime(connection, marketId, Number(TIMESTAMP.exec(text)?.[1]));
    const join = this.#joins[connection].get(marketId);
    if (join === undefined) return false;
    join.held.push(text);
    join.heldSinceMs ??= this.#clock.monotonic();
    return true;
  }

  /** Frames of the twin that may be passed after this connection's frame, oldest first. */
  releasedBy(connection: ConnectionIndex, text: string): readonly string[] {
    const joins = this.#joins[otherOf(connection)];
    if (joins.size === 0) return [];
    const marketId = MARKET.exec(text)?.[1] ?? '';
    const join = joins.get(marketId);
    if (join === undefined || (this.#newest[connection].get(marketId) ?? 0) < join.timeMs) return [];
    joins.delete(marketId);
    return join.held;
  }

  /** Tokens for which this connection has a newer book than its twin has delivered. */
  joiningTokens(connection: ConnectionIndex): ReadonlySet<string> {
    const books = [...this.#joins[connection].values()].flatMap((join) => join.books);
    return new Set(books.map(({ asset_id }) => asset_id));
  }

  /** Removes and returns what a connection holds back, books first: all of it, or only what has waited too long. */
  drain(connection: ConnectionIndex, which: 'all' | 'due'): readonly string[] {
    const nowMs = this.#clock.monotonic();
    const frames: string[] = [];
    for (const [marketId, { books, held, heldSinceMs }] of this.#joins[connection]) {
      const isDue = heldSinceMs !== null && nowMs - heldSinceMs >= JOIN_WAIT_MS_MAX;
      if (which === 'due' && !isDue) continue;
      this.#joins[connection].delete(marketId);
      frames.push(JSON.stringify(books), ...held);
    }
    return frames;
  }

  /** The connection is lost, and with it everything it delivered. */
  onDown(connection: ConnectionIndex): void {
    this.#joins[connection].clear();
    this.#newest[connection].clear();
  }

  /** These tokens were unsubscribed, or requested again on both connections. */
  forget(tokenIds: readonly string[]): void {
    for (const tokenId of tokenIds) {
      const marketId = this.#marketOf.get(tokenId);
      this.#marketOf.delete(tokenId);
      if (marketId === undefined) continue;
      for (const connection of [0, 1] as const) {
        this.#joins[connection].delete(marketId);
        this.#newest[connection].delete(marketId);
      }
    }
  }

  #noteTime(connection: ConnectionIndex, marketId: string, timeMs: number): void {
    if (!(timeMs > (this.#newest[connection].get(marketId) ?? 0))) return;
    this.#newest[connection].set(marketId, timeMs);
  }
}

export function otherOf(connection: ConnectionIndex): ConnectionIndex {
  return connection === 0 ? 1 : 0;
}
