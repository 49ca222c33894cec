import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';

const RETRY_MS_MIN = 500;
const RETRY_MS_MAX = 60_000;

interface RetryOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * Retries with growing pauses until `run` succeeds or trading ends; null in the latter case. A result of `undefined`
 * counts as a failure.
 */
export async function retryUntilDone<T>(
  what: string,
  run: () => Promise<T | undefined>,
  { clock, log, signal }: RetryOptions,
): Promise<T | null> {
  for (let retryMs = RETRY_MS_MIN; !signal.aborted; retryMs = Math.min(RETRY_MS_MAX, 2 * retryMs)) {
    try {
      const done = await run();
      if (done !== undefined) return done;
    } catch (error) {
      if (signal.aborted) return null;
      log.error({ err: error, what, retryMs }, 'paper.failed');
    }
    await sleep(clock, retryMs, signal);
  }
  return null;
}
