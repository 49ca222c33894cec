import { ApiProblem } from './problem.ts';

/** How often one request is sent at most. */
export const TRIES_MAX = 4;
/** How long one request waits in all between its tries; a longer `Retry-After` is the reader's to wait for. */
export const WAIT_MS_MAX = 10_000;
/** The wait after the first try where the service names none; each further one is twice as long. */
const FIRST_WAIT_MS = 500;

/**
 * Sends a request until it is answered, within `TRIES_MAX` and `WAIT_MS_MAX`.
 * @param wait Pauses for so many milliseconds; rejects when nobody wants the answer any more.
 * @throws {ApiProblem} The refusal of the last try.
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

/** How long to wait before the next try; null: none. A request that may have been processed is not sent again, unless it only reads. */
function retryDelayMs(method: string, error: unknown, tries: number): number | null {
  if (!(error instanceof ApiProblem)) return null;
  const { status, retryAfterSeconds } = error;
  const isRefusedUnread = status === 429;
  const mayPass = method === 'GET' && (status === 0 || status >= 500);
  if (!isRefusedUnread && !mayPass) return null;
  return retryAfterSeconds === null ? FIRST_WAIT_MS * 2 ** (tries - 1) : retryAfterSeconds * 1000;
}
