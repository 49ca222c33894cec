import { type Clock, sleep } from '../runtime/clock.ts';
import type { Connection } from './connection.ts';

/** When recorded moments come round again. */
export class ReplayPace {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #speed: number;
  readonly #signal: AbortSignal;
  /** The recorded moment at which our time began; null: that of the first thing asked for. */
  #originMs: number | null;
  /** Our time then, monotonic; later by what was spent waiting for the client. */
  #begunMs: number;
  #drained: (() => void) | null = null;

  /** @param speed 0: every moment has come. */
  constructor(
    connection: Connection,
    {
      clock,
      speed,
      originMs,
      signal,
    }: { clock: Clock; speed: number; originMs: number | null; signal: AbortSignal },
  ) {
    this.#connection = connection;
    this.#clock = clock;
    this.#speed = speed;
    this.#originMs = originMs;
    this.#signal = signal;
    this.#begunMs = clock.monotonic();
    connection.onDrained = () => this.#wake();
    signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  /** Resolves when a moment has come and the client has room; at once when it is gone. */
  async until(atMs: number): Promise<void> {
    this.#originMs ??= atMs;
    if (this.#speed > 0) {
      const dueMs = this.#begunMs + (atMs - this.#originMs) / this.#speed;
      const waitMs = dueMs - this.#clock.monotonic();
      if (waitMs > 0) await sleep(this.#clock, waitMs, this.#signal);
    }
    if (!this.#signal.aborted && this.#connection.isPressed) await this.#room();
  }

  /** A client that takes its time is not made up for: the rest comes as much later. */
  async #room(): Promise<void> {
    const sinceMs = this.#clock.monotonic();
    while (!this.#signal.aborted && this.#connection.isPressed) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    }
    this.#begunMs += this.#clock.monotonic() - sinceMs;
  }

  #wake(): void {
    this.#drained?.();
    this.#drained = null;
  }
}
