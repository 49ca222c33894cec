import { type Clock, sleep } from '../runtime/clock.ts';

/** A client whose buffer may be full. */
interface PacedClient {
  readonly isPressed: boolean;
  onDrained: (() => void) | null;
}

/** Waits until recorded times are due at the replay's speed. */
export class ReplayPace {
  readonly #connection: PacedClient;
  readonly #clock: Clock;
  readonly #speed: number;
  readonly #signal: AbortSignal;
  /** The recorded time that corresponds to `#begunMs`; null: the first requested time. */
  #originMs: number | null;
  /** Monotonic start of the replay, moved later by time spent waiting for the client. */
  #begunMs: number;
  #drained: (() => void) | null = null;

  /** @param speed 0: every time is due. */
  constructor(
    connection: PacedClient,
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

  /** Resolves when the time is due and the client has room; at once if the client is gone. */
  async until(atMs: number): Promise<void> {
    this.#originMs ??= atMs;
    if (this.#speed > 0) {
      const dueMs = this.#begunMs + (atMs - this.#originMs) / this.#speed;
      const waitMs = dueMs - this.#clock.monotonic();
      if (waitMs > 0) await sleep(this.#clock, waitMs, this.#signal);
    }
    await this.room();
  }

  /**
   * Resolves when the client has room, or is gone. Time lost to a slow client is not caught up: everything later is
   * delayed by it.
   */
  async room(): Promise<void> {
    if (this.#signal.aborted || !this.#connection.isPressed) return;
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
