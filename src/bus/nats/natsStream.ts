import { jetstreamManager, type StreamInfo } from '@nats-io/jetstream';
import { sleep } from '../../runtime/clock.ts';
import { ConfigError } from '../../runtime/errors.ts';
import { Backoff } from '../../runtime/reconnectBackoff.ts';
import { Outbox } from '../outbox/outbox.ts';
import { partitionsOf } from '../partition.ts';
import type {
  HandledPlace,
  OnStreamMessage,
  RecordStream,
  StreamMessage,
  StreamWork,
} from '../recordStream.ts';
import { encodeMessage } from '../wire/message.ts';
import { OrderedPublisher } from './orderedPublisher.ts';
import { baseSeqOf, ensureStream, type StreamDefinition, startMsOf } from './streamDefinition.ts';
import { StreamFollower } from './streamFollower.ts';
import type { StreamParts } from './streamParts.ts';
import { StreamWorker } from './streamWorker.ts';

const ENSURE_RETRY = { firstMs: 250, maxMs: 5_000 };
/** A closing process waits this long for the acknowledgements of its last messages; the rest stays on disk. */
const CLOSE_WAIT_MS = 2_000;
const CLOSE_POLL_MS = 20;

interface OutboxLimits {
  readonly directory: string;
  readonly diskBytesMax: number;
  readonly memoryBytesMax: number;
}

interface NatsStreamOptions extends Omit<StreamParts, 'prefix' | 'checkCreated'> {
  readonly definition: StreamDefinition;
  readonly outbox: OutboxLimits;
}

/** The record stream on NATS JetStream. */
export class NatsStream implements RecordStream {
  readonly partitions: number;
  readonly #options: NatsStreamOptions;
  readonly #parts: StreamParts;
  readonly #outbox: Outbox;
  readonly #publisher: OrderedPublisher;
  readonly #readers = new Set<StreamFollower | StreamWorker>();
  readonly #closed = new AbortController();
  /** Resolves when the stream exists. Rejects with a ConfigError when it does not match, or when it is closed before. */
  readonly ready: Promise<void>;
  #info: StreamInfo | null = null;
  #failure: string | null = null;
  #closing: Promise<void> | null = null;

  private constructor(options: NatsStreamOptions, outbox: Outbox) {
    const { clock, link, log, metrics, random } = options;
    const { prefix, partitions } = options.definition;
    this.partitions = partitions;
    this.#options = options;
    const checkCreated = (info: StreamInfo) => this.#checkCreated(info);
    this.#parts = { clock, link, log, metrics, random, prefix, checkCreated };
    this.#outbox = outbox;
    this.#publisher = new OrderedPublisher({ ...this.#parts, outbox });
    this.ready = this.#ensure();
    this.ready.catch((error: Error) => {
      this.#failure = error.message;
    });
  }

  /** Opens the outbox. Messages can be published at once; `ready` resolves when the stream exists. */
  static async open(options: NatsStreamOptions): Promise<NatsStream> {
    const { clock, log, metrics } = options;
    return new NatsStream(options, await Outbox.open({ ...options.outbox, clock, log, metrics }));
  }

  get baseSeq(): number {
    if (this.#info === null) throw new Error('the stream was not reached yet: wait until it is ready');
    return baseSeqOf(this.#info);
  }

  publish(message: StreamMessage): void {
    const { prefix } = this.#options.definition;
    const payload = encodeMessage(message);
    for (const partition of partitionsOf(message.key, this.partitions)) {
      const id = message.key === null ? `${message.id}/${partition}` : message.id;
      this.#outbox.push({ subject: `${prefix}.${partition}.${message.kind}`, id: headerText(id), payload });
    }
    this.#publisher.pump();
  }

  async follow(
    { fromSeq, after = null, partition }: Parameters<RecordStream['follow']>[0],
    onMessage: OnStreamMessage,
  ): Promise<{ stop(): Promise<void> }> {
    await this.ready;
    const from = { fromSeq, after, partition: partition ?? null };
    return this.#read(new StreamFollower(this.#parts, from, onMessage));
  }

  async work(
    { partition, after = null }: { readonly partition: number; readonly after?: HandledPlace | null },
    handle: (work: StreamWork) => Promise<void>,
  ): Promise<{ stop(): Promise<void> }> {
    await this.ready;
    return this.#read(new StreamWorker(this.#parts, { partition, after }, handle));
  }

  async lastSeq(): Promise<number> {
    await this.ready;
    const manager = await jetstreamManager(await this.#options.link.connection(), { checkAPI: false });
    const { state } = await manager.streams.info(this.#options.definition.prefix);
    return state.last_seq;
  }

  reasons(): readonly string[] {
    const { link } = this.#options;
    const readers = [...this.#readers].map(({ reason }) => reason);
    const all = [link.reason, this.#failure, this.#publisher.reason, this.#outbox.reason, ...readers];
    return [...new Set(all.filter((reason) => reason !== null))];
  }

  get isDropping(): boolean {
    return this.#outbox.reason !== null;
  }

  get waiting(): number {
    return this.#outbox.onDisk;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { clock, link } = this.#options;
    await Promise.all([...this.#readers].map((reader) => reader.stop()));
    for (
      let waited = 0;
      waited < CLOSE_WAIT_MS && link.isUp && !this.#outbox.isEmpty;
      waited += CLOSE_POLL_MS
    ) {
      await sleep(clock, CLOSE_POLL_MS);
    }
    this.#closed.abort();
    this.#publisher.close();
    await this.#outbox.close();
  }

  #read<R extends StreamFollower | StreamWorker>(reader: R): { stop(): Promise<void> } {
    this.#readers.add(reader);
    return {
      stop: async () => {
        this.#readers.delete(reader);
        await reader.stop();
      },
    };
  }

  /** Creates the stream as soon as a server allows it. A cluster that just started has no leader for some seconds. */
  async #ensure(): Promise<void> {
    const { clock, definition, link, log, random } = this.#options;
    const backoff = new Backoff(ENSURE_RETRY, random);
    const connection = await link.connection();
    for (;;) {
      try {
        const manager = await jetstreamManager(connection, { checkAPI: false });
        this.#info = await ensureStream(manager, definition, { clock, log });
        this.#failure = null;
        this.#publisher.connect(connection);
        return;
      } catch (error) {
        if (error instanceof ConfigError || this.#closed.signal.aborted) throw error;
        this.#failure = `the stream cannot be created: ${(error as Error).message}`;
        const retryMs = backoff.failed(clock.monotonic());
        log.warn({ err: error, tries: backoff.tries, retryMs }, 'stream.not_ready');
        await sleep(clock, retryMs, this.#closed.signal);
      }
    }
  }

  #checkCreated(info: StreamInfo): void {
    if (this.#info === null || startMsOf(info) === startMsOf(this.#info)) return;
    const message = 'the stream was deleted and created again: restart this process';
    this.#failure = message;
    throw new ConfigError(message);
  }
}

/** Ids are sent as a header, which allows no control characters. */
function headerText(id: string): string {
  return /^[\x21-\x7e]+$/.test(id) ? id : Buffer.from(id).toString('base64url');
}
