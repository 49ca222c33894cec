import type { ConsumerConfig, JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { NatsLink } from '../../src/bus/nats/natsLink.ts';
import type { StreamParts } from '../../src/bus/nats/streamParts.ts';
import { encodeMessage } from '../../src/bus/wire/message.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { FakeClock } from './fakeClock.ts';
import { tradeOf } from './streamTrades.ts';

/** Gives the pushed items in their order, and waits for more until `end` is called. */
class Queue<T> {
  readonly #items: T[] = [];
  #isOver = false;
  #wake: () => void = () => undefined;

  push(item: T): void {
    this.#items.push(item);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      for (let item = this.#items.shift(); item !== undefined; item = this.#items.shift()) yield item;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** The messages of one consumer, as the client gives them. */
class FakeMessages extends Queue<JsMsg> {
  readonly #status = new Queue<{ type: string }>();
  isStopped = false;

  status(): Queue<{ type: string }> {
    return this.#status;
  }

  notify(type: string): void {
    this.#status.push({ type });
  }

  stop(): void {
    this.isStopped = true;
    this.#status.end();
    this.end();
  }
}

/** One message, a trade named after its number in the stream. @param options.version That of its encoding. */
export function delivered(
  streamSequence: number,
  { deliverySequence = streamSequence, partition = 0, storedMs = 5, version = 1 } = {},
): JsMsg {
  const info = { streamSequence, deliverySequence, timestampNanos: storedMs * 1_000_000 };
  const data = encodeMessage(tradeOf('market', `t${streamSequence}`));
  data[0] = version;
  return { subject: `u.${partition}.trade`, data, info } as unknown as JsMsg;
}

/** The client's connection to JetStream, of which a test replaces `jetstream`, and the link to it. */
export class FakeJetStream {
  /** Why the stream does not answer; null while it does. */
  failure: Error | null = null;
  /** Resolves before a consumer reads; a test may hold it. */
  opening: Promise<void> = Promise.resolve();
  /** When the stream stored each message; null: it has none. */
  stored: Date | null = null;
  firstSeq = 1;
  lastSeq = 100;
  /** Questions for the stream's state. */
  asked = 0;
  isUp = true;
  readonly created: Partial<ConsumerConfig>[] = [];
  /** Stream, consumer and options of each reading. */
  readonly consumed: unknown[] = [];
  readonly sessions: FakeMessages[] = [];
  readonly listeners = new Set<(isUp: boolean) => void>();

  /** The newest session. */
  get messages(): FakeMessages {
    const messages = this.sessions.at(-1);
    if (messages === undefined) throw new Error('no session was opened');
    return messages;
  }

  readonly link = {
    up: (signal: AbortSignal) => this.#up(signal),
    onChange: (listener: (isUp: boolean) => void) => this.#listen(listener),
    connection: async () => this as unknown as NatsConnection,
  };

  readonly consumers = {
    get: async (stream: string, name: string) => ({
      consume: async (options: unknown) => {
        await this.opening;
        this.consumed.push({ stream, name, options });
        this.sessions.push(new FakeMessages());
        return this.messages;
      },
    }),
  };

  async jetstreamManager() {
    return {
      streams: {
        info: () => this.#info(),
        getMessage: async () => (this.stored === null ? null : { time: this.stored }),
      },
      consumers: {
        add: async (_stream: string, config: Partial<ConsumerConfig>) => {
          this.created.push(config);
          return { name: `consumer${this.created.length}` };
        },
      },
    };
  }

  setUp(isUp: boolean): void {
    this.isUp = isUp;
    for (const listener of [...this.listeners]) listener(isUp);
  }

  async #info() {
    this.asked++;
    if (this.failure !== null) throw this.failure;
    return {
      state: { first_seq: this.firstSeq, last_seq: this.lastSeq },
      config: { num_replicas: 1 },
    };
  }

  #up(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (this.isUp || signal.aborted) return resolve();
      this.#listen(() => resolve());
      signal.addEventListener('abort', () => resolve());
    });
  }

  #listen(listener: (isUp: boolean) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}

/** What readers of a stream on `nats` share, and the lines that they log. Pauses have their full length. */
export function streamPartsOf(nats: FakeJetStream) {
  const lines: { readonly event: string; readonly [fact: string]: unknown }[] = [];
  const note = (facts: object, event: string) => void lines.push({ event, ...facts });
  const [clock, metrics] = [new FakeClock(), new Metrics()];
  const { up, onChange, connection } = nats.link;
  const link = {
    up,
    onChange,
    connection,
    get isUp() {
      return nats.isUp;
    },
  } as unknown as NatsLink;
  const log = { ...silentLogger, warn: note, error: note } as unknown as StreamParts['log'];
  const checkCreated = () => undefined;
  const parts: StreamParts = { link, prefix: 'u', clock, log, metrics, random: () => 1, checkCreated };
  return { parts, clock, metrics, lines };
}
