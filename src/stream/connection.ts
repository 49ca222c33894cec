import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { type Clock, every, type Timer } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { SentCounts, StreamMetrics } from './streamMetrics.ts';
import type { TextFrame } from './textFrame.ts';

const PING_MS = 25_000;
/** Pings that a client may leave unanswered. Any message or pong counts as an answer, and a buffer that has left. */
const SILENT_PINGS_MAX = 2;
/** With this many bytes buffered a client is under pressure: it is sent nothing more until they have left. */
export const PRESSURE_BYTES = 256 * 1024;
/**
 * With this many bytes buffered a client is closed. Only replies to its own commands and its first snapshots may exceed
 * the pressure limit.
 */
export const BUFFERED_BYTES_MAX = 1024 * 1024;
/** A client under pressure whose buffer does not shrink for this long is closed. */
const STALLED_MS = 5_000;

/** Messages that a client may send at once, and per second after that; further ones are read later. */
export const MESSAGES_AT_ONCE = 200;
const MESSAGES_PER_SECOND = 10;

/** Clients of one stream served before the event loop gets a turn: about a millisecond. */
export const CLIENTS_AT_ONCE = 100;

const CLOSE = {
  over: { code: 1000, reason: 'replay is over' },
  goingAway: { code: 1001, reason: 'service is stopping' },
  forbidden: { code: 1008, reason: 'key no longer permits this' },
  silent: { code: 1008, reason: 'two pings without an answer' },
  failed: { code: 1011, reason: 'internal error' },
  slow: { code: 1013, reason: 'too slow' },
} as const;
export type CloseCause = keyof typeof CLOSE;

/** `binary: false`: the bytes are text. Compression costs ten times what it saves here. */
const AS_TEXT = { binary: false, compress: false };
const PING = Buffer.from('{"type":"ping"}');

interface ConnectionOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: StreamMetrics;
  /** Name of the stream, for metrics. */
  readonly stream: string;
}

/** One admitted client: bounds its buffer, sends pings, and closes if it is silent or too slow. */
export class Connection {
  /** Called when the buffered data has left. */
  onDrained: (() => void) | null = null;
  /** Called with the text of a client's message. */
  onText: ((text: string) => void) | null = null;
  /** Called once, whichever side closed. */
  onClosed: (() => void) | null = null;
  readonly #socket: WebSocket;
  readonly #transport: Duplex;
  readonly #sent: SentCounts;
  readonly #parts: ConnectionOptions;
  readonly #ping: Timer;
  #stalled: Timer | null = null;
  #unanswered = 0;
  /** Messages that the client may send now; negative: of those that it sent too early. */
  #allowance = MESSAGES_AT_ONCE;
  #allowanceMs: number;
  /** Runs while the client is not read. */
  #unread: Timer | null = null;
  #isOpen = true;

  /** @param transport The stream under the socket, which has no compression; its `drain` event is used. */
  constructor(socket: WebSocket, transport: Duplex, parts: ConnectionOptions) {
    this.#socket = socket;
    this.#transport = transport;
    this.#sent = parts.metrics.sent(parts.stream);
    this.#parts = parts;
    this.#allowanceMs = parts.clock.monotonic();
    this.#ping = every(parts.clock, PING_MS, () => this.#pingClient());
    transport.on('drain', () => {
      // A slow reader finds a ping only after everything that was sent before it.
      this.#unanswered = 0;
      this.#stalled?.cancel();
      this.#stalled = null;
      if (this.#isOpen) this.onDrained?.();
    });
    socket.on('pong', () => {
      this.#unanswered = 0;
    });
    socket.on('message', (data, isBinary) => {
      this.#unanswered = 0;
      if (!this.#isOpen) return;
      this.#pace();
      this.#received(isBinary ? '' : String(data));
    });
    socket.once('close', () => this.#ended('client'));
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  /** So much is buffered that nothing should be sent before `onDrained`. */
  get isPressed(): boolean {
    if (this.#socket.bufferedAmount < PRESSURE_BYTES) return false;
    this.#watchStall();
    return true;
  }

  /** @param message Text as bytes. They are not copied, so they must not change any more. */
  send(message: Buffer): void {
    if (!this.#isOpen) return;
    this.#socket.send(message, AS_TEXT);
    this.#count(message);
  }

  /**
   * Sends one message to many clients: the socket library would build a header for each and write two pieces. Without
   * compression or fragments the library buffers nothing, so both ways of sending stay in order.
   */
  sendFrame({ bytes, message }: TextFrame): void {
    if (!this.#isOpen || this.#socket.readyState !== this.#socket.OPEN) return;
    this.#transport.write(bytes);
    this.#count(message);
  }

  #count({ length }: Buffer): void {
    this.#sent.messages++;
    this.#sent.bytes += length;
  }

  /** Replies to a client's own command; closes a client that sends commands without reading. */
  answer(text: string): void {
    this.send(Buffer.from(text));
    this.checkBuffered();
  }

  checkBuffered(): void {
    if (this.#isOpen && this.#socket.bufferedAmount > BUFFERED_BYTES_MAX) this.close('slow');
  }

  close(cause: CloseCause): void {
    if (!this.#isOpen) return;
    const { code, reason } = CLOSE[cause];
    this.#ended(cause);
    this.#socket.close(code, reason);
  }

  /** A defect of ours ends this connection, not the process. */
  #received(text: string): void {
    try {
      this.onText?.(text);
    } catch (error) {
      this.#parts.log.error({ err: error, stream: this.#parts.stream }, 'stream.command_failed');
      this.close('failed');
    }
  }

  /**
   * Counts a message. A command costs a thousand times its bytes, so a client that sends too many is not read for a
   * while. The socket passes on what it has already read.
   */
  #pace(): void {
    const nowMs = this.#parts.clock.monotonic();
    const earned = ((nowMs - this.#allowanceMs) / 1_000) * MESSAGES_PER_SECOND;
    this.#allowance = Math.min(MESSAGES_AT_ONCE, this.#allowance + earned) - 1;
    this.#allowanceMs = nowMs;
    if (this.#allowance >= 0 || this.#unread !== null) return;
    this.#socket.pause();
    this.#readLater();
  }

  #readLater(): void {
    const { clock } = this.#parts;
    const paidMs = this.#allowanceMs - (this.#allowance / MESSAGES_PER_SECOND) * 1_000;
    const waitMs = Math.ceil(paidMs - clock.monotonic());
    if (waitMs <= 0) this.#read();
    else this.#unread = clock.after(waitMs, () => this.#readLater());
  }

  #read(): void {
    this.#unread?.cancel();
    this.#unread = null;
    this.#socket.resume();
  }

  #watchStall(): void {
    if (this.#stalled !== null) return;
    const before = this.#socket.bufferedAmount;
    this.#stalled = this.#parts.clock.after(STALLED_MS, () => {
      this.#stalled = null;
      if (!this.#isOpen) return;
      if (this.#socket.bufferedAmount >= before) this.close('slow');
      else if (this.isPressed) return;
      else this.onDrained?.();
    });
  }

  #pingClient(): void {
    if (this.#unanswered >= SILENT_PINGS_MAX) {
      this.close('silent');
      return;
    }
    this.#unanswered++;
    this.send(PING);
    // Every client library answers this one automatically.
    this.#socket.ping();
    this.checkBuffered();
  }

  #ended(cause: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#ping.cancel();
    this.#stalled?.cancel();
    // Also the client's close message must be read.
    if (this.#unread !== null) this.#read();
    this.#parts.metrics.closed(this.#parts.stream, cause);
    this.onClosed?.();
  }
}
