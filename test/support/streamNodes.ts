import { Bus } from '../../src/bus/bus.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { Gap } from '../../src/schema/gap.ts';
import type { Market } from '../../src/schema/market.ts';
import type { BookRecord, GapRecord, MarketRecord, UnderlyingRecord } from '../../src/schema/records.ts';
import type { LiveBook } from '../../src/stream/bookText.ts';
import type { Connection } from '../../src/stream/connection.ts';
import { parsePlace, runOfStream } from '../../src/stream/cursor.ts';
import { StreamHub } from '../../src/stream/streamHub.ts';
import { bookRecord, marketRecord } from './api.ts';
import type { FakeClock } from './fakeClock.ts';
import { FOLLOWED } from './followed.ts';
import { oneClock } from './gaps.ts';
import type { Message } from './streams.ts';

const BASE_SEQ = 7_354_000_000_000_000;
export const RUN = runOfStream(BASE_SEQ);
const TIME_MS = 1_795_176_000_000;

type Event =
  | { readonly topic: 'book'; readonly record: BookRecord }
  | { readonly topic: 'gap'; readonly record: GapRecord }
  | { readonly topic: 'market'; readonly record: MarketRecord }
  | { readonly topic: 'underlying'; readonly record: UnderlyingRecord };

/** The numbered records that every node of a cluster receives, in messages that are applied as a whole. */
export class SharedRecords {
  readonly messages: (readonly Event[])[] = [];
  /** Sizes of the best bid by market, in order. */
  readonly sizes = new Map<string, number[]>();
  readonly #open = new Map<string, GapRecord>();
  #size = 0;

  /** Number of the newest record. */
  get lastSeq(): number {
    return this.#seq(this.messages.length - 1) + 1;
  }

  /** A record that gives no message to clients. */
  price(): void {
    const record: UnderlyingRecord = {
      kind: 'underlying',
      source: 'binance_spot',
      ticker: 'BTC',
      price: 97_000,
      eventTimeMs: TIME_MS,
      receivedTimeMs: TIME_MS,
      seq: this.#next,
    };
    this.messages.push([{ topic: 'underlying', record }]);
  }

  market(market: Pick<Market, 'marketId'> & Partial<Market>): void {
    this.messages.push([{ topic: 'market', record: { ...marketRecord(market), seq: this.#next } }]);
  }

  book(marketId: string): void {
    this.messages.push([this.#book(marketId)]);
  }

  /** Opens or closes a gap of every market with one message, which also changes the book of the second one. */
  gaps(marketIds: readonly string[]): void {
    const [first, ...later] = marketIds.map((marketId) => this.#gap(marketId));
    const [, second = ''] = marketIds;
    this.messages.push([first as Event, this.#book(second), ...later]);
  }

  get #next(): number {
    return this.#seq(this.messages.length);
  }

  #seq(message: number): number {
    return BASE_SEQ + 2 * (message + 1);
  }

  #book(marketId: string): Event {
    const size = ++this.#size;
    this.sizes.set(marketId, [...(this.sizes.get(marketId) ?? []), size]);
    const record = bookRecord({
      seq: this.#next + 1,
      marketId,
      timeMs: TIME_MS + size,
      yesBids: [[4900, size * 1_000_000]],
      yesAsks: [[5000, 3_000_000]],
    });
    return { topic: 'book', record };
  }

  #gap(marketId: string): Event {
    const before = this.#open.get(marketId);
    const seq = this.#next;
    if (before !== undefined) {
      this.#open.delete(marketId);
      const endTimeMs = TIME_MS + this.#size;
      return { topic: 'gap', record: { ...before, seq, endTimeMs, endReceivedMs: endTimeMs } };
    }
    const record = oneClock({
      seq,
      gapId: `gap_${seq}`,
      marketId,
      startTimeMs: TIME_MS,
      endTimeMs: null,
      knownTimeMs: TIME_MS,
      knownSeq: seq,
      cause: 'disconnected' as const,
      feed: 'f',
      repairedBy: null,
    });
    this.#open.set(marketId, record);
    return { topic: 'gap', record };
  }
}

/** One API process: what it has applied of the shared records, and its streams. */
export class StreamNode {
  readonly records: SharedRecords;
  readonly streams: StreamHub;
  readonly startSeq: number;
  readonly #metrics = new Metrics();
  readonly #bus: Bus;
  readonly #books = new Map<string, LiveBook>();
  readonly #markets = new Map<string, Market>();
  readonly #gaps = new Map<string, Gap>();
  #applied = 0;

  /** @param known Messages whose outcome it starts with. */
  constructor(records: SharedRecords, { clock, known }: { clock: FakeClock; known: number }) {
    this.records = records;
    const metrics = this.#metrics;
    this.#bus = new Bus({ log: silentLogger, metrics });
    this.advance(known);
    this.startSeq = BASE_SEQ + 2 * known + 1;
    this.streams = new StreamHub({
      ...FOLLOWED,
      run: 'ffffffffffff',
      shared: { baseSeq: BASE_SEQ, startSeq: this.startSeq },
      bus: this.#bus,
      books: {
        markets: () => this.#markets.values(),
        market: (marketId) => this.#markets.get(marketId) ?? null,
        book: (marketId) => this.#books.get(marketId) ?? null,
        gap: (marketId) => this.#gaps.get(marketId) ?? null,
      },
      liveKeys: { watch: () => () => undefined },
      clock,
      log: silentLogger,
      metrics,
    });
  }

  get applied(): number {
    return this.#applied;
  }

  get headSeq(): number {
    return this.streams.markets.log.head.seq;
  }

  /** Applies this many further messages, as far as there are. */
  advance(count: number): void {
    const to = Math.min(this.#applied + count, this.records.messages.length);
    while (this.#applied < to) {
      for (const event of this.records.messages[this.#applied] ?? []) this.#apply(event);
      this.#applied++;
    }
  }

  /** The cursors that it answered, by outcome. */
  async resumes(): Promise<unknown> {
    const metric = this.#metrics.registry.getSingleMetric('underround_stream_resumes_total');
    return (await metric?.get())?.values;
  }

  connect(): NodeClient {
    const client = new NodeClient(this);
    this.streams.markets.add(client as unknown as Connection);
    return client;
  }

  #apply(event: Event): void {
    this.#keep(event);
    this.#bus.publish(event.topic, event.record as never);
  }

  #keep(event: Event): void {
    if (event.topic === 'underlying') return;
    const { marketId } = event.record;
    if (event.topic === 'book') this.#books.set(marketId, event.record);
    else if (event.topic === 'market') this.#markets.set(marketId, event.record);
    else if (event.record.endTimeMs === null) this.#gaps.set(marketId, event.record);
    else this.#gaps.delete(marketId);
  }
}

/** A connection that keeps its messages. */
export class NodeClient {
  readonly node: StreamNode;
  readonly texts: string[] = [];
  isOpen = true;
  isPressed = false;
  onText: ((text: string) => void) | null = null;
  onDrained: (() => void) | null = null;
  onClosed: (() => void) | null = null;

  constructor(node: StreamNode) {
    this.node = node;
  }

  get messages(): Message[] {
    return this.texts.map((text) => JSON.parse(text));
  }

  send(message: Buffer): void {
    if (this.isOpen) this.texts.push(String(message));
  }

  sendFrame({ message }: { message: Buffer }): void {
    this.send(message);
  }

  answer(text: string): void {
    this.send(Buffer.from(text));
  }

  checkBuffered(): void {}

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.onClosed?.();
  }

  ask(command: object): void {
    this.onText?.(JSON.stringify(command));
  }
}

/** Resolves once every woken client was served. */
export async function served(): Promise<void> {
  for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}

export function seqOf({ cursor }: Message): number {
  return parsePlace(String(cursor))?.seq ?? Number.NaN;
}
