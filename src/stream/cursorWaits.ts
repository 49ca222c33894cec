import type { Clock, Timer } from '../runtime/clock.ts';
import type { Served } from '../runtime/fanOut.ts';

/** How long a client waits for this process to receive the record that its cursor names. */
export const CURSOR_WAIT_MS = 5_000;

/** Clients whose cursor comes from a process that was ahead of this one. */
export class CursorWaits {
  readonly #clock: Clock;
  readonly #wake: (client: Served) => void;
  readonly #waiting = new Map<Served, { readonly seq: number; readonly timer: Timer }>();

  /** @param wake Called when a client's wait is over. */
  constructor(clock: Clock, wake: (client: Served) => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  begin(client: Served, seq: number): void {
    this.#waiting.set(client, { seq, timer: this.#clock.after(CURSOR_WAIT_MS, () => this.#end(client)) });
  }

  has(client: Served): boolean {
    return this.#waiting.has(client);
  }

  /** Ends the waits for records up to this one. */
  reached(seq: number): void {
    if (this.#waiting.size === 0) return;
    for (const [client, wait] of this.#waiting) if (wait.seq <= seq) this.#end(client);
  }

  /** The client is gone. */
  forget(client: Served): void {
    this.#waiting.get(client)?.timer.cancel();
    this.#waiting.delete(client);
  }

  close(): void {
    for (const client of this.#waiting.keys()) this.forget(client);
  }

  #end(client: Served): void {
    this.forget(client);
    this.#wake(client);
  }
}
