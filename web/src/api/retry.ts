import { ApiProblem } from './problem.ts';

/** Most tries of one request. */
export const TRIES_MAX = 4;
/** Longest total wait of one request between its tries; with a longer `Retry-After` the reader has to retry. */
export const WAIT_MS_MAX = 10_000;
/** The wait after the first try without a `Retry-After`; each further one is twice as long. */
const FIRST_WAIT_MS = 500;

/**
 * Sends a request until it is answered, within `TRIES_MAX` and `WAIT_MS_MAX`.
 * @param wait Waits this many milliseconds; rejects when the request is aborted.
 * @throws {ApiProblem} The error of the last try.
 */
export async function sendWithRetries<T>(
  method: string,
  send: () => Promise<T>,
  wait: (delayMs: number) => Promise<void>,
): Promise<T> {
  let waitedMs = 0;
  for (let tries = 1; ; tries++) {
    try {
      return await send();
    } catch (error) {
      const delayMs = retryDelayMs(method, error, tries);
      if (delayMs === null || tries >= TRIES_MAX || waitedMs + delayMs > WAIT_MS_MAX) throw error;
      await wait(delayMs);
      waitedMs += delayMs;
    }
  }
}

/** The wait before the next try; null: no further try. A request that may have been processed is repeated only if it is a read. */
function retryDelayMs(method: string, error: unknown, tries: number): number | null {
  if (!(error instanceof ApiProblem)) return null;
  const { status, retryAfterSeconds } = error;
  const isRefusedUnread = status === 429;
  const mayPass = method === 'GET' && (status === 0 || status >= 500);
  if (!isRefusedUnread && !mayPass) return null;
  return retryAfterSeconds === null ? FIRST_WAIT_MS * 2 ** (tries - 1) : retryAfterSeconds * 1000;
}
