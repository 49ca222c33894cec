import type { Clock } from '../runtime/clock.ts';

/** A phase that lasts longer is announced: nobody should wonder what a command waits for. */
const ANNOUNCED_AFTER_MS = 2_000;

/** What a command is doing, for who waits for it. Writes to standard error. */
export class Phases {
  readonly #clock: Clock;
  readonly #write: (line: string) => void;
  #current: string | null = null;

  constructor(clock: Clock, write: (line: string) => void = (line) => process.stderr.write(line)) {
    this.#clock = clock;
    this.#write = write;
  }

  /** The phase that is under way; null between two. */
  get current(): string | null {
    return this.#current;
  }

  /** Runs a phase; one that lasts longer than two seconds is named then, and its seconds when it ends. */
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
