import type { JetStreamManager, JsMsg, StreamInfo } from '@nats-io/jetstream';
import { StreamMessageError } from '../../runtime/errors.ts';
import type { StreamMessage, StreamPlace } from '../recordStream.ts';
import { decodeMessage } from '../wire/message.ts';
import { partitionOfSubject } from './streamDefinition.ts';
import type { StreamParts } from './streamParts.ts';

/** A reader this late may lose messages to the stream's limits: it then asks for the oldest kept number. */
const LATE_MS = 30_000;
const CHECK_PERIOD_MS = 5_000;
/** Invalid messages that are logged; later ones are only counted. */
const LOGGED_MAX = 20;

/** The place of one reader in the stream: decodes messages, and reports what the stream deleted before it was read. */
export class ReadPosition {
  readonly #parts: StreamParts;
  readonly #reader: string;
  /** Whether it reads one partition: numbers that it does not get may belong to another one. */
  readonly #isPartial: boolean;
  readonly #missed;
  readonly #invalid;
  readonly #lag;
  #next: number;
  #checkedMs = Number.NEGATIVE_INFINITY;
  #logged = 0;

  constructor(parts: StreamParts, options: { reader: string; next: number; isPartial: boolean }) {
    const { metrics } = parts;
    this.#parts = parts;
    this.#reader = options.reader;
    this.#next = options.next;
    this.#isPartial = options.isPartial;
    const missed = 'Messages that the stream deleted before they were read; of one partition at most so many';
    this.#missed = metrics.counter('underround_stream_missed_messages_total', missed, ['reader']);
    const invalid = 'Messages of the stream that were damaged or of another release, and skipped';
    this.#invalid = metrics.counter('underround_stream_invalid_messages_total', invalid);
    const lag = 'Seconds between the storage of a message in the stream and its arrival at a reader';
    this.#lag = metrics.gauge('underround_stream_lag_seconds', lag, ['reader']);
  }

  /** The number of the next message to read; 0 before the first one of a reader without a place. */
  get next(): number {
    return this.#next;
  }

  /** Moves forward, e.g. to the place that another process has reached. */
  skipTo(next: number): void {
    this.#next = Math.max(this.#next, next);
  }

  /** Compares the place with the stream when reading begins. */
  onStart({ state }: StreamInfo): void {
    if (this.#next === 0) return;
    if (this.#next > state.last_seq + 1) {
      const { log } = this.#parts;
      log.error({ reader: this.#reader, next: this.#next, last: state.last_seq }, 'stream.numbers_went_back');
      this.#next = state.last_seq + 1;
    }
    this.#compareWith(state.first_seq);
  }

  /** Notes a message of the consumer. @returns Null for one that cannot be decoded. */
  async accept(
    message: JsMsg,
    manager: JetStreamManager,
  ): Promise<{ message: StreamMessage; place: StreamPlace } | null> {
    const { streamSequence, timestampNanos } = message.info;
    // As stored: the merge is to get the same time in every process, whatever this reader has read before.
    const timeMs = Math.floor(timestampNanos / 1_000_000);
    const lagMs = this.#parts.clock.now() - timeMs;
    this.#lag.set({ reader: this.#reader }, Math.max(0, lagMs) / 1000);
    if (this.#next !== 0 && streamSequence > this.#next) await this.#onJump(streamSequence, lagMs, manager);
    this.#next = streamSequence + 1;
    const partition = partitionOfSubject(message.subject);
    const place = { streamSeq: streamSequence, timeMs, partition };
    const decoded = this.#decode(message.data, place);
    return decoded === null ? null : { message: decoded, place };
  }

  async #onJump(streamSeq: number, lagMs: number, manager: JetStreamManager): Promise<void> {
    if (!this.#isPartial) return this.#compareWith(streamSeq);
    const nowMs = this.#parts.clock.monotonic();
    if (lagMs < LATE_MS || nowMs - this.#checkedMs < CHECK_PERIOD_MS) return;
    this.#checkedMs = nowMs;
    const { state } = await manager.streams.info(this.#parts.prefix);
    if (state.first_seq <= streamSeq) this.#compareWith(state.first_seq);
  }

  /** Reports the messages before the oldest one that exists. */
  #compareWith(firstSeq: number): void {
    const messages = firstSeq - this.#next;
    if (messages <= 0) return;
    const [reader, from] = [this.#reader, this.#next];
    this.#missed.inc({ reader }, messages);
    this.#parts.log.error({ reader, from, to: firstSeq - 1, messages }, 'stream.messages_missed');
    this.#next = firstSeq;
  }

  #decode(data: Uint8Array, { streamSeq }: StreamPlace): StreamMessage | null {
    try {
      return decodeMessage(data);
    } catch (error) {
      if (!(error instanceof StreamMessageError)) throw error;
      this.#invalid.inc();
      if (++this.#logged <= LOGGED_MAX) {
        this.#parts.log.error({ err: error, reader: this.#reader, streamSeq }, 'stream.message_skipped');
      }
      return null;
    }
  }
}
