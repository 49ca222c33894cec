import type { ClientClock } from './clock.ts';

/** The part of a WebSocket that streams use. */
export interface Socket {
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
  addEventListener(type: 'error', listener: () => void): void;
  send(text: string): void;
  close(): void;
}

/** Characters that may wait for the caller; more end the connection, and the stream continues by its cursor. */
const WAITING_MAX = 32 * 1024 * 1024;
/** The service sends a ping every 25 s. A connection that is silent for longer than this is dead. */
const SILENCE_MS_MAX = 60_000;
const ABNORMAL = 1006;

/** One connection of a stream: a bounded queue of its messages, and a check that it still delivers. */
export class StreamSocket {
  /** How the connection ended. */
  closing = { code: ABNORMAL, reason: '' };
  readonly #socket: Socket;
  readonly #clock: ClientClock;
  readonly #over = new AbortController();
  readonly #queue: string[] = [];
  #waiting = 0;
  #heardMs: number;
  #wake: (() => void) | null = null;

  constructor(socket: Socket, clock: ClientClock, signal: AbortSignal | undefined) {
    this.#socket = socket;
    this.#clock = clock;
    this.#heardMs = clock.now();
    socket.addEventListener('message', ({ data }) => this.#onMessage(String(data)));
    socket.addEventListener('close', ({ code, reason }) => this.#onClose(code, reason));
    // Its close event follows.
    socket.addEventListener('error', () => undefined);
    signal?.addEventListener('abort', () => this.close(), { once: true, signal: this.#over.signal });
    void this.#watch();
  }

  /** Received messages, also those that still wait when the connection ends. */
  async *texts(): AsyncGenerator<string, void> {
    for (;;) {
      const text = this.#queue.shift();
      if (text !== undefined) {
        this.#waiting -= text.length;
        yield text;
      } else if (this.#over.signal.aborted) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  send(text: string): void {
    if (!this.#over.signal.aborted) this.#socket.send(text);
  }

  /** Ends the connection; no more messages are received. */
  close(): void {
    if (this.#over.signal.aborted) return;
    this.#onClose(ABNORMAL, '');
    this.#socket.close();
  }

  #onMessage(text: string): void {
    if (this.#over.signal.aborted) return;
    this.#heardMs = this.#clock.now();
    this.#queue.push(text);
    this.#waiting += text.length;
    this.#wake?.();
    if (this.#waiting > WAITING_MAX) this.close();
  }

  #onClose(code: number, reason: string): void {
    if (this.#over.signal.aborted) return;
    this.closing = { code, reason };
    this.#over.abort();
    this.#wake?.();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      await this.#clock.sleep(SILENCE_MS_MAX / 2, signal);
      if (this.#clock.now() - this.#heardMs > SILENCE_MS_MAX) this.close();
    }
  }
}
