import { type BackoffLimits, backoffDelayMs } from '../runtime/backoff.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { SubscribedTopics } from '../runtime/subscribedTopics.ts';
import type { VenueFeed } from '../runtime/venueFeedRegistry.ts';
import { retryAfterOf } from './http.ts';
import type { SocketDriver, VenueSocket, VenueSocketOptions } from './venueSocket.ts';

const RETRY: BackoffLimits = { firstMs: 500, maxMs: 30_000 };
/** Back-off after a refusal (blocked country, missing rights): retries are rare. */
const RETRY_REFUSED: BackoffLimits = { firstMs: 60_000, maxMs: 600_000 };
/** A connection that lasted this long resets the back-off. */
const STABLE_AFTER_MS = 30_000;
const CLOSE_TIMEOUT_MS = 1_000;
/** Longest `Retry-After` of a handshake that is waited for. */
const RETRY_AFTER_MS_MAX = 3_600_000;

export interface Disconnect {
  readonly cause: string;
  readonly receivedTimeMs: number;
}

/** When to connect again: with the usual back-off, with that of a refusal, at a given time, or not at all. */
export type Retry = 'usual' | 'slow' | { readonly afterMs: number } | 'never';

export interface ReconnectingSocketOptions extends VenueSocketOptions {
  /** Opens and reads the connections. */
  readonly sockets: SocketDriver;
  /** Name in logs and metrics, e.g. `polymarket.clob`. */
  readonly feed: string;
  /** Distinguishes sockets of one feed in logs. */
  readonly group?: string;
  /** Subscribed topics that should all deliver messages; the mapper of the frames reports each message. */
  readonly topics?: readonly string[];
  readonly clock: Clock;
  /** 0 <= x < 1, for the jitter of the back-off. */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Called on every new connection, before any frame: send the subscriptions. */
  readonly onOpen: (send: (text: string) => void) => void;
  /** Receives every text frame, including keep-alive answers, with the time at which its driver read it. */
  readonly onFrame: (text: string, receivedTimeMs: number) => void;
  /** The connection was up and is lost; not called by `close()`. */
  readonly onDown?: (disconnect: Disconnect) => void;
  /** The next attempt after a cause, unless `tryAgain` is called; absent: the usual one. */
  readonly retryOf?: (cause: string) => Retry;
}

/** A connection that is reopened after each loss, with bounded back-off and jitter. */
export class ReconnectingSocket {
  readonly #options: ReconnectingSocketOptions;
  readonly #counters;
  readonly #state: VenueFeed;
  readonly #topics: SubscribedTopics;
  #socket: VenueSocket | null = null;
  #up = false;
  #attempt = 0;
  #openedAt = 0;
  #retry: Timer | null = null;
  /** The venue refused the connection: the pause before the next attempt stays. */
  #refused = false;
  /** Resolves `close()`. */
  #onEnded: (() => void) | null = null;

  constructor(options: ReconnectingSocketOptions) {
    this.#options = options;
    const { metrics, feed, group = null } = options;
    this.#topics = metrics.venueDrift.topics;
    this.#state = metrics.venueFeeds.join({
      feed,
      group,
      kind: 'socket',
      sinceMs: options.clock.now(),
    });
    const counter = (name: string, help: string) => metrics.counter(name, help, ['feed']).labels({ feed });
    this.#counters = {
      connects: counter('underround_venue_connects_total', 'Venue sockets opened'),
      disconnects: counter('underround_venue_disconnects_total', 'Venue sockets lost or refused'),
      frames: counter('underround_venue_frames_total', 'Frames received from venues'),
      bytes: counter('underround_venue_received_bytes_total', 'Bytes of frames received from venues'),
    };
    this.#connect();
  }

  get isUp(): boolean {
    return this.#up;
  }

  /** Sends while connected; otherwise drops the text: `onOpen` sends everything a new connection needs. */
  send(text: string): void {
    if (this.#up) this.#socket?.send(text);
  }

  /** Connects at once if it waits for a retry; after a refusal (403, 429, 451) the pause stays. */
  tryAgain(): void {
    if (this.#retry === null || this.#refused) return;
    this.#retry.cancel();
    this.#connect();
  }

  /** Replaces an open but useless connection at once; calls `onDown`. */
  reconnect(cause: string): void {
    if (!this.#up) return;
    this.drop(cause);
    this.tryAgain();
  }

  /** Ends an open but useless connection; `retryOf` decides the next attempt. Calls `onDown`. */
  drop(cause: string): void {
    if (!this.#up || this.#socket === null) return;
    this.#socket.terminate();
    this.#lose(cause, this.#options.clock.now(), null);
  }

  /** Closes for good; resolves when the connection has ended, after a second at most. */
  close(): Promise<void> {
    const { clock, metrics, feed, topics = [] } = this.#options;
    this.#topics.lost(feed, topics);
    metrics.venueFeeds.leave(this.#state);
    this.#retry?.cancel();
    this.#retry = null;
    const socket = this.#socket;
    this.#socket = null;
    this.#up = false;
    if (!socket) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = clock.after(CLOSE_TIMEOUT_MS, () => {
        socket.terminate();
        resolve();
      });
      this.#onEnded = () => {
        timer.cancel();
        resolve();
      };
      socket.close();
    });
  }

  #connect(): void {
    this.#retry = null;
    const { sockets, url, keepAlive, silenceLimitMs } = this.#options;
    const socket: VenueSocket = sockets.connect(
      { url, keepAlive, silenceLimitMs },
      {
        onOpen: () => this.#opened(socket),
        onFrame: (text, receivedTimeMs, bytes) => {
          if (socket === this.#socket) this.#received(text, receivedTimeMs, bytes);
        },
        onClosed: (cause, closedTimeMs, retryAfter) => {
          if (socket === this.#socket) this.#lose(cause, closedTimeMs, retryAfter);
          else this.#onEnded?.();
        },
      },
    );
    this.#socket = socket;
  }

  #opened(socket: VenueSocket): void {
    if (socket !== this.#socket) return;
    const { clock, feed, group, log, onOpen } = this.#options;
    this.#up = this.#state.isUp = true;
    this.#openedAt = clock.monotonic();
    this.#counters.connects.inc();
    log.info({ feed, group, attempt: this.#attempt }, 'venue connected');
    this.#topics.subscribed(feed, this.#options.topics ?? [], clock.now());
    onOpen((text) => socket.send(text));
  }

  #received(text: string, receivedTimeMs: number, bytes: number): void {
    if (text !== this.#options.keepAlive?.answer) this.#state.lastMessageMs = receivedTimeMs;
    this.#counters.frames.inc();
    this.#counters.bytes.inc(bytes);
    this.#options.onFrame(text, receivedTimeMs);
  }

  /** Drops the connection, reports the loss once and schedules the next attempt. */
  #lose(cause: string, lostTimeMs: number, retryAfter: string | null): void {
    const { clock, feed, group, log, onDown } = this.#options;
    const wasUp = this.#up;
    this.#socket = null;
    this.#up = false;
    if (wasUp && clock.monotonic() - this.#openedAt >= STABLE_AFTER_MS) this.#attempt = 0;
    const refused = /^HTTP (401|403|451)$/.test(cause);
    const retryAfterMs = retryAfterOf(retryAfter ?? undefined, lostTimeMs);
    this.#refused = refused || /^HTTP 429$/.test(cause) || retryAfterMs !== null;
    const retryDelayMs = this.#retryDelayMs(cause, retryAfterMs);
    this.#retry = retryDelayMs === null ? null : clock.after(retryDelayMs, () => this.#connect());
    this.#topics.lost(feed, this.#options.topics ?? []);
    this.#counters.disconnects.inc();
    this.#state.failed(cause, lostTimeMs);
    const outcome = refused
      ? 'venue refused the connection (geo-blocked?)'
      : wasUp
        ? 'venue disconnected'
        : 'venue connection failed';
    log.warn({ feed, group, cause, attempt: this.#attempt, retryDelayMs }, outcome);
    if (wasUp) onDown?.({ cause, receivedTimeMs: lostTimeMs });
  }

  /** @param retryAfterMs Requested by the venue: a minimum, to which the back-off is added. @returns Null: no attempt. */
  #retryDelayMs(cause: string, retryAfterMs: number | null): number | null {
    const { random, retryOf } = this.#options;
    const attempt = this.#attempt++;
    if (retryAfterMs !== null) {
      return Math.min(retryAfterMs, RETRY_AFTER_MS_MAX) + backoffDelayMs(RETRY, attempt, random);
    }
    const retry = this.#refused ? 'slow' : (retryOf?.(cause) ?? 'usual');
    if (retry === 'never') return null;
    if (typeof retry === 'object') return retry.afterMs;
    return backoffDelayMs(retry === 'slow' ? RETRY_REFUSED : RETRY, attempt, random);
  }
}
