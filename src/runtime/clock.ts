/**
 * Time as an input. Only this file, `config.ts` and `service/` read the machine's clock or start timers, so every
 * test runs on a clock that it advances itself.
 */
export interface Clock {
  /** Wall time, Unix milliseconds. May jump; use it only for timestamps and for comparison with venue times. */
  now(): number;
  /** Monotonic milliseconds, for elapsed time. */
  monotonic(): number;
  /** Calls `run` once after `delayMs`. */
  after(delayMs: number, run: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** Node runs a longer timer at once: 24 days. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (delayMs, run) => {
    const handle = setTimeout(run, Math.min(delayMs, TIMER_MS_MAX));
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after `delayMs`, or at once when `signal` aborts. It never rejects: callers check the signal. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(delayMs, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/**
 * Calls `run` every `periodMs` on a fixed grid that does not drift: a late call does not move the next one, and missed
 * calls are skipped.
 */
export function every(clock: Clock, periodMs: number, run: () => void): Timer {
  const start = clock.monotonic();
  let timer: Timer;
  let stopped = false;
  let index = 0;
  const arm = () => {
    const elapsed = clock.monotonic() - start;
    // Timers may fire a fraction of a millisecond early: the grid point they were set for is not scheduled again.
    index = Math.max(index, Math.floor(elapsed / periodMs)) + 1;
    timer = clock.after(Math.max(0, index * periodMs - elapsed), () => {
      run();
      if (!stopped) arm();
    });
  };
  arm();
  return {
    cancel: () => {
      stopped = true;
      timer.cancel();
    },
  };
}
