import {
  createInbox,
  headers,
  type Msg,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';
import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { Backoff } from '../../runtime/reconnectBackoff.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { OutboxMessage } from '../outbox/outboxFile.ts';
import type { NatsLink } from './natsLink.ts';

const IN_FLIGHT_MAX = 4_000;
const IN_FLIGHT_BYTES_MAX = 8 * 1024 * 1024;
/**
 * No message is sent after one that has waited this long for its acknowledgement. A new leader of a cluster's stream
 * is elected after four seconds or more: it never gets a message whose predecessor the old one has lost.
 */
const STALL_MS = 1_000;
/** After this long without an acknowledgement everything unacknowledged is sent again. */
const ACK_TIMEOUT_MS = 5_000;
const TICK_MS = 100;
const RETRY = { firstMs: 100, maxMs: 2_000 };
/** A message that can never be stored: JetStream's error "message size exceeds maximum allowed". */
const TOO_LARGE = 10_054;
/** A message with this id is not stored yet: it may be another collector's copy, and may get lost with the leader. */
const ID_IN_PROCESS = 10_158;

interface InFlight {
  readonly message: OutboxMessage;
  readonly sentMs: number;
  isAcknowledged: boolean;
  /** The stream knows its id and has not stored it: it is sent again, alone, until it is stored. */
  isUnsure: boolean;
}

interface PublisherOptions {
  readonly link: NatsLink;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly random: () => number;
}

/**
 * Sends the outbox's messages in order, many in flight. After a failure it sends all unacknowledged ones again, the
 * oldest alone first. The stream recognises by their ids those that it already has.
 */
export class OrderedPublisher {
  readonly #options: PublisherOptions;
  readonly #timer: Timer;
  readonly #endChanges: () => void;
  readonly #backoff: Backoff;
  readonly #failures;
  readonly #unsendable;
  #connection: NatsConnection | null = null;
  #replies: Subscription | null = null;
  #inbox = '';
  /** Sent messages from the oldest unacknowledged one on; the number of the first. */
  #inFlight: InFlight[] = [];
  #firstNumber = 0;
  #inFlightBytes = 0;
  /** Only the oldest message is sent until the stream has it. */
  #isProbing = true;
  #failure: string | null = null;
  #isOpen = true;

  constructor(options: PublisherOptions) {
    const { link, outbox, clock, metrics, random } = options;
    this.#options = options;
    this.#backoff = new Backoff(RETRY, random);
    const help = 'Attempts to publish messages that failed; each is repeated';
    this.#failures = metrics.counter('underround_stream_publish_failures_total', help);
    const lost = 'Messages that are larger than the stream allows';
    this.#unsendable = metrics.counter('underround_stream_too_large_messages_total', lost);
    outbox.onLoaded = () => this.pump();
    this.#endChanges = link.onChange(() => this.#startAgain());
    this.#timer = every(clock, TICK_MS, () => this.#tick());
  }

  /** Why messages are not stored now; null while they are. */
  get reason(): string | null {
    if (this.#failure !== null) return `the stream does not store messages: ${this.#failure}`;
    return this.#isStalled ? 'the stream does not acknowledge messages' : null;
  }

  /** Begins to send: the stream exists. */
  connect(connection: NatsConnection): void {
    this.#connection = connection;
    this.#startAgain();
  }

  /** Sends as much as may be in flight. */
  pump(): void {
    const { clock, link, outbox } = this.#options;
    if (!this.#isOpen || this.#connection === null || !link.isUp) return;
    if (!this.#backoff.ready(clock.monotonic()) || this.#isStalled) return;
    const limit = this.#isProbing ? 1 : IN_FLIGHT_MAX;
    while (this.#inFlight.length < limit && this.#inFlightBytes < IN_FLIGHT_BYTES_MAX) {
      const message = outbox.next();
      if (message === null || !this.#send(message, this.#connection)) return;
    }
  }

  /** Stops sending. What is unacknowledged stays in the outbox. */
  close(): void {
    this.#isOpen = false;
    this.#timer.cancel();
    this.#endChanges();
    this.#replies?.unsubscribe();
  }

  get #isStalled(): boolean {
    const [oldest] = this.#inFlight;
    return oldest !== undefined && this.#options.clock.monotonic() - oldest.sentMs > STALL_MS;
  }

  /** @returns Whether further messages may follow. */
  #send(message: OutboxMessage, connection: NatsConnection): boolean {
    const number = this.#firstNumber + this.#inFlight.length;
    const { payload } = message;
    const sentMs = this.#options.clock.monotonic();
    const entry: InFlight = { message, sentMs, isAcknowledged: false, isUnsure: false };
    this.#inFlight.push(entry);
    this.#inFlightBytes += payload.length;
    if (payload.length > (connection.info?.max_payload ?? Number.POSITIVE_INFINITY) - 1024) {
      this.#giveUp(entry);
      return true;
    }
    return this.#transmit(message, number, connection);
  }

  /** @returns False when the connection is closed. */
  #transmit({ subject, id, payload }: OutboxMessage, number: number, connection: NatsConnection): boolean {
    const head = headers();
    head.set('Nats-Msg-Id', id);
    try {
      connection.publish(subject, payload, { headers: head, reply: `${this.#inbox}.${number}` });
    } catch (error) {
      this.#failed((error as Error).message);
      return false;
    }
    return true;
  }

  /** Asks again for messages that were copies of one in process: if that one got lost, they are stored now. */
  #sendUnsure(connection: NatsConnection): void {
    const unsure = this.#inFlight.flatMap((entry, at) => (entry.isUnsure ? [{ entry, at }] : []));
    for (const { entry, at } of unsure) {
      entry.isUnsure = false;
      if (!this.#transmit(entry.message, this.#firstNumber + at, connection)) return;
    }
  }

  #onReply(reply: Msg): void {
    const number = Number(reply.subject.slice(reply.subject.lastIndexOf('.') + 1));
    const entry = this.#inFlight[number - this.#firstNumber];
    if (entry === undefined) return;
    const { error, errorCode, isStored } = outcomeOf(reply);
    if (!isStored && (error === null || errorCode === ID_IN_PROCESS)) entry.isUnsure = true;
    else if (errorCode === TOO_LARGE) this.#giveUp(entry);
    else if (error !== null) this.#failed(error);
    else this.#acknowledged(entry);
  }

  #acknowledged(entry: InFlight): void {
    entry.isAcknowledged = true;
    while (this.#inFlight[0]?.isAcknowledged === true) {
      const { message } = this.#inFlight.shift() as InFlight;
      this.#firstNumber++;
      this.#inFlightBytes -= message.payload.length;
      this.#options.outbox.acknowledge();
    }
    if (this.#failure !== null) this.#options.log.info({}, 'stream.publishes_again');
    this.#failure = null;
    this.#isProbing = false;
    this.#backoff.reset();
    this.pump();
  }

  #giveUp(entry: InFlight): void {
    const { subject, id, payload } = entry.message;
    this.#unsendable.inc();
    this.#options.log.error({ subject, id, bytes: payload.length }, 'stream.message_too_large');
    if (!entry.isAcknowledged) queueMicrotask(() => this.#acknowledged(entry));
  }

  #failed(reason: string): void {
    const { clock, log } = this.#options;
    this.#failures.inc();
    const retryMs = this.#backoff.failed(clock.monotonic());
    if (this.#failure === null) log.warn({ reason, retryMs }, 'stream.publish_failed');
    this.#failure = reason;
    this.#startAgain();
  }

  /** Everything unacknowledged is to be sent again; answers to what was sent before no longer count. */
  #startAgain(): void {
    this.#replies?.unsubscribe();
    this.#replies = null;
    this.#firstNumber += this.#inFlight.length;
    this.#inFlight = [];
    this.#inFlightBytes = 0;
    this.#isProbing = true;
    this.#options.outbox.rewind();
    if (this.#connection === null || !this.#options.link.isUp || !this.#isOpen) return;
    this.#inbox = createInbox();
    this.#replies = this.#connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, reply) => {
        if (error === null) this.#onReply(reply);
      },
    });
    this.pump();
  }

  #tick(): void {
    const { clock, outbox } = this.#options;
    outbox.tick();
    const [oldest] = this.#inFlight;
    const waitedMs = oldest === undefined ? 0 : clock.monotonic() - oldest.sentMs;
    if (waitedMs > ACK_TIMEOUT_MS) this.#failed(`no acknowledgement within ${ACK_TIMEOUT_MS} ms`);
    else {
      if (this.#connection !== null && this.#options.link.isUp) this.#sendUnsure(this.#connection);
      this.pump();
    }
  }
}

interface Outcome {
  /** Whether the answer has the number of a stored message. */
  readonly isStored: boolean;
  readonly error: string | null;
  readonly errorCode: number | null;
}

/** The stream's answer to a message. */
function outcomeOf(reply: Msg): Outcome {
  const status = reply.headers?.code ?? 0;
  if (status !== 0) return { isStored: false, error: `status ${status}`, errorCode: null };
  const { error, seq } = reply.json<{ seq?: number; error?: { err_code?: number; description?: string } }>();
  if (error === undefined) return { isStored: (seq ?? 0) > 0, error: null, errorCode: null };
  const { description = 'an error without a description', err_code: errorCode = null } = error;
  return { isStored: false, error: description, errorCode };
}
