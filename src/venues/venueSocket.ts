import { type ClientOptions, WebSocket } from 'ws';
import type { Clock, Timer } from '../runtime/clock.ts';
import { isProxied, proxySocketAgent } from './outboundProxy.ts';
import { VERIFIED } from './verified.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** The longest frame seen is a batch of 400 whole books of about 4 KB each. */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024;

export interface KeepAlive {
  /** The text frame to send and its answer; the answer proves life but is not data. */
  readonly text: string;
  readonly answer: string;
  readonly periodMs: number;
  /** Close after this long without any frame since an unanswered `text`; null where the venue need not answer. */
  readonly answerLimitMs: number | null;
}

/** Plain data, because it is sent to the receive thread. */
export interface VenueSocketOptions {
  readonly url: string;
  readonly keepAlive: KeepAlive | null;
  /** Close after this long without a data frame, since venues stall with the socket open; null: never. */
  readonly silenceLimitMs: number | null;
}

/** Called in the order in which events happened on the connection. */
export interface VenueSocketEvents {
  onOpen(): void;
  /** A text frame or keep-alive answer. @param receivedTimeMs Wall time at which it was read. */
  onFrame(text: string, receivedTimeMs: number, bytes: number): void;
  /**
   * Always the last event: connecting failed or timed out, or the connection was lost or closed.
   * @param retryAfter The header of a refused handshake; null where there was none.
   */
  onClosed(cause: string, closedTimeMs: number, retryAfter: string | null): void;
}

/** One connection to a venue, from the attempt to its end; it does not reconnect. */
export interface VenueSocket {
  /** Sends a text frame; drops it unless the connection is open. */
  send(text: string): void;
  /** Ends the connection by the protocol's handshake; `onClosed` follows. */
  close(): void;
  /** Drops the connection at once; no callback runs afterwards. */
  terminate(): void;
}

/** Opens and reads connections to venues. */
export interface SocketDriver {
  connect(options: VenueSocketOptions, events: VenueSocketEvents): VenueSocket;
  /**
   * Delivers received frames that still wait, for a limited time; call it before judging silence.
   * @returns Whether none waits any more. If not, the rest follows by itself, and silence means nothing yet.
   */
  receiveWaiting(): boolean;
  /** Age of the oldest received frame that waits to be delivered, in milliseconds; 0 when none waits. */
  readonly lagMs: number;
}

/** Opens a WebSocket: over the network, or to a simulated venue. */
export type OpenWebSocket = (url: string, settings: ClientOptions) => WebSocket;

const overTheNetwork: OpenWebSocket = (url, settings) => new WebSocket(url, settings);

/** Opens and reads connections in the caller's thread, on the caller's clock. */
export class DirectSocketDriver implements SocketDriver {
  readonly #clock: Clock;
  readonly #proxyUrl: string | null;
  readonly #open: OpenWebSocket;

  /** @param proxyUrl See `isProxied`; null: none. */
  constructor(clock: Clock, proxyUrl: string | null = null, open: OpenWebSocket = overTheNetwork) {
    this.#clock = clock;
    this.#proxyUrl = proxyUrl;
    this.#open = open;
  }

  connect(options: VenueSocketOptions, events: VenueSocketEvents): DirectSocket {
    return new DirectSocket(options, events, {
      clock: this.#clock,
      proxyUrl: this.#proxyUrl,
      open: this.#open,
    });
  }

  /** No frame ever waits: each is delivered when it is read. */
  receiveWaiting(): boolean {
    return true;
  }

  get lagMs(): number {
    return 0;
  }
}

/** A WebSocket with a connect timeout, keep-alive, and a limit on the age of the data. */
export class DirectSocket implements VenueSocket {
  readonly #options: VenueSocketOptions;
  readonly #events: VenueSocketEvents;
  readonly #clock: Clock;
  readonly #socket: WebSocket;
  #isOpen = false;
  #isOver = false;
  #isPaused = false;
  #lastDataAt = 0;
  /** Send time of the oldest keep-alive after which no frame has arrived. */
  #unansweredSince: number | null = null;
  #keepAliveTimer: Timer | null = null;
  /** The connect timeout, then the silence limit. */
  #limitTimer: Timer | null;

  constructor(
    options: VenueSocketOptions,
    events: VenueSocketEvents,
    {
      clock,
      proxyUrl,
      open = overTheNetwork,
    }: { clock: Clock; proxyUrl: string | null; open?: OpenWebSocket },
  ) {
    this.#options = options;
    this.#events = events;
    this.#clock = clock;
    const agent = proxyUrl === null || !isProxied(options.url) ? {} : { agent: proxySocketAgent(proxyUrl) };
    const limits = { perMessageDeflate: false, maxPayload: FRAME_BYTES_MAX };
    const settings: ClientOptions = { ...VERIFIED, ...limits, ...agent };
    const socket = open(options.url, settings);
    this.#socket = socket;
    let failure: string | null = null;
    this.#limitTimer = clock.after(CONNECT_TIMEOUT_MS, () =>
      this.#giveUp(`no connection in ${CONNECT_TIMEOUT_MS} ms`),
    );
    socket.on('open', () => this.#opened());
    socket.on('message', (data, isBinary) => {
      if (!isBinary) this.#received(data as Buffer);
    });
    socket.on('unexpected-response', (request, response) => {
      request.destroy();
      this.#giveUp(`HTTP ${response.statusCode}`, response.headers['retry-after'] ?? null);
    });
    socket.on('error', (error) => {
      failure = error.message;
    });
    socket.on('close', (code, reason) => {
      this.#ended(failure ?? `closed ${code}${reason.length > 0 ? ` ${reason}` : ''}`);
    });
  }

  send(text: string): void {
    if (this.#isOpen) this.#socket.send(text);
  }

  close(): void {
    this.#cancelTimers();
    this.#isOpen = false;
    this.#socket.close(1000);
  }

  terminate(): void {
    this.#isOver = true;
    this.#isOpen = false;
    this.#cancelTimers();
    this.#socket.terminate();
  }

  /** Stops reading; the venue waits once the buffers in between are full. The silence limit is suspended meanwhile. */
  pause(): void {
    this.#isPaused = true;
    if (this.#isOpen) this.#socket.pause();
  }

  /** Resumes reading. Data that arrived during the pause is still unread, so every time limit restarts. */
  resume(): void {
    this.#isPaused = false;
    this.#lastDataAt = this.#clock.monotonic();
    this.#unansweredSince = null;
    this.#socket.resume();
  }

  #opened(): void {
    if (this.#isOver) return;
    const { keepAlive, silenceLimitMs } = this.#options;
    this.#cancelTimers();
    this.#isOpen = true;
    this.#lastDataAt = this.#clock.monotonic();
    if (keepAlive) this.#keepAlive(keepAlive);
    if (silenceLimitMs !== null) this.#watchSilence(silenceLimitMs);
    if (this.#isPaused) this.#socket.pause();
    this.#events.onOpen();
  }

  #received(data: Buffer): void {
    if (this.#isOver) return;
    const receivedTimeMs = this.#clock.now();
    const text = data.toString('utf8');
    this.#unansweredSince = null;
    if (text !== this.#options.keepAlive?.answer) this.#lastDataAt = this.#clock.monotonic();
    this.#events.onFrame(text, receivedTimeMs, data.length);
  }

  #keepAlive(keepAlive: KeepAlive): void {
    const { text, periodMs, answerLimitMs } = keepAlive;
    const tick = () => {
      const now = this.#clock.monotonic();
      const since = this.#isPaused ? null : this.#unansweredSince;
      if (answerLimitMs !== null && since !== null && now - since >= answerLimitMs)
        return this.#giveUp(`${text} unanswered for ${answerLimitMs} ms`);
      this.#socket.send(text);
      this.#unansweredSince ??= now;
      this.#keepAliveTimer = this.#clock.after(periodMs, tick);
    };
    this.#keepAliveTimer = this.#clock.after(periodMs, tick);
  }

  #watchSilence(limitMs: number): void {
    const check = () => {
      const left = this.#isPaused ? limitMs : this.#lastDataAt + limitMs - this.#clock.monotonic();
      if (left <= 0) return this.#giveUp(`no data for ${limitMs} ms`);
      this.#limitTimer = this.#clock.after(left, check);
    };
    this.#limitTimer = this.#clock.after(limitMs, check);
  }

  #giveUp(cause: string, retryAfter: string | null = null): void {
    this.#ended(cause, retryAfter);
    this.#socket.terminate();
  }

  #ended(cause: string, retryAfter: string | null = null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isOpen = false;
    this.#cancelTimers();
    this.#events.onClosed(cause, this.#clock.now(), retryAfter);
  }

  #cancelTimers(): void {
    this.#keepAliveTimer?.cancel();
    this.#limitTimer?.cancel();
    this.#keepAliveTimer = this.#limitTimer = null;
  }
}
