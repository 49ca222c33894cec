import type { Subscriber } from '../bus/bus.ts';
import { type Clock, every, type Timer } from '../runtime/clock.ts';
import { FanOut } from '../runtime/fanOut.ts';
import type { Gap } from '../schema/gap.ts';
import type { FollowedAssets, Market, Ticker } from '../schema/market.ts';
import type { BookRecord, GapRecord, MarketRecord } from '../schema/records.ts';
import { ACTION_QUIET_MS } from '../venues/polymarket/book/bookAction.ts';
import { BookText, type LiveBook } from './bookText.ts';
import { ChangeLog, RETAINED_BYTES_MAX, RETAINED_MS } from './changeLog.ts';
import { CLIENTS_AT_ONCE, type Connection } from './connection.ts';
import { formatPlace, runOfStream } from './cursor.ts';
import { CursorWaits } from './cursorWaits.ts';
import { MarketClient, type MarketSource, type SharedStream } from './marketClient.ts';
import { gapNotice, statusNotice } from './notices.ts';
import { PackedBook } from './packedBook.ts';
import { StreamedMarket } from './streamedMarket.ts';
import { type PrintedMessage, StreamMessage } from './streamMessage.ts';
import type { StreamMetrics } from './streamMetrics.ts';
import type { StreamSubscriptions } from './streamSubscriptions.ts';
import { textFrame } from './textFrame.ts';

const SWEEP_MS = 5_000;
/** By this time a half-applied book is complete, or was published as a change. */
const AWAIT_MS = ACTION_QUIET_MS + 5;

/** The recorder's state that the stream reads, in addition to the bus. */
export interface LiveBooks {
  markets(): Iterable<Market>;
  market(marketId: string): Market | null;
  /** The book after its last finished action; null before the first, `unfinished` while an action is half applied. */
  book(marketId: string): LiveBook | 'unfinished' | null;
  /** The market's open gap. */
  gap(marketId: string): Gap | null;
}

/** `/v1/stream`: every book change of the subscribed markets, printed once for all clients. */
export class MarketStream implements MarketSource {
  readonly run: string;
  readonly tickers: readonly Ticker[];
  readonly shared: SharedStream | null;
  readonly waits: CursorWaits;
  readonly log: ChangeLog;
  readonly metrics: StreamMetrics;
  readonly #books: LiveBooks;
  readonly #clock: Clock;
  readonly #text = new BookText();
  readonly #fanOut = new FanOut(CLIENTS_AT_ONCE);
  readonly #markets = new Map<string, StreamedMarket>();
  readonly #clients = new Set<MarketClient>();
  readonly #leaves: (() => void)[];
  readonly #sweep: Timer;
  #awaiting: Timer | null = null;
  /** Records arrive; those that arrive again after an interruption may be old. */
  #isReceiving = true;
  /** Monotonic; until then changes are kept for a client that may reconnect. */
  #wantedUntilMs = Number.NEGATIVE_INFINITY;

  /**
   * @param options.run Names this run of the service in cursors, where it is the only process: 12 random hex digits.
   * @param options.shared Given, every market is kept from the start on: a client of another process may come.
   */
  constructor(
    options: FollowedAssets & {
      run: string;
      shared?: SharedStream | null;
      bus: Subscriber;
      books: LiveBooks;
      clock: Clock;
      metrics: StreamMetrics;
    },
  ) {
    const { bus, clock } = options;
    this.shared = options.shared ?? null;
    this.run = this.shared === null ? options.run : runOfStream(this.shared.baseSeq);
    this.tickers = options.tickers;
    const bytesMax = RETAINED_BYTES_MAX[this.shared === null ? 'subscribed' : 'all'];
    this.log = new ChangeLog({ startSeq: this.shared?.startSeq ?? 0, bytesMax });
    this.waits = new CursorWaits(clock, (client) => this.#fanOut.wake(client));
    this.metrics = options.metrics;
    this.#books = options.books;
    this.#clock = clock;
    for (const market of options.books.markets()) this.#add(market);
    this.#leaves = [
      bus.subscribe('book', (record) => this.#onBook(record)),
      bus.subscribe('quote', ({ marketId, trusted }) => this.#markets.get(marketId)?.trust(trusted)),
      bus.subscribe('market', (market) => this.#onMarket(market)),
      bus.subscribe('gap', (gap) => this.#onGap(gap)),
      bus.subscribe('receiving', ({ isReceiving }) => this.#onReceiving(isReceiving)),
    ];
    if (this.shared !== null) this.#leaves.push(...this.#followOthers(bus));
    this.#sweep = every(clock, SWEEP_MS, () => this.#tidy());
  }

  /** Serves an admitted connection; its owner closes it. */
  add(connection: Connection): void {
    const client = new MarketClient(connection, this);
    this.#clients.add(client);
    connection.onClosed = () => this.#remove(client);
  }

  close(): void {
    for (const leave of this.#leaves) leave();
    this.#sweep.cancel();
    this.#awaiting?.cancel();
    this.waits.close();
  }

  find(marketId: string): StreamedMarket | null {
    return this.#markets.get(marketId) ?? null;
  }

  matching(subscriptions: StreamSubscriptions, since: number): StreamedMarket[] {
    return [...this.#markets.values()].filter((market) =>
      subscriptions.matches(market.record, market.wasOverBy(since)),
    );
  }

  join(client: MarketClient, market: StreamedMarket): void {
    if (!market.isWarm) this.#warm(market);
    market.idleSinceMs = null;
    market.subscribers.add(client);
  }

  leave(client: MarketClient, market: StreamedMarket): void {
    market.subscribers.delete(client);
    if (market.subscribers.size === 0) market.idleSinceMs = this.#clock.monotonic();
  }

  wake(client: MarketClient): void {
    this.#fanOut.wake(client);
  }

  #remove(client: MarketClient): void {
    this.#clients.delete(client);
    this.waits.forget(client);
    this.#wantedUntilMs = this.#clock.monotonic() + RETAINED_MS;
    for (const market of client.markets) this.leave(client, market);
  }

  /** Records that give no message also show how far this process has received. */
  #followOthers(bus: Subscriber): (() => void)[] {
    const onRecord = ({ seq }: { readonly seq: number }) => {
      this.log.reach(seq);
      this.waits.reached(seq);
    };
    const topics = ['quote', 'trade', 'underlying', 'perpDepth'] as const;
    return topics.map((topic) => bus.subscribe(topic, onRecord));
  }

  #onBook(record: BookRecord): void {
    const market = this.#markets.get(record.marketId);
    if (!market?.isWarm) return;
    const { subscribers } = market;
    const shown = this.#isReceiving ? record : { ...record, trusted: false };
    const packed = subscribers.size === 0 ? new PackedBook(shown) : null;
    this.#publishBook(market, shown, { recordSeq: record.seq, packed });
  }

  /** The trust of every newest book may have changed. */
  #onReceiving(isReceiving: boolean): void {
    this.#isReceiving = isReceiving;
    for (const [marketId, market] of this.#markets) {
      const book = this.#books.book(marketId);
      if (book !== null && book !== 'unfinished') market.trust(book.trusted);
    }
  }

  /**
   * @param options.recordSeq Number of the book's record.
   * @param options.packed Given, the message is printed from it when a client needs it.
   */
  #publishBook(
    market: StreamedMarket,
    book: LiveBook,
    { recordSeq, packed }: { recordSeq: number; packed: PackedBook | null },
  ): void {
    market.isAwaited = false;
    // A cursor names the change: no two changes may have one number.
    const seq = Math.max(recordSeq, this.log.head.seq + 1);
    const print = (from: LiveBook) => this.#print(market, from, seq);
    const content = packed ? { bytes: packed.bytes, print: () => print(packed.unpack()) } : print(book);
    const { trusted } = book;
    this.#append(market, new StreamMessage({ seq, change: ++market.changes, trusted }, content));
  }

  #print(market: StreamedMarket, book: LiveBook, seq: number): PrintedMessage {
    const cursor = `${formatPlace({ run: this.run, seq, upTo: null })}",`;
    const text = this.#text.print(book, market.record.ticker);
    const frame = textFrame([market.head, Buffer.from(cursor, 'latin1'), text]);
    return { frame, bodyAt: market.head.length + cursor.length };
  }

  #append(market: StreamedMarket, message: StreamMessage): void {
    market.onKept(message, this.log.headIndex + 1);
    this.log.append({ market, message, timeMs: this.#clock.monotonic() });
    for (const client of market.subscribers) this.#fanOut.wake(client);
    this.waits.reached(message.seq);
  }

  #notice(market: StreamedMarket, notice: object, recordSeq: number): void {
    if (!market.isWarm) return;
    const seq = Math.max(recordSeq, this.log.head.seq);
    const frame = textFrame([Buffer.from(JSON.stringify(notice))]);
    this.#append(market, new StreamMessage({ seq, change: null, trusted: false }, { frame, bodyAt: 0 }));
  }

  #onMarket(record: MarketRecord): void {
    const market = this.#markets.get(record.marketId);
    if (market === undefined) {
      const added = this.#add(record);
      for (const client of this.#clients) client.offerMarket(added);
      return;
    }
    const before = market.record;
    market.record = record;
    const { status, outcome } = record;
    if (before.status === status && before.outcome === outcome) return;
    if (status === 'resolved') market.resolvedSeq ??= this.log.head.seq;
    this.#notice(market, statusNotice(record), record.seq);
  }

  #onGap(gap: GapRecord): void {
    const market = this.#markets.get(gap.marketId);
    if (market === undefined) return;
    const isKnown = market.openGap?.gapId === gap.gapId;
    if (gap.endTimeMs === null) market.openGap = gap;
    else if (isKnown) market.openGap = null;
    // A gap that was repaired before it was detected arrives as closed, also while another is open: its start comes first.
    else this.#notice(market, gapNotice({ ...gap, endTimeMs: null }), gap.seq);
    this.#notice(market, gapNotice(gap), gap.seq);
  }

  /** A market added while clients are connected, or may reconnect, is kept from its first change on. */
  #add(record: Market): StreamedMarket {
    const market = new StreamedMarket(record, this.log.head.seq);
    market.openGap = this.#books.gap(record.marketId);
    this.#markets.set(record.marketId, market);
    const isWanted = this.#clients.size > 0 || this.#clock.monotonic() < this.#wantedUntilMs;
    if (this.shared !== null || isWanted) this.#warm(market);
    return market;
  }

  #warm(market: StreamedMarket): void {
    const book = this.#books.book(market.record.marketId);
    market.isAwaited = book === 'unfinished';
    const known = book === null || book === 'unfinished' ? null : book;
    const body = known && Buffer.from(this.#text.print(known, market.record.ticker));
    market.warm(this.log.head, known && body && { body, trusted: known.trusted });
    market.idleSinceMs = this.#clock.monotonic();
    if (market.isAwaited) this.#awaitBooks();
  }

  /** Reads half-applied books again. If the action changed them, the bus has published them meanwhile. */
  #awaitBooks(): void {
    this.#awaiting ??= this.#clock.after(AWAIT_MS, () => {
      this.#awaiting = null;
      for (const market of this.#markets.values()) {
        if (!market.isAwaited) continue;
        const book = this.#books.book(market.record.marketId);
        if (book === 'unfinished') this.#awaitBooks();
        else if (book === null) market.isAwaited = false;
        else this.#publishBook(market, book, { recordSeq: this.log.head.seq, packed: null });
      }
    });
  }

  #tidy(): void {
    const nowMs = this.#clock.monotonic();
    this.log.drop(nowMs);
    this.metrics.retained(this.log.bytes);
    for (const [marketId, market] of this.#markets) {
      const idleMs = market.idleSinceMs === null ? 0 : nowMs - market.idleSinceMs;
      if (this.shared === null && idleMs > RETAINED_MS) market.cool();
      if (this.#books.market(marketId) !== null) continue;
      for (const client of market.subscribers) client.forget(market);
      this.#markets.delete(marketId);
    }
  }
}
