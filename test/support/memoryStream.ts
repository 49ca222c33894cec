import { partitionsOf } from '../../src/bus/partition.ts';
import type {
  HandledPlace,
  OnStreamMessage,
  RecordStream,
  StreamMessage,
  StreamPlace,
  StreamWork,
} from '../../src/bus/recordStream.ts';
import { decodeMessage, encodeMessage } from '../../src/bus/wire/message.ts';
import { type Clock, sleep } from '../../src/runtime/clock.ts';

const BATCH_MAX = 2_000;
/** Pause before a failed batch is handled again. */
const RETRY_DELAY_MS = 1_000;

interface StoredMessage {
  readonly message: StreamMessage;
  readonly place: StreamPlace;
}

/**
 * The stream of a cluster within one test: each `connect` is one process. Messages are delivered in later microtasks,
 * never within `publish`. Message ids are kept without a limit of time, or for a window as in JetStream.
 */
export class MemoryStreamServer {
  readonly partitions: number;
  readonly baseSeq: number;
  readonly clock: Clock;
  /** Stored messages that were not forgotten, oldest first. */
  readonly stored: StoredMessage[] = [];
  /** When each id was stored first within the window. */
  readonly #ids = new Map<string, number>();
  readonly #duplicateWindowMs: number;
  readonly #readers = new Set<Reader>();
  readonly #connections = new Set<MemoryStream>();
  readonly #handled = new Map<number, number>();
  #lastSeq = 0;
  #lastTimeMs = 0;
  #isAway = false;

  constructor({
    clock,
    partitions = 4,
    baseSeq = 0,
    duplicateWindowMs = Number.POSITIVE_INFINITY,
  }: { clock: Clock; partitions?: number; baseSeq?: number; duplicateWindowMs?: number }) {
    this.clock = clock;
    this.partitions = partitions;
    this.baseSeq = baseSeq;
    this.#duplicateWindowMs = duplicateWindowMs;
  }

  connect(): RecordStream {
    const stream = new MemoryStream(this, () => this.#connections.delete(stream));
    this.#connections.add(stream);
    return stream;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  /** While it is away, connections queue messages, report a reason, and get none. */
  setAway(isAway: boolean): void {
    this.#isAway = isAway;
    if (isAway) return;
    for (const connection of this.#connections) connection.sendQueued();
    for (const reader of this.#readers) reader.wake();
  }

  /** Deletes the messages before a number, as a limit on age or size does. */
  forgetBefore(streamSeq: number): void {
    const kept = this.stored.filter(({ place }) => place.streamSeq >= streamSeq);
    this.stored.splice(0, this.stored.length, ...kept);
  }

  /** Resolves when every message was delivered and every batch handled. */
  async idle(): Promise<void> {
    do await new Promise<void>((resolve) => setImmediate(resolve));
    while ([...this.#readers].some(({ isBusy }) => isBusy));
  }

  store(message: StreamMessage): void {
    this.#lastTimeMs = Math.max(this.#lastTimeMs, this.clock.now());
    for (const partition of partitionsOf(message.key, this.partitions)) {
      const id = `${message.id}/${partition}`;
      if (this.#lastTimeMs - (this.#ids.get(id) ?? Number.NEGATIVE_INFINITY) < this.#duplicateWindowMs)
        continue;
      this.#ids.set(id, this.#lastTimeMs);
      const place = { streamSeq: ++this.#lastSeq, timeMs: this.#lastTimeMs, partition };
      this.stored.push({ message, place });
    }
    for (const reader of this.#readers) reader.wake();
  }

  read(reader: Reader): void {
    this.#readers.add(reader);
    reader.wake();
  }

  endRead(reader: Reader): void {
    this.#readers.delete(reader);
  }

  handledSeq(partition: number): number {
    return this.#handled.get(partition) ?? 0;
  }

  acknowledge(partition: number, streamSeq: number): void {
    this.#handled.set(partition, Math.max(streamSeq, this.handledSeq(partition)));
  }
}

/** Reads stored messages from a number on and gives them to a handler, a batch at a time. */
class Reader {
  readonly #server: MemoryStreamServer;
  readonly #partition: number | null;
  readonly #handle: (work: StreamWork) => Promise<void> | void;
  readonly #stopped = new AbortController();
  #nextSeq: number;
  #running: Promise<void> | null = null;

  constructor(
    server: MemoryStreamServer,
    options: { readonly nextSeq: number; readonly partition: number | null },
    handle: (work: StreamWork) => Promise<void> | void,
  ) {
    this.#server = server;
    this.#nextSeq = options.nextSeq;
    this.#partition = options.partition;
    this.#handle = handle;
  }

  get isBusy(): boolean {
    return this.#running !== null;
  }

  wake(): void {
    if (this.#running !== null || this.#stopped.signal.aborted) return;
    this.#running = Promise.resolve()
      .then(() => this.#run())
      .finally(() => {
        this.#running = null;
        if (this.#next().length > 0) this.wake();
      });
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#server.endRead(this);
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let work = this.#next(); work.length > 0; work = this.#next()) {
      try {
        await this.#handle(work);
        this.#nextSeq = (work.at(-1) as StoredMessage).place.streamSeq + 1;
      } catch {
        await sleep(this.#server.clock, RETRY_DELAY_MS, this.#stopped.signal);
      }
    }
  }

  #next(): readonly StoredMessage[] {
    if (this.#stopped.signal.aborted || this.#server.isAway) return [];
    return this.#server.stored
      .filter(
        ({ place }) =>
          place.streamSeq >= this.#nextSeq && (this.#partition ?? place.partition) === place.partition,
      )
      .slice(0, BATCH_MAX);
  }
}

class MemoryStream implements RecordStream {
  readonly partitions: number;
  readonly baseSeq: number;
  readonly #server: MemoryStreamServer;
  readonly #onClosed: () => void;
  readonly #queue: StreamMessage[] = [];
  readonly #readers = new Set<Reader>();

  constructor(server: MemoryStreamServer, onClosed: () => void) {
    this.partitions = server.partitions;
    this.baseSeq = server.baseSeq;
    this.#server = server;
    this.#onClosed = onClosed;
  }

  publish(message: StreamMessage): void {
    // As through a network: the sender may change its reused views afterwards.
    const copy = decodeMessage(encodeMessage(message));
    if (this.#server.isAway) this.#queue.push(copy);
    else this.#server.store(copy);
  }

  sendQueued(): void {
    for (const message of this.#queue.splice(0)) this.#server.store(message);
  }

  async follow(
    { fromSeq, partition }: { readonly fromSeq: number; readonly partition?: number },
    onMessage: OnStreamMessage,
  ): Promise<{ stop(): Promise<void> }> {
    return this.#read(
      new Reader(this.#server, { nextSeq: fromSeq, partition: partition ?? null }, (work) => {
        for (const { message, place } of work) onMessage(message, place);
      }),
    );
  }

  async work(
    { partition, after = null }: { readonly partition: number; readonly after?: HandledPlace | null },
    handle: (work: StreamWork) => Promise<void>,
  ): Promise<{ stop(): Promise<void> }> {
    const nextSeq = Math.max(this.#server.handledSeq(partition), after?.streamSeq ?? 0) + 1;
    return this.#read(
      new Reader(this.#server, { nextSeq, partition }, async (work) => {
        await handle(work);
        this.#server.acknowledge(partition, work.at(-1)?.place.streamSeq ?? 0);
      }),
    );
  }

  async lastSeq(): Promise<number> {
    return this.#server.lastSeq;
  }

  reasons(): readonly string[] {
    return this.#server.isAway ? ['the stream does not answer'] : [];
  }

  readonly waiting = 0;
  readonly isDropping = false;

  async close(): Promise<void> {
    await Promise.all([...this.#readers].map((reader) => reader.stop()));
    this.#onClosed();
  }

  #read(reader: Reader): { stop(): Promise<void> } {
    this.#readers.add(reader);
    this.#server.read(reader);
    return {
      stop: async () => {
        this.#readers.delete(reader);
        await reader.stop();
      },
    };
  }
}
