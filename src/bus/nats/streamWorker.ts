import {
  AckPolicy,
  DeliverPolicy,
  type JetStreamManager,
  type JsMsg,
  type StreamInfo,
} from '@nats-io/jetstream';
import { sleep } from '../../runtime/clock.ts';
import { StreamMessageError } from '../../runtime/errors.ts';
import type { HandledPlace, StreamMessage, StreamPlace, StreamWork } from '../recordStream.ts';
import { ConsumerSession } from './consumerSession.ts';
import { ReadPosition } from './readPosition.ts';
import { partitionSubject } from './streamDefinition.ts';
import type { StreamParts } from './streamParts.ts';

/** A batch is handled when it has so many messages or bytes, or is so old. */
const BATCH_MESSAGES_MAX = 2_000;
const BATCH_BYTES_MAX = 8 * 1024 * 1024;
const BATCH_AGE_MS = 200;
/** Pause before a batch that the handler rejected is handled again. */
const RETRY_DELAY_MS = 1_000;
/** Pause before a message that cannot be decoded is read again. */
const INVALID_RETRY_MS = 5_000;
/** The server never repeats messages to a living reader: it asks again itself, see `#create`. */
const NEVER_NANOS = 24 * 3_600 * 1_000_000_000;

interface Batch {
  readonly work: { message: StreamMessage; place: StreamPlace }[];
  bytes: number;
  /** The last message, which acknowledges those before it. */
  last: JsMsg | null;
}

const emptyBatch = (): Batch => ({ work: [], bytes: 0, last: null });

/**
 * Works through one partition in order. Its place is the acknowledgement of a durable consumer on the server. Each
 * session creates a consumer of its own behind the place of the earlier ones and deletes those: the server would give
 * messages that a dead process did not acknowledge after newer ones.
 */
export class StreamWorker {
  readonly #parts: StreamParts;
  readonly #partition: number;
  readonly #handle: (work: StreamWork) => Promise<void>;
  readonly #position: ReadPosition;
  readonly #session: ConsumerSession;
  readonly #stopped = new AbortController();
  readonly #failures;
  #batch = emptyBatch();
  #failure: string | null = null;
  /** Why the partition is stopped; null while its messages can be decoded. */
  #invalid: string | null = null;
  /** Ends the wait for further messages of the batch. */
  #onFull: () => void = () => undefined;
  #handling: Promise<void> | null = null;

  constructor(
    parts: StreamParts,
    { partition, after }: { readonly partition: number; readonly after: HandledPlace | null },
    handle: (work: StreamWork) => Promise<void>,
  ) {
    this.#parts = parts;
    this.#partition = partition;
    this.#handle = handle;
    const help = 'Batches of messages whose handling failed; each is repeated';
    this.#failures = parts.metrics.counter('underround_stream_work_failures_total', help, ['partition']);
    const reader = `worker.${partition}`;
    this.#position = new ReadPosition(parts, { reader, after, isPartial: true });
    this.#session = new ConsumerSession(parts, {
      create: (manager, info) => this.#create(manager, info),
      onMessage: (message, manager) => this.#onMessage(message, manager),
      // The next session begins behind the messages that are being handled.
      onEnd: async () => {
        await this.#handling;
      },
    });
  }

  get reason(): string | null {
    return this.#invalid ?? this.#failure ?? this.#session.reason;
  }

  /** Ends after the batch that is being handled. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#onFull();
    await this.#handling;
    await this.#session.stop();
    const connection = this.#parts.link.isUp ? await this.#parts.link.connection() : null;
    await connection?.flush().catch(() => undefined);
  }

  async #create(manager: JetStreamManager, info: StreamInfo): Promise<string> {
    const { prefix } = this.#parts;
    const start = `worker-${this.#partition}-`;
    const earlier: string[] = [];
    let generation = 0;
    // A cluster leaves out a consumer that has no leader at the moment.
    for await (const { name, ack_floor, config } of manager.consumers.list(prefix)) {
      if (!name.startsWith(start)) continue;
      earlier.push(name);
      generation = Math.max(generation, Number(name.slice(start.length)));
      this.#position.skipTo(Math.max(ack_floor.stream_seq + 1, config.opt_start_seq ?? 0));
    }
    const startSeq = await this.#position.onStart(info, manager);
    const created = await manager.consumers.add(prefix, {
      durable_name: `${start}${generation + 1}`,
      ack_policy: AckPolicy.All,
      ack_wait: NEVER_NANOS,
      max_ack_pending: -1,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: startSeq,
      filter_subject: partitionSubject(prefix, this.#partition),
    });
    // Only now: a crash before it leaves the place of the earlier one.
    for (const name of earlier) await manager.consumers.delete(prefix, name);
    return created.name;
  }

  async #onMessage(message: JsMsg, manager: JetStreamManager): Promise<void> {
    // Messages that wait while a full batch is handled.
    while (this.#isFull && this.#handling !== null) await this.#handling;
    if (this.#stopped.signal.aborted) return;
    const accepted = await this.#accept(message, manager);
    if (accepted === null) return;
    this.#batch.last = message;
    this.#batch.work.push(accepted);
    this.#batch.bytes += message.data.length;
    this.#handling ??= this.#handleBatches().finally(() => {
      this.#handling = null;
    });
    if (this.#isFull) this.#onFull();
  }

  /**
   * A message that cannot be decoded stops the partition until a release runs that can: nothing is left out.
   * @returns Null for a repeated message, and when the worker is stopped.
   * @throws {StreamMessageError} After a pause: the next session begins with the same message.
   */
  async #accept(message: JsMsg, manager: JetStreamManager): Promise<StreamWork[number] | null> {
    try {
      const accepted = await this.#position.acceptValid(message, manager);
      this.#invalid = null;
      return accepted;
    } catch (error) {
      if (!(error instanceof StreamMessageError)) throw error;
      const about = `message ${message.info.streamSequence}: ${error.message}`;
      this.#invalid = `partition ${this.#partition} is stopped before ${about}`;
      await sleep(this.#parts.clock, INVALID_RETRY_MS, this.#stopped.signal);
      if (this.#stopped.signal.aborted) return null;
      throw error;
    }
  }

  get #isFull(): boolean {
    return this.#batch.work.length >= BATCH_MESSAGES_MAX || this.#batch.bytes >= BATCH_BYTES_MAX;
  }

  /** Waits for more messages and handles the batch, until none is left. */
  async #handleBatches(): Promise<void> {
    while (this.#batch.last !== null && !this.#stopped.signal.aborted) {
      await this.#untilDue();
      if (this.#stopped.signal.aborted) return;
      const batch = this.#batch;
      this.#batch = emptyBatch();
      await this.#handleOne(batch);
    }
  }

  /** Resolves when the batch is full or old enough. */
  async #untilDue(): Promise<void> {
    if (this.#isFull) return;
    const full = new AbortController();
    this.#onFull = () => full.abort();
    await sleep(this.#parts.clock, BATCH_AGE_MS, full.signal);
  }

  async #handleOne({ work, last }: Batch): Promise<void> {
    const { clock, log } = this.#parts;
    const { signal } = this.#stopped;
    for (let tries = 1; work.length > 0; tries++) {
      try {
        await this.#handle(work);
        break;
      } catch (error) {
        const partition = String(this.#partition);
        this.#failures.inc({ partition });
        this.#failure = `partition ${partition} is not handled: ${(error as Error).message}`;
        const about = { err: error, partition, messages: work.length, tries, retryMs: RETRY_DELAY_MS };
        log.error(about, 'stream.work_failed');
        await sleep(clock, RETRY_DELAY_MS, signal);
        if (signal.aborted) return;
      }
    }
    this.#failure = null;
    last?.ack();
  }
}
