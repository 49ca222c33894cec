/** Time as an input of the client, so that tests need not wait. */
export interface ClientClock {
  /** Unix milliseconds. */
  now(): number;
  /** Resolves after `delayMs`, or at once when `signal` aborts. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /** Calls `over` after `delayMs`, unless the returned function was called before. Without it no request times out. */
  after?(delayMs: number, over: () => void): () => void;
}

export const machineClock: ClientClock = {
  now: () => Date.now(),
  sleep: (delayMs, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(done, delayMs);
      function done() {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      }
      if (signal?.aborted) done();
      else signal?.addEventListener('abort', done, { once: true });
    }),
  after: (delayMs, over) => {
    const timer = setTimeout(over, delayMs);
    return () => clearTimeout(timer);
  },
};
