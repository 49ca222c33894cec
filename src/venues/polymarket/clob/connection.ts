import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/log.ts';
import type { Metrics } from '../../../runtime/metrics.ts';
import { ReconnectingSocket } from '../../socket.ts';
import type { KeepAlive, SocketDriver } from '../../venueSocket.ts';

const FEED = 'polymarket.clob';
/** The answer waits in the data queue: up to 11.4 s under load (seen 2026-10). */
const KEEP_ALIVE: KeepAlive = { text: 'PING', answer: 'PONG', periodMs: 10_000, answerLimitMs: 25_000 };
/** The venue's close reason when all subscribed markets are over; an immediate reconnect would only repeat it. */
const ALL_RESOLVED = /\ball subscribed assets resolved\b/;
/** How long a frame counts in the load: long enough to smooth bursts, short enough to notice that a window has opened. */
const LOAD_FORGET_SECONDS = 10;

export interface ClobConnectionOptions {
  readonly url: string;
  readonly sockets: SocketDriver;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Events of a connection, handled by its shard. */
interface ClobConnectionEvents {
  onFrame(text: string, receivedTimeMs: number): void;
  onDown(cause: string, receivedTimeMs: number): void;
}

/** One connection of the market channel and its subscribed tokens. */
export class ClobConnection {
  /** Tokens whose books arrived on this connection; their changes follow. */
  readonly served = new Set<string>();
  /** Frames with data since the start. */
  frames = 0;
  /** The data frames' bytes a second, recently. */
  readonly load: LoadMeter;
  /** Monotonic time of the last frame with data, or of the start. */
  lastDataAt: number;
  /** Monotonic time at which it was last opened. */
  openedAt = Number.NEGATIVE_INFINITY;
  readonly #tokens: ReadonlySet<string>;
  readonly #socket: ReconnectingSocket;
  /** The venue ended the last connection because all subscribed markets were over. */
  #allResolved = false;

  /** @param tokens The shard's tokens, a live view. */
  constructor(
    options: ClobConnectionOptions,
    group: string,
    tokens: ReadonlySet<string>,
    events: ClobConnectionEvents,
  ) {
    this.#tokens = tokens;
    const { clock } = options;
    this.lastDataAt = clock.monotonic();
    this.load = new LoadMeter(clock);
    this.#socket = new ReconnectingSocket({
      ...options,
      feed: FEED,
      group,
      keepAlive: KEEP_ALIVE,
      // The watchdog judges silence by earlier activity and by asking the venue: a quiet night is no fault.
      silenceLimitMs: null,
      onOpen: (send) => {
        this.openedAt = clock.monotonic();
        send(JSON.stringify({ ...assets(this.#tokens), type: 'market' }));
      },
      onFrame: (text, receivedTimeMs) => {
        if (text !== KEEP_ALIVE.answer) {
          this.frames++;
          this.load.add(text.length);
          this.lastDataAt = clock.monotonic();
        }
        events.onFrame(text, receivedTimeMs);
      },
      onDown: ({ cause, receivedTimeMs }) => {
        this.#allResolved = ALL_RESOLVED.test(cause);
        events.onDown(cause, receivedTimeMs);
        this.served.clear();
      },
      retryOf: (cause) => (ALL_RESOLVED.test(cause) ? 'slow' : 'usual'),
    });
  }

  get isUp(): boolean {
    return this.#socket.isUp;
  }

  add(tokenIds: readonly string[]): void {
    this.#operate('subscribe', tokenIds);
    // The long pause after "all resolved" applied to the old tokens only.
    if (this.#allResolved) this.#socket.tryAgain();
    this.#allResolved = false;
  }

  remove(tokenIds: readonly string[]): void {
    for (const tokenId of tokenIds) this.served.delete(tokenId);
    this.#operate('unsubscribe', tokenIds);
  }

  /** Requests the books again: the venue sends them after a subscription and on a new connection. */
  renew(tokenIds: readonly string[]): void {
    if (this.isUp) {
      this.remove(tokenIds);
      this.#operate('subscribe', tokenIds);
    } else this.#socket.tryAgain();
  }

  /** Replaces the connection at once. */
  reconnect(cause: string): void {
    this.#socket.reconnect(cause);
  }

  /** Tries to connect now unless the venue has refused. */
  tryNow(): void {
    if (!this.#allResolved) this.#socket.tryAgain();
  }

  close(): Promise<void> {
    return this.#socket.close();
  }

  #operate(operation: 'subscribe' | 'unsubscribe', tokenIds: readonly string[]): void {
    this.#socket.send(JSON.stringify({ ...assets(tokenIds), operation }));
  }
}

/** The flag belongs to the connection and the last write wins, so every message carries it. */
function assets(tokenIds: Iterable<string>): object {
  return { assets_ids: [...tokenIds], custom_feature_enabled: true };
}

/** The recent load of a connection: an average of received bytes a second that forgets with time. */
class LoadMeter {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #rate = 0;
  #countedAt: number;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#countedAt = clock.monotonic();
  }

  add(bytes: number): void {
    this.#rate = this.bytesPerSecond + bytes / LOAD_FORGET_SECONDS;
    this.#countedAt = this.#clock.monotonic();
  }

  get bytesPerSecond(): number {
    const elapsedSeconds = (this.#clock.monotonic() - this.#countedAt) / 1000;
    return this.#rate * Math.exp(-elapsedSeconds / LOAD_FORGET_SECONDS);
  }
}
