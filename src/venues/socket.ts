import { type ClientOptions, WebSocket } from 'ws';
import type { Clock, Timer } from '../clock.ts';
import type { Logger } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { VenueFeed } from '../ops/venueFeeds.ts';
import { type BackoffLimits, backoffDelayMs } from './backoff.ts';
import { VERIFIED } from './http.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** The longest frame seen is a batch of 400 whole books at about 4 KB each. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024;
const RETRY: BackoffLimits = { firstMs: 500, maxMs: 30_000 };
/** A venue that says no (blocked country, missing rights) is asked again, but rarely. */
const RETRY_REFUSED: BackoffLimits = { firstMs: 60_000, maxMs: 600_000 };
/** A connection that lived this long starts the back-off anew. */
const STABLE_AFTER_MS = 30_000;
const CLOSE_TIMEOUT_MS = 1_000;

export interface KeepAlive {
  /** Text frame to send, and the one that answers it; the answer counts as life, not as data. */
  readonly text: string;
  readonly answer: string;
  readonly periodMs: number;
  /** No frame for so long after an unanswered `text` is death; null where the venue need not answer. */
  readonly answerLimitMs: number | null;
}

export interface Disconnect {
  readonly cause: string;
  readonly receivedTimeMs: number;
}

export interface ReconnectingSocketOptions {
  readonly url: string;
  /** Name in logs and metrics, e.g. `polymarket.clob`. */
  readonly feed: string;
  /** Tells sockets of one feed apart in logs. */
  readonly group?: string;
  readonly clock: Clock;
  /** 0 <= x < 1, for the jitter of the back-off. */
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly keepAlive: KeepAlive | null;
  /** Reconnects when no data frame came for so long: venues stall with the socket open. Null: never. */
  readonly silenceLimitMs: number | null;
  /** Called on every new connection, before any frame: send the subscriptions. */
  readonly onOpen: (send: (text: string) => void) => void;
  /** Every text frame, keep-alive answers too; the time is stamped here and nowhere else. */
  readonly onFrame: (text: string, receivedTimeMs: number) => void;
  readonly onUp?: () => void;
  /** The connection was up and is lost; not called by `close()`. */
  readonly onDown?: (disconnect: Disconnect) => void;
  /** Causes after which the venue is left alone as if it had refused, unless more is wanted of it. */
  readonly isOver?: (cause: string) => boolean;
}

/** A WebSocket that comes back: bounded back-off with jitter, keep-alive, a watch over the age of the data. */
export class ReconnectingSocket {
  readonly #options: ReconnectingSocketOptions;
  readonly #counters;
  readonly #state: VenueFeed;
  #socket: WebSocket | null = null;
  #up = false;
  #closed = false;
  #attempt = 0;
  #openedAt = 0;
  #lastDataAt = 0;
  /** When the oldest keep-alive that no frame has followed was sent. */
  #unansweredSince: number | null = null;
  #timers: Timer[] = [];
  #retry: Timer | null = null;
  /** The venue said no: it is asked again, but rarely. */
  #refused = false;

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
    this.#lose(this.#socket, cause);
    this.tryAgain();
  }

  /** Ends for good; resolves when the connection is gone, at the latest after a second. */
  close(): Promise<void> {
    this.#closed = true;
    this.#options.metrics.venueFeeds.leave(this.#state);
    this.#retry?.cancel();
    this.#retry = null;
    this.#cancelTimers();
    const socket = this.#socket;
    this.#socket = null;
    this.#up = false;
    if (!socket || socket.readyState === WebSocket.CLOSED) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(CLOSE_TIMEOUT_MS, () => socket.terminate());
      socket.once('close', () => {
        timer.cancel();
        resolve();
      });
      socket.close(1000);
    });
  }

  #connect(): void {
    this.#retry = null;
    const { url, clock } = this.#options;
    const settings: ClientOptions = { ...VERIFIED, perMessageDeflate: false, maxPayload: FRAME_BYTES_MAX };
    const socket = new WebSocket(url, settings);
    this.#socket = socket;
    let failure: string | null = null;
    this.#timers = [
      clock.after(CONNECT_TIMEOUT_MS, () => this.#lose(socket, `no connection in ${CONNECT_TIMEOUT_MS} ms`)),
    ];
    socket.on('open', () => this.#opened(socket));
    socket.on('message', (data, isBinary) => {
      if (!isBinary) this.#received(socket, data as Buffer);
    });
    socket.on('unexpected-response', (request, response) => {
      request.destroy();
      this.#lose(socket, `HTTP ${response.statusCode}`);
    });
    socket.on('error', (error) => {
      failure = error.message;
    });
    socket.on('close', (code, reason) => {
      this.#lose(socket, failure ?? `closed ${code}${reason.length > 0 ? ` ${reason}` : ''}`);
    });
  }

  #opened(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    const { clock, keepAlive, silenceLimitMs, feed, group, log, onOpen, onUp } = this.#options;
    this.#cancelTimers();
    this.#up = this.#state.isUp = true;
    this.#openedAt = this.#lastDataAt = clock.monotonic();
    this.#unansweredSince = null;
    this.#counters.connects.inc();
    log.info({ feed, group, attempt: this.#attempt }, 'venue connected');
    if (keepAlive) this.#keepAlive(socket, keepAlive);
    if (silenceLimitMs !== null) this.#watchSilence(socket, silenceLimitMs);
    onUp?.();
    onOpen((text) => socket.send(text));
  }

  #received(socket: WebSocket, data: Buffer): void {
    if (socket !== this.#socket) return;
    const { clock, keepAlive, onFrame } = this.#options;
    const receivedTimeMs = clock.now();
    const text = data.toString('utf8');
    this.#unansweredSince = null;
    if (text !== keepAlive?.answer) {
      this.#lastDataAt = clock.monotonic();
      this.#state.lastMessageMs = receivedTimeMs;
    }
    this.#counters.frames.inc();
    this.#counters.bytes.inc(data.length);
    onFrame(text, receivedTimeMs);
  }

  #keepAlive(socket: WebSocket, keepAlive: KeepAlive): void {
    const { clock } = this.#options;
    const { text, periodMs, answerLimitMs } = keepAlive;
    const tick = () => {
      const now = clock.monotonic();
      if (
        answerLimitMs !== null &&
        this.#unansweredSince !== null &&
        now - this.#unansweredSince >= answerLimitMs
      ) {
        return this.#lose(socket, `${text} unanswered for ${answerLimitMs} ms`);
      }
      socket.send(text);
      this.#unansweredSince ??= now;
      this.#timers[0] = clock.after(periodMs, tick);
    };
    this.#timers[0] = clock.after(periodMs, tick);
  }

  #watchSilence(socket: WebSocket, limitMs: number): void {
    const { clock } = this.#options;
    const look = () => {
      const left = this.#lastDataAt + limitMs - clock.monotonic();
      if (left <= 0) return this.#lose(socket, `no data for ${limitMs} ms`);
      this.#timers[1] = clock.after(left, look);
    };
    this.#timers[1] = clock.after(limitMs, look);
  }

  /** Drops the connection, tells of it once, and plans the next try. */
  #lose(socket: WebSocket, cause: string): void {
    if (socket !== this.#socket || this.#closed) return;
    const { clock, feed, group, log, onDown, random, isOver } = this.#options;
    const receivedTimeMs = clock.now();
    const wasUp = this.#up;
    this.#socket = null;
    this.#up = false;
    this.#cancelTimers();
    socket.terminate();
    if (wasUp && clock.monotonic() - this.#openedAt >= STABLE_AFTER_MS) this.#attempt = 0;
    const refused = /^HTTP (401|403|451)$/.test(cause);
    this.#refused = refused || /^HTTP 429$/.test(cause);
    const slow = this.#refused || isOver?.(cause) === true;
    const retryDelayMs = backoffDelayMs(slow ? RETRY_REFUSED : RETRY, this.#attempt++, random);
    this.#retry = clock.after(retryDelayMs, () => this.#connect());
    this.#counters.disconnects.inc();
    this.#state.failed(cause, receivedTimeMs);
    const outcome = refused
      ? 'venue refused the connection (geo-blocked?)'
      : wasUp
        ? 'venue disconnected'
        : 'venue connection failed';
    log.warn({ feed, group, cause, attempt: this.#attempt, retryDelayMs }, outcome);
    if (wasUp) onDown?.({ cause, receivedTimeMs });
  }

  #cancelTimers(): void {
    for (const timer of this.#timers) timer?.cancel();
    this.#timers = [];
  }
}
