import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { AccessControl } from '../../src/accounts/keys/accessControl.ts';
import type { Gone } from '../../src/accounts/keys/liveKeys.ts';
import type { ApiDependencies } from '../../src/api/createApi.ts';
import { Bus } from '../../src/bus/bus.ts';
import { type Logger, silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { Gap } from '../../src/schema/gap.ts';
import type { Market } from '../../src/schema/market.ts';
import type { BookRecord } from '../../src/schema/records.ts';
import { TIERS, type Tier } from '../../src/schema/tier.ts';
import type { LiveBook } from '../../src/stream/bookText.ts';
import { StreamHub } from '../../src/stream/streamHub.ts';
import { bookRecord, marketRecord, unaskedStore, uncheckedApi } from './api.ts';
import { FakeClock } from './fakeClock.ts';
import { FOLLOWED } from './followed.ts';

export const RUN = '0123456789ab';

/** A parsed message of the server. */
export interface Message {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A recorder that publishes events chosen by a test. */
class FakeRecorder {
  readonly bus: Bus;
  readonly books = new Map<string, LiveBook | 'unfinished'>();
  readonly gaps = new Map<string, Gap>();
  readonly #markets = new Map<string, Market>();
  #seq = 0;
  #changes = 0;

  constructor(bus: Bus) {
    this.bus = bus;
  }

  markets(): Iterable<Market> {
    return this.#markets.values();
  }

  market(marketId: string): Market | null {
    return this.#markets.get(marketId) ?? null;
  }

  book(marketId: string): LiveBook | 'unfinished' | null {
    return this.books.get(marketId) ?? null;
  }

  gap(marketId: string): Gap | null {
    return this.gaps.get(marketId) ?? null;
  }

  list(market: Partial<Market> & Pick<Market, 'marketId'>): void {
    const record = marketRecord({ ...this.#markets.get(market.marketId), ...market });
    this.#markets.set(market.marketId, record);
    this.bus.publish('market', { ...record, seq: ++this.#seq });
  }

  drop(marketId: string): void {
    this.#markets.delete(marketId);
  }

  /** Publishes one change, identifiable by the `size` of the best bid. */
  change(marketId: string, size: number, book: Partial<LiveBook> & { levels?: number } = {}): BookRecord {
    const timeMs = 1_795_176_000_000 + ++this.#changes;
    const { levels = 1, ...rest } = book;
    const asks = Array.from({ length: levels }, (_, i) => [5000 + i, 3_000_000] as const);
    const record = {
      ...bookRecord({
        ...{ seq: ++this.#seq, marketId, timeMs },
        ...{ yesBids: [[4900, size * 1_000_000]], yesAsks: asks, underlyingPrice: 97_000.5 },
      }),
      ...rest,
    };
    this.books.set(marketId, record);
    this.bus.publish('book', record);
    return record;
  }
}

/** Access control where a key is its tier's name; `maintenance` closes the service. */
class TierAccessControl implements AccessControl {
  closed = false;

  moment(): number {
    return 0;
  }

  maintenance() {
    return this.closed ? { retryAfterSeconds: 30, message: null } : null;
  }

  authenticate(header: string | undefined) {
    const tier = TIERS.find((name) => header === `Bearer ${name}`);
    if (tier === undefined) return { reason: 'unknown', detail: 'Unknown API key' } as const;
    return { keyId: `key_${tier}`, userId: `usr_${tier}`, email: 'a@example.com', tier };
  }

  async signedIn() {
    return null;
  }
}

/** The API with streams on a port of this machine. */
export class StreamRig {
  readonly clock = new FakeClock();
  readonly metrics = new Metrics();
  readonly bus: Bus;
  readonly recorder: FakeRecorder;
  readonly keys = new TierAccessControl();
  readonly watched: { keyId: string; onGone: (why: Gone) => void }[] = [];
  streams!: StreamHub;
  #url = '';
  #close: () => Promise<unknown> = async () => undefined;

  constructor() {
    this.bus = new Bus({ log: silentLogger, metrics: this.metrics });
    this.recorder = new FakeRecorder(this.bus);
  }

  async start(parts: Partial<ApiDependencies> & { log?: Logger } = {}): Promise<this> {
    const { clock, metrics, bus, recorder: books } = this;
    const liveKeys = {
      watch: ({ keyId }: { keyId: string }, onGone: (why: Gone) => void) => {
        const watch = { keyId, onGone };
        this.watched.push(watch);
        return () => void this.watched.splice(this.watched.indexOf(watch), 1);
      },
    };
    const log = parts.log ?? silentLogger;
    this.streams = new StreamHub({ ...FOLLOWED, run: RUN, bus, books, liveKeys, clock, log, metrics });
    const app = uncheckedApi({
      ...{ store: unaskedStore, accounts: this.keys, streams: this.streams, clock, metrics },
      ...parts,
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    this.#url = `127.0.0.1:${(app.server.address() as AddressInfo).port}`;
    this.#close = () => app.close();
    onTestFinished(() => this.stop());
    return this;
  }

  get url(): string {
    return this.#url;
  }

  async stop(): Promise<void> {
    const closing = this.#close();
    await this.clock.advance(10_000);
    await closing;
  }

  /** A client with a completed handshake. */
  async connect(tier: Tier = 'premium', path = '/v1/stream'): Promise<StreamClient> {
    const socket = new WebSocket(`ws://${this.#url}${path}`, {
      headers: { authorization: `Bearer ${tier}` },
    });
    const client = new StreamClient(socket);
    await client.next('ready');
    return client;
  }

  /** Status, headers and body of a refused handshake. */
  refusal(path: string, headers: Record<string, string> = {}) {
    return new Promise<{ status: number; headers: Record<string, unknown>; body: unknown }>(
      (resolve, reject) => {
        const socket = new WebSocket(`ws://${this.#url}${path}`, { headers });
        socket.on('error', reject);
        socket.on('open', () => reject(new Error('was not refused')));
        socket.on('unexpected-response', (_request, response) => {
          let text = '';
          response.on('data', (chunk) => {
            text += chunk;
          });
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) }),
          );
        });
      },
    );
  }
}

/** A client that keeps received messages. */
export class StreamClient {
  readonly socket: WebSocket;
  readonly messages: Message[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  #read = 0;
  #marks = 0;
  #arrived: (() => void) | null = null;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('message', (data) => {
      this.messages.push(JSON.parse(String(data)));
      this.#arrived?.();
    });
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => {
        resolve({ code, reason: String(reason) });
        this.#arrived?.();
      });
    });
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  /** The next message. @param awaited Name of the awaited message, for errors. */
  async nextOfAny(awaited = 'any message'): Promise<Message> {
    while (this.#read >= this.messages.length) {
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`closed while waiting for ${awaited}`);
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
    return this.messages[this.#read++] as Message;
  }

  /** The next message, which must have this type. */
  async next(type: string): Promise<Message> {
    const message = await this.nextOfAny(type);
    if (message.type !== type)
      throw new Error(`expected ${type}, got ${JSON.stringify(message).slice(0, 200)}`);
    return message;
  }

  /** The server's answer to a command. */
  async ask(message: unknown, answer = 'ack'): Promise<Message> {
    this.send(message);
    return this.next(answer);
  }

  /** Received messages that `next` has not returned, once the server has answered one more command. */
  async rest(): Promise<Message[]> {
    const mark = `mark ${++this.#marks}`;
    this.send({ type: mark });
    const isMark = ({ detail }: Message) => detail === `unknown type ${mark}`;
    while (!this.messages.some(isMark)) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
    const end = this.messages.findIndex(isMark);
    const rest = this.messages.slice(this.#read, end);
    this.#read = end + 1;
    return rest;
  }
}
