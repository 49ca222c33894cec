import { type Clock, sleep } from './clock.ts';
import type { Logger } from './log.ts';

const CODES: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOMEM']);

/**
 * Whether the process or the machine had no descriptor or no memory left. Such an error says nothing about the file: the
 * same operation works once others have ended.
 */
export function isAtLimit(error: unknown): boolean {
  return CODES.has((error as NodeJS.ErrnoException | null)?.code);
}

/**
 * For reads of files that may be absent or damaged, as `readFile(path).catch(orAtLimit(''))`: the fallback stands for such
 * a file. At a limit the error is thrown, because the file may be whole.
 */
export function orAtLimit<T>(fallback: T): (error: unknown) => T {
  return (error) => {
    if (isAtLimit(error)) throw error;
    return fallback;
  };
}

/** The pause between two tries at a limit. */
const PAUSE_MS = 500;

/**
 * Repeats work that changes nothing when it fails, while the process or the machine is at its limit.
 * @param options.forMs How long to repeat it; without it, until `signal` is aborted.
 * @throws The system's error when the time is over; the signal's reason when it is aborted; any other error at once.
 */
export async function whenBelowLimit<T>(
  work: () => T | Promise<T>,
  options: { clock: Clock; log: Logger; signal?: AbortSignal; forMs?: number },
): Promise<T> {
  const { clock, log, signal, forMs = Number.POSITIVE_INFINITY } = options;
  const endMs = clock.monotonic() + forMs;
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!isAtLimit(error) || clock.monotonic() + PAUSE_MS > endMs) throw error;
      if (tries === 1) log.error({ err: error, retryMs: PAUSE_MS }, 'process.at_limit');
      await sleep(clock, PAUSE_MS, signal);
      signal?.throwIfAborted();
    }
  }
}
