import type { JetStreamManager, JsMsg, StreamInfo } from '@nats-io/jetstream';
import { StreamMessageError } from '../../runtime/errors.ts';
import type { HandledPlace, StreamMessage, StreamPlace } from '../recordStream.ts';
import { decodeMessage } from '../wire/message.ts';
import { partitionOfSubject } from './streamDefinition.ts';
import type { StreamParts } from './streamParts.ts';

/** A reader this late may lose messages to the stream's limits: it then asks for the oldest kept number. */
const LATE_MS = 30_000;
const CHECK_PERIOD_MS = 5_000;
/** A reader near the oldest message asks more often: the stream deletes at most this many messages in a millisecond. */
const DELETED_PER_MS_MAX = 100;
/** The two times of one message may differ by this, because one of them is rounded. */
const SAME_TIME_MS_MAX = 1;
/** Invalid messages that are logged; later ones are only counted. */
const LOGGED_MAX = 20;

interface PlacedMessage {
  readonly message: StreamMessage;
  readonly place: StreamPlace;
}

/**
 * The place of one reader in the stream: decodes messages, leaves out those that the server repeats, and reports what
 * the stream deleted before it was read.
 */
export class ReadPosition {
  readonly #parts: StreamParts;
  readonly #reader: string;
  /** Whether it reads one partition: numbers that it does not get may belong to another one. */
  readonly #isPartial: boolean;
  readonly #missed;
  readonly #invalid;
  readonly #lag;
  #next: number;
  /** The newest message that this reader got; null before the first. */
  #last: HandledPlace | null;
  /** The latest time at which the stream stored a message that this reader got, Unix milliseconds. */
  #newestMs: number;
  /**
   * Whether the stream ended before the place when reading began: either it lost messages, or the server that answered
   * did not have all of them yet. The next messages show which.
   */
  #isInDoubt = false;
  /** Whether the current consumer repeats messages. */
  #isRepeating = false;
  /** Until this monotonic time the stream cannot have deleted the next message to read. */
  #safeUntilMs = Number.NEGATIVE_INFINITY;
  #logged = 0;
  #skipped = 0;
  /** Times that messages were missed; and of each partition, those that its readers know. */
  #losses = 0;
  /** The value of `#losses` when the stream's numbers last went back; 0: never. */
  #renumberedAt = 0;
  readonly #knownLosses = new Map<number, number>();

  /**
   * @param options.next Number of the message to begin with; 0: the oldest. Default: behind `after`.
   * @param options.after The last message that was handled before; null: none is known.
   */
  constructor(
    parts: StreamParts,
    options: { reader: string; isPartial: boolean; next?: number; after?: HandledPlace | null },
  ) {
    const { metrics } = parts;
    this.#parts = parts;
    this.#reader = options.reader;
    this.#last = options.after ?? null;
    this.#next = options.next ?? (this.#last === null ? 0 : this.#last.streamSeq + 1);
    this.#newestMs = this.#last?.timeMs ?? Number.NEGATIVE_INFINITY;
    this.#isPartial = options.isPartial;
    const missed = 'Messages that the stream deleted before they were read; of one partition at most so many';
    this.#missed = metrics.counter('underround_stream_missed_messages_total', missed, ['reader']);
    this.#missed.inc({ reader: options.reader }, 0);
    const invalid = 'Messages of the stream that were damaged or of another release';
    this.#invalid = metrics.counter('underround_stream_invalid_messages_total', invalid);
    const lag = 'Seconds between the storage of a message in the stream and its arrival at a reader';
    this.#lag = metrics.gauge('underround_stream_lag_seconds', lag, ['reader']);
  }

  /** The number of the next message to read; 0 before the first one of a reader without a place. */
  get next(): number {
    return this.#next;
  }

  /** Why the reader does not know all of the stream; null while it does. */
  get reason(): string | null {
    return this.#skipped === 0
      ? null
      : `${this.#skipped} messages of the stream cannot be read by this release`;
  }

  /** Moves forward, e.g. to the place that another process has reached. */
  skipTo(next: number): void {
    this.#next = Math.max(this.#next, next);
  }

  /**
   * Compares the place with the stream when reading begins. Servers that lost messages with their power give the same
   * numbers to other messages: these may not have reached the place yet, or may have passed it.
   * @returns The number of the message to begin with, at least 1.
   */
  async onStart({ state, config }: StreamInfo, manager: JetStreamManager): Promise<number> {
    this.#isInDoubt = false;
    this.#isRepeating = false;
    if (this.#next === 0) return 1;
    const end = state.last_seq + 1;
    if (this.#next > end) {
      // A new leader of the stream answers before it has applied all of its log (up to 2.10 of the server).
      this.#isInDoubt = config.num_replicas > 1 && this.#lastRead !== null;
      if (this.#isInDoubt) return Math.max(1, end);
      this.#onRenumbered({ last: state.last_seq });
      this.#next = end;
    } else if (await this.#isLastReplaced(manager)) this.#onRenumbered({ last: state.last_seq });
    this.#compareWith(state.first_seq);
    return Math.max(1, this.#next);
  }

  /** Notes a message of the consumer. @returns Null for one that is repeated or cannot be decoded: it is skipped. */
  async accept(message: JsMsg, manager: JetStreamManager): Promise<PlacedMessage | null> {
    try {
      return await this.acceptValid(message, manager);
    } catch (error) {
      if (!(error instanceof StreamMessageError)) throw error;
      this.#moveBehind(message);
      this.#skipped++;
      return null;
    }
  }

  /**
   * Notes a message of the consumer.
   * @returns Null for one that was read before.
   * @throws {StreamMessageError} When it cannot be decoded: the place stays before it.
   */
  async acceptValid(message: JsMsg, manager: JetStreamManager): Promise<PlacedMessage | null> {
    const { streamSequence } = message.info;
    const timeMs = storedMs(message);
    const lagMs = this.#parts.clock.now() - timeMs;
    if (await this.#isRepeated(message, manager)) return null;
    this.#lag.set({ reader: this.#reader }, Math.max(0, lagMs) / 1000);
    if (this.#next !== 0 && streamSequence > this.#next) await this.#onJump(streamSequence, lagMs, manager);
    const partition = partitionOfSubject(message.subject);
    const decoded = this.#decode(message.data, streamSequence);
    this.#moveBehind(message);
    const place = { streamSeq: streamSequence, timeMs, partition };
    const known = this.#knownLosses.get(partition) ?? 0;
    if (known === this.#losses) return { message: decoded, place };
    this.#knownLosses.set(partition, this.#losses);
    const renumbered = known < this.#renumberedAt ? { isRenumbered: true as const } : {};
    return { message: decoded, place: { ...place, isAfterLoss: true, ...renumbered } };
  }

  #moveBehind(message: JsMsg): void {
    const { streamSequence: streamSeq } = message.info;
    this.#next = streamSeq + 1;
    this.#last = { streamSeq, timeMs: storedMs(message) };
    this.#newestMs = Math.max(this.#newestMs, this.#last.timeMs);
  }

  /** The last message read, if the place is directly behind it. */
  get #lastRead() {
    return this.#last?.streamSeq === this.#next - 1 ? this.#last : null;
  }

  /**
   * Whether a message was read before. A consumer on a server that has not caught up yet begins where that server's copy
   * of the stream ends, whatever number was asked for, and repeats what follows (up to 2.10 of the server).
   */
  async #isRepeated(message: JsMsg, manager: JetStreamManager): Promise<boolean> {
    const { streamSequence: seq } = message.info;
    const isBefore = seq < this.#next;
    const isRenumbered = isBefore
      ? this.#lastRead !== null && storedMs(message) > this.#newestMs
      : this.#isInDoubt && (await this.#isLastReplaced(manager));
    if (isRenumbered) this.#onRenumbered({ seq });
    if (isRenumbered || !isBefore) {
      this.#isInDoubt = false;
      return false;
    }
    if (!this.#isRepeating) {
      this.#isRepeating = true;
      this.#parts.log.warn({ reader: this.#reader, next: this.#next, seq }, 'stream.server_repeats');
    }
    return true;
  }

  /** Whether another message has the number of the last one read. False if the stream has deleted it. */
  async #isLastReplaced(manager: JetStreamManager): Promise<boolean> {
    const last = this.#lastRead;
    if (last === null) return false;
    const stored = await manager.streams.getMessage(this.#parts.prefix, { seq: last.streamSeq });
    return stored !== null && Math.abs(stored.time.getTime() - last.timeMs) > SAME_TIME_MS_MAX;
  }

  /** @param found Number of the stream's last message, or of the message that shows it: the stream may be beyond it. */
  #onRenumbered(found: { readonly last: number } | { readonly seq: number }): void {
    const [reader, next] = [this.#reader, this.#next];
    this.#parts.log.error({ reader, next, ...found }, 'stream.numbers_went_back');
    this.#renumberedAt = ++this.#losses;
  }

  async #onJump(streamSeq: number, lagMs: number, manager: JetStreamManager): Promise<void> {
    if (!this.#isPartial) return this.#compareWith(streamSeq);
    const nowMs = this.#parts.clock.monotonic();
    if (lagMs < LATE_MS || nowMs < this.#safeUntilMs) return;
    const { state } = await manager.streams.info(this.#parts.prefix);
    const ahead = Math.max(0, streamSeq - state.first_seq);
    this.#safeUntilMs = nowMs + Math.min(CHECK_PERIOD_MS, ahead / DELETED_PER_MS_MAX);
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
    this.#losses++;
  }

  #decode(data: Uint8Array, streamSeq: number): StreamMessage {
    try {
      return decodeMessage(data);
    } catch (error) {
      this.#invalid.inc();
      if (++this.#logged <= LOGGED_MAX) {
        this.#parts.log.error({ err: error, reader: this.#reader, streamSeq }, 'stream.message_invalid');
      }
      throw error;
    }
  }
}

/** As stored: the merge is to get the same time in every process, whatever its reader has read before. */
function storedMs({ info }: JsMsg): number {
  return Math.floor(info.timestampNanos / 1_000_000);
}
