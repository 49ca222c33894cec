import { type BackoffLimits, backoffDelayMs } from '../runtime/backoff.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { VenueFeed } from '../runtime/venueFeedRegistry.ts';
import type { SocketDriver, VenueSocket, VenueSocketOptions } from './venueSocket.ts';

const RETRY: BackoffLimits = { firstMs: 500, maxMs: 30_000 };
/** A venue that says no (blocked country, missing rights) is asked again, but rarely. */
const RETRY_REFUSED: BackoffLimits = { firstMs: 60_000, maxMs: 600_000 };
/** A connection that lived this long starts the back-off anew. */
const STABLE_AFTER_MS = 30_000;
const CLOSE_TIMEOUT_MS = 1_000;

export interface Disconnect {
  readonly cause: string;
  readonly receivedTimeMs: number;
}

export interface ReconnectingSocketOptions extends VenueSocketOptions {
  /** Where connections are made and read. */
  readonly sockets: SocketDriver;
  /** Name in logs and metrics, e.g. `polymarket.clob`. */
  readonly feed: string;
  /** Tells sockets of one feed apart in logs. */
  readonly group?: string;
  readonly clock: Clock;
  /** 0 <= x < 1, for the jitter of the back-off. */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Called on every new connection, before any frame: send the subscriptions. */
  readonly onOpen: (send: (text: string) => void) => void;
  /** Every text frame, keep-alive answers too, with the time at which its driver read it. */
  readonly onFrame: (text: string, receivedTimeMs: number) => void;
  readonly onUp?: () => void;
  /** The connection was up and is lost; not called by `close()`. */
  readonly onDown?: (disconnect: Disconnect) => void;
  /** Causes after which the venue is left alone as if it had refused, unless more is wanted of it. */
  readonly isOver?: (cause: string) => boolean;
}

/** A connection that comes back after each loss, with bounded back-off and jitter. */
export class ReconnectingSocket {
  readonly #options: ReconnectingSocketOptions;
  readonly #counters;
  readonly #state: VenueFeed;
  #socket: VenueSocket | null = null;
  #up = false;
  #attempt = 0;
  #openedAt = 0;
  #retry: Timer | null = null;
  /** The venue said no: it is asked again, but rarely. */
  #refused = false;
  /** Resolves `close()`. */
  #onEnded: (() => void) | null = null;

  constructor(options: ReconnectingSocketOptions) {
    this.#options = options;
    const { metrics, feed, group = null } = options;
    this.#state = metrics.venueFeeds.join({
      ...{ feed, group, kind: 'socket' },
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

  /** Sends when connected; otherwise drops: `onOpen` sends whatever a new connection needs. */
  send(text: string): void {
    if (this.#up) this.#socket?.send(text);
  }

  /** Connects at once if it waits to try again; a venue that refused (403, 429, 451) keeps its pause. */
  tryAgain(): void {
    if (this.#retry === null || this.#refused) return;
    this.#retry.cancel();
    this.#connect();
  }

  /** Gives a connection up that is open but of no use, and makes a new one at once; `onDown` is told. */
  reconnect(cause: string): void {
    if (!this.#up || this.#socket === null) return;
    this.#socket.terminate();
    this.#lose(cause, this.#options.clock.now());
    this.tryAgain();
  }

  /** Ends for good; resolves when the connection is gone, at the latest after a second. */
  close(): Promise<void> {
    const { clock, metrics } = this.#options;
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
        onClosed: (cause, closedTimeMs) => {
          if (socket === this.#socket) this.#lose(cause, closedTimeMs);
          else this.#onEnded?.();
        },
      },
    );
    this.#socket = socket;
  }

  #opened(socket: VenueSocket): void {
    if (socket !== this.#socket) return;
    const { clock, feed, group, log, onOpen, onUp } = this.#options;
    this.#up = this.#state.isUp = true;
    this.#openedAt = clock.monotonic();
    this.#counters.connects.inc();
    log.info({ feed, group, attempt: this.#attempt }, 'venue connected');
    onUp?.();
    onOpen((text) => socket.send(text));
  }

  #received(text: string, receivedTimeMs: number, bytes: number): void {
    if (text !== this.#options.keepAlive?.answer) this.#state.lastMessageMs = receivedTimeMs;
    this.#counters.frames.inc();
    this.#counters.bytes.inc(bytes);
    this.#options.onFrame(text, receivedTimeMs);
  }

  /** Drops the connection, reports the loss once, and plans the next attempt. */
  #lose(cause: string, lostTimeMs: number): void {
    const { clock, feed, group, log, onDown, random, isOver } = this.#options;
    const wasUp = this.#up;
    this.#socket = null;
    this.#up = false;
    if (wasUp && clock.monotonic() - this.#openedAt >= STABLE_AFTER_MS) this.#attempt = 0;
    const refused = /^HTTP (401|403|451)$/.test(cause);
    this.#refused = refused || /^HTTP 429$/.test(cause);
    const slow = this.#refused || isOver?.(cause) === true;
    const retryDelayMs = backoffDelayMs(slow ? RETRY_REFUSED : RETRY, this.#attempt++, random);
    this.#retry = clock.after(retryDelayMs, () => this.#connect());
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
}
