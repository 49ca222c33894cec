/**
 * Keeps a connection's frames of a market back until the other connection, which serves the market already, has
 * brought everything up to the book that the first one was answered with. Without it a connection that subscribed
 * later, and is read first, brings changes before the ones that precede them: the states between are never recorded.
 */
import type { Clock } from '../../../runtime/clock.ts';

/** The serving connection gets this long to catch up; then the joining one takes over with its own book. */
const JOIN_WAIT_MS_MAX = 1_000;
const MARKET = /"market":"([^"]+)"/;
const TIMESTAMP = /"timestamp":"?(\d+)/;
/** Trades say nothing of the book: their messages come before or after the changes they caused. */
const OF_BOOK = /"event_type":"(?:book|price_change)"/;

export type LaneIndex = 0 | 1;

/** A book that answers a subscription. */
export interface FirstBook {
  readonly asset_id: string;
  readonly market?: string;
  readonly timestamp?: string | number;
}

/** One market that a connection has subscribed to while the other serves it. */
interface Join {
  readonly books: FirstBook[];
  /** Venue time of the newest of the books, Unix milliseconds. */
  timeMs: number;
  readonly held: string[];
  /** Monotonic time since which frames are held; null while none is. */
  heldSinceMs: number | null;
}

export class JoinBuffer {
  readonly #clock: Clock;
  readonly #joins: readonly [Map<string, Join>, Map<string, Join>] = [new Map(), new Map()];
  /** Venue time of the newest book or change that each connection has brought of a market. */
  readonly #newest: readonly [Map<string, number>, Map<string, number>] = [new Map(), new Map()];
  readonly #marketOf = new Map<string, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes note of the books that a connection was answered with; of `repeated` ones the other serves the market. */
  onBooks(
    lane: LaneIndex,
    books: { readonly news: readonly FirstBook[]; readonly repeated: readonly FirstBook[] },
  ): void {
    for (const book of [...books.news, ...books.repeated]) {
      if (book.market === undefined) continue;
      this.#marketOf.set(book.asset_id, book.market);
      this.#noteTime(lane, book.market, Number(book.timestamp));
    }
    const other = otherOf(lane);
    for (const book of books.repeated) {
      const timeMs = Number(book.timestamp);
      if (book.market === undefined || !((this.#newest[other].get(book.market) ?? 0) < timeMs)) continue;
      const join = this.#joins[lane].get(book.market);
      if (join !== undefined) {
        join.books.push(book);
        join.timeMs = Math.max(join.timeMs, timeMs);
        continue;
      }
      this.#joins[lane].set(book.market, { books: [book], timeMs, held: [], heldSinceMs: null });
    }
  }

  /** @returns Whether the frame is kept back. */
  holds(lane: LaneIndex, text: string): boolean {
    const marketId = MARKET.exec(text)?.[1];
    if (marketId === undefined) return false;
    if (OF_BOOK.test(text)) this.#noteTime(lane, marketId, Number(TIMESTAMP.exec(text)?.[1]));
    const join = this.#joins[lane].get(marketId);
    if (join === undefined) return false;
    join.held.push(text);
    join.heldSinceMs ??= this.#clock.monotonic();
    return true;
  }

  /** Frames of the other connection that may be passed now that this one has brought a frame, oldest first. */
  releasedBy(lane: LaneIndex, text: string): readonly string[] {
    const joins = this.#joins[otherOf(lane)];
    if (joins.size === 0) return [];
    const marketId = MARKET.exec(text)?.[1] ?? '';
    const join = joins.get(marketId);
    if (join === undefined || (this.#newest[lane].get(marketId) ?? 0) < join.timeMs) return [];
    joins.delete(marketId);
    return join.held;
  }

  /** Tokens of which a connection has a newer book than the other has brought. */
  joiningTokens(lane: LaneIndex): ReadonlySet<string> {
    const books = [...this.#joins[lane].values()].flatMap((join) => join.books);
    return new Set(books.map(({ asset_id }) => asset_id));
  }

  /** Takes out what a connection waits to pass: its books first, then its frames. All of it, or what has waited too long. */
  takeOver(lane: LaneIndex, which: 'all' | 'due'): readonly string[] {
    const nowMs = this.#clock.monotonic();
    const frames: string[] = [];
    for (const [marketId, { books, held, heldSinceMs }] of this.#joins[lane]) {
      const isDue = heldSinceMs !== null && nowMs - heldSinceMs >= JOIN_WAIT_MS_MAX;
      if (which === 'due' && !isDue) continue;
      this.#joins[lane].delete(marketId);
      frames.push(JSON.stringify(books), ...held);
    }
    return frames;
  }

  /** The connection is gone, and with it what it had brought. */
  onDown(lane: LaneIndex): void {
    this.#joins[lane].clear();
    this.#newest[lane].clear();
  }

  /** These tokens are unsubscribed, or asked for again on both connections. */
  forget(tokenIds: readonly string[]): void {
    for (const tokenId of tokenIds) {
      const marketId = this.#marketOf.get(tokenId);
      this.#marketOf.delete(tokenId);
      if (marketId === undefined) continue;
      for (const lane of [0, 1] as const) {
        this.#joins[lane].delete(marketId);
        this.#newest[lane].delete(marketId);
      }
    }
  }

  #noteTime(lane: LaneIndex, marketId: string, timeMs: number): void {
    if (!(timeMs > (this.#newest[lane].get(marketId) ?? 0))) return;
    this.#newest[lane].set(marketId, timeMs);
  }
}

export function otherOf(lane: LaneIndex): LaneIndex {
  return lane === 0 ? 1 : 0;
}
