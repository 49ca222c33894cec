import {
  type Authenticator,
  type ConnectionOptions,
  connect,
  type NatsConnection,
  type Status,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { ConfigError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { Backoff } from '../../runtime/reconnectBackoff.ts';

/** Pauses between attempts to connect. */
const CONNECT_RETRY = { firstMs: 250, maxMs: 5_000 };
const CONNECT_TIMEOUT_MS = 5_000;
/** A server that answers none of three pings counts as dead; another one of its cluster is then tried. */
const PING_INTERVAL_MS = 2_000;
const PINGS_OUT_MAX = 3;
const RECONNECT_WAIT_MS = 250;

interface NatsLinkOptions {
  /** One server, or several of one cluster separated by commas. May contain a user and a password, or a token. */
  readonly url: string;
  /** Name of this process in the server's lists of connections. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly random: () => number;
}

/** The connection to NATS: tries until it exists, and again whenever it breaks. Its address is never logged. */
export class NatsLink {
  readonly #options: NatsLinkOptions;
  readonly #closed = new AbortController();
  readonly #listeners = new Set<(isUp: boolean) => void>();
  readonly #connection: Promise<NatsConnection>;
  readonly #gauge;
  #isUp = false;
  #failure: string | null = null;

  private constructor(options: NatsLinkOptions) {
    this.#options = options;
    this.#gauge = options.metrics.gauge('underround_stream_connected', 'Whether NATS is connected: 1 or 0');
    this.#gauge.set(0);
    this.#connection = this.#connect(serverOptions(options.url));
    // Every user awaits it too; without one, closing would raise an unhandled rejection.
    this.#connection.catch(() => undefined);
  }

  /** @throws {ConfigError} When the URL is invalid. It does not wait for the connection. */
  static open(options: NatsLinkOptions): NatsLink {
    return new NatsLink(options);
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** Why there is no connection; null while there is one. */
  get reason(): string | null {
    if (this.#isUp) return null;
    return this.#failure === null ? 'NATS is not connected' : `NATS is not connected: ${this.#failure}`;
  }

  /** The connection, as soon as it was made once. Rejects when the link is closed before. */
  connection(): Promise<NatsConnection> {
    return this.#connection;
  }

  /** Calls `listener` after each change. @returns A function that unsubscribes it. */
  onChange(listener: (isUp: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when the connection is up, or when `signal` aborts. */
  async up(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        end();
        signal.removeEventListener('abort', done);
        resolve();
      };
      // The next change of a connection that is down is that it is up.
      const end = this.onChange(done);
      signal.addEventListener('abort', done);
      if (this.#isUp || signal.aborted) done();
    });
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const connection = await this.#connection.catch(() => null);
    await connection?.close();
    this.#setUp(false);
  }

  async #connect(servers: ConnectionOptions): Promise<NatsConnection> {
    const { clock, log, name, random } = this.#options;
    const { signal } = this.#closed;
    const backoff = new Backoff(CONNECT_RETRY, random);
    while (!signal.aborted) {
      try {
        const connection = await connect({ ...servers, ...FIXED_OPTIONS, name });
        log.info({ server: connection.getServer() }, 'nats.connected');
        this.#setUp(true);
        void this.#watch(connection);
        return connection;
      } catch (error) {
        this.#failure = (error as Error).message;
        const retryMs = backoff.failed(clock.monotonic());
        log.warn({ err: error, tries: backoff.tries, retryMs }, 'nats.not_connected');
        await sleep(clock, retryMs, signal);
      }
    }
    throw new Error('the connection to NATS was closed');
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) this.#onStatus(status);
  }

  #onStatus(status: Status): void {
    const { log } = this.#options;
    if (status.type === 'disconnect') {
      log.warn({ server: status.server }, 'nats.disconnected');
      this.#setUp(false);
    } else if (status.type === 'reconnect') {
      log.info({ server: status.server }, 'nats.reconnected');
      this.#setUp(true);
    } else if (status.type === 'error') {
      this.#failure = status.error.message;
      log.warn({ err: status.error }, 'nats.error');
    }
  }

  #setUp(isUp: boolean): void {
    if (isUp === this.#isUp) return;
    this.#isUp = isUp;
    if (isUp) this.#failure = null;
    this.#gauge.set(isUp ? 1 : 0);
    for (const listener of [...this.#listeners]) listener(isUp);
  }
}

const FIXED_OPTIONS: ConnectionOptions = {
  timeout: CONNECT_TIMEOUT_MS,
  pingInterval: PING_INTERVAL_MS,
  maxPingOut: PINGS_OUT_MAX,
  maxReconnectAttempts: -1,
  reconnectTimeWait: RECONNECT_WAIT_MS,
  // A password may be corrected on the server while this process runs.
  ignoreAuthErrorAbort: true,
};

/** Splits the URL: the client's errors and log lines show servers, and must not contain a password. */
function serverOptions(text: string): ConnectionOptions {
  const urls = text.split(',').map((one) => {
    const url = URL.parse(one.trim());
    if (url === null || !['nats:', 'tls:'].includes(url.protocol) || url.hostname === '') {
      throw new ConfigError('NATS_URL (value not shown) must be URLs starting with nats:// or tls://');
    }
    return url;
  });
  const [first] = urls as [URL];
  const port = (url: URL) => (url.port === '' ? '4222' : url.port);
  return {
    servers: urls.map((url) => `${url.hostname}:${port(url)}`),
    ...authenticationOf(first),
    ...(urls.some(({ protocol }) => protocol === 'tls:') ? { tls: {} } : {}),
  };
}

function authenticationOf({ username, password }: URL): { authenticator?: Authenticator } {
  if (username === '') return {};
  const user = decodeURIComponent(username);
  if (password === '') return { authenticator: tokenAuthenticator(user) };
  return { authenticator: usernamePasswordAuthenticator(user, decodeURIComponent(password)) };
}
