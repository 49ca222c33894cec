import type { Clock } from '../runtime/clock.ts';

/** A phase that lasts longer than this is announced, so that the user knows why the command waits. */
const ANNOUNCED_AFTER_MS = 2_000;

/** Reports the current phase of a command on standard error. */
export class Phases {
  readonly #clock: Clock;
  readonly #write: (line: string) => void;
  #current: string | null = null;

  constructor(clock: Clock, write: (line: string) => void = (line) => process.stderr.write(line)) {
    this.#clock = clock;
    this.#write = write;
  }

  /** The current phase; null between phases. */
  get current(): string | null {
    return this.#current;
  }

  /** Runs a phase. If it lasts longer than two seconds, prints its name, and its duration when it ends. */
  async during<T>(name: string, run: () => Promise<T>): Promise<T> {
    const startedMs = this.#clock.monotonic();
    let isAnnounced = false;
    const timer = this.#clock.after(ANNOUNCED_AFTER_MS, () => {
      isAnnounced = true;
      this.#write(`${name}...\n`);
    });
    this.#current = name;
    try {
      return await run();
    } finally {
      timer.cancel();
      this.#current = null;
      const seconds = (this.#clock.monotonic() - startedMs) / 1000;
      if (isAnnounced) this.#write(`${name}: ${seconds.toFixed(1)} s\n`);
    }
  }
}
