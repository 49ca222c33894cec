import {
  type ConsumerMessages,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  type StreamInfo,
} from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { sleep } from '../../runtime/clock.ts';
import { Backoff } from '../../runtime/reconnectBackoff.ts';
import type { StreamParts } from './streamParts.ts';

const RETRY = { firstMs: 100, maxMs: 5_000 };
/** Messages requested ahead. */
const AHEAD_MAX = 2_000;
/** How long a request for messages is valid; without a heartbeat for as long, the consumer is created again. */
const REQUEST_MS = 4_000;

/** What a session reads, for each attempt. */
interface SessionPlan {
  /** Creates the consumer on the server. @returns Its configuration's name. */
  create(manager: JetStreamManager, info: StreamInfo): Promise<string>;
  /** Gets each message; the next one follows when it has returned. A rejection starts the session again. */
  onMessage(message: JsMsg, manager: JetStreamManager): Promise<void> | void;
  /** Called when a session has ended, before another one begins. */
  onEnd(): Promise<void>;
}

/**
 * Reads from a consumer of the stream until it is stopped. After a disconnect, a lost message or a silent server it
 * creates the consumer again.
 */
export class ConsumerSession {
  readonly #parts: StreamParts;
  readonly #plan: SessionPlan;
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;
  #messages: ConsumerMessages | null = null;
  #failure: string | null = null;
  /** Whether a message is being handled: meanwhile no messages are requested, and the server sends no heartbeats. */
  #isBusy = false;
  /** Why the server ended the current session; null while it did not. */
  #endCause: string | null = null;

  constructor(parts: StreamParts, plan: SessionPlan) {
    this.#parts = parts;
    this.#plan = plan;
    this.#running = this.#run();
  }

  /** Why it cannot read; null while it can. */
  get reason(): string | null {
    return this.#failure === null ? null : `the stream cannot be read: ${this.#failure}`;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#messages?.stop();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, link, log, random } = this.#parts;
    const { signal } = this.#stopped;
    const backoff = new Backoff(RETRY, random);
    const endChanges = link.onChange(() => this.#messages?.stop());
    signal.addEventListener('abort', endChanges, { once: true });
    while (!signal.aborted) {
      await link.up(signal);
      if (signal.aborted) break;
      try {
        await this.#read(await link.connection(), () => backoff.reset());
      } catch (error) {
        this.#failure = (error as Error).message;
        const retryMs = backoff.failed(clock.monotonic());
        if (!signal.aborted) log.warn({ err: error, retryMs }, 'stream.read_failed');
        await sleep(clock, retryMs, signal);
      }
      await this.#plan.onEnd();
    }
  }

  async #read(connection: NatsConnection, onOpen: () => void): Promise<void> {
    const client: JetStreamClient = jetstream(connection);
    const manager = await client.jetstreamManager(false);
    const info = await manager.streams.info(this.#parts.prefix);
    this.#parts.checkCreated(info);
    const name = await this.#plan.create(manager, info);
    const consumer = await client.consumers.get(this.#parts.prefix, name);
    const messages = await consumer.consume({
      max_messages: AHEAD_MAX,
      expires: REQUEST_MS,
      bind: true,
      abort_on_missing_resource: true,
    });
    this.#messages = messages;
    this.#endCause = null;
    this.#isBusy = false;
    // Both may have happened while the consumer was created.
    if (this.#stopped.signal.aborted || !this.#parts.link.isUp) messages.stop();
    void this.#watch(messages);
    let expected = 1;
    for await (const message of messages) {
      if (this.#stopped.signal.aborted) break;
      if (message.info.deliverySequence !== expected++) throw new Error('a message of the consumer was lost');
      if (expected === 2) onOpen();
      this.#failure = null;
      this.#isBusy = true;
      await this.#plan.onMessage(message, manager);
      this.#isBusy = false;
    }
    this.#messages = null;
    if (this.#endCause !== null) throw new Error(this.#endCause);
  }

  /** Ends the session when the server is silent or has deleted the consumer. */
  async #watch(messages: ConsumerMessages): Promise<void> {
    for await (const { type } of messages.status()) {
      if (type === 'next') this.#failure = null;
      if (type === 'heartbeats_missed' && this.#isBusy) continue;
      if (['heartbeats_missed', 'consumer_deleted', 'consumer_not_found', 'no_responders'].includes(type)) {
        this.#endCause = type;
        messages.stop();
      }
    }
  }
}
