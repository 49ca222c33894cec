import { type Clock, sleep } from '../runtime/clock.ts';
import { StoreRefusedError, StoreUnavailableError } from '../runtime/errors.ts';

/** The store inserts a row within seconds; after this it is away, or inserts are stopped. */
const STORED_WITHIN_MS = 10_000;

/**
 * Waits until all rows received so far are stored. Rows that the engine refused were set aside: nobody can read them, so
 * nobody waits for them.
 * @param stored Rejects with `StoreRefusedError` when rows were set aside. Its other errors are passed on.
 * @param options.clock Limits the wait to 10 s; absent: only `signal` ends it.
 * @throws The reason of `signal` once it aborts.
 * @throws {StoreUnavailableError} When the limit has passed.
 */
export async function untilStored(
  stored: () => Promise<void>,
  { signal, clock }: { signal: AbortSignal; clock?: Clock },
): Promise<void> {
  signal.throwIfAborted();
  const waiting = new AbortController();
  const ended = AbortSignal.any([signal, waiting.signal]);
  const given = stored().then(
    () => true,
    (error: unknown) => {
      if (error instanceof StoreRefusedError) return true;
      throw error;
    },
  );
  const over = clock ? sleep(clock, STORED_WITHIN_MS, ended) : aborted(ended);
  try {
    const isStored = await Promise.race([given, over.then(() => false)]);
    signal.throwIfAborted();
    if (!isStored) throw new StoreUnavailableError('the rows received so far are not stored yet');
  } finally {
    waiting.abort();
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
