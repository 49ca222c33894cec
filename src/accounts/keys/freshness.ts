import { type Clock, sleep } from '../../runtime/clock.ts';

/** How long what was read from a database that cannot say whether it changed may be used. */
export const LEASE_MS = 900;
/** After this, no process uses what it read before a write was committed; the rest is for clocks that differ. */
export const LEASE_OVER_MS = 1_000;

/** When something was read; only the `Freshness` that gave it knows what it means. */
export type Moment = number;

/** Decides whether what was read from the control database still holds. */
export interface Freshness {
  /** Take one before reading, and one for each request. */
  moment(): Moment;
  /** Whether what was read at `readAt` holds at `moment`. */
  holds(readAt: Moment, moment: Moment): boolean;
}

/**
 * For a database that tells its version: what was read holds until any process commits anything.
 * @param version Changes with every commit, of this process or another. Cheap enough for every request.
 */
export function versionFreshness(version: () => number): Freshness {
  return { moment: version, holds: (readAt, moment) => readAt === moment };
}

/** For a database on another machine, which would have to be asked: what was read holds for a lease. */
export function leaseFreshness(clock: Pick<Clock, 'monotonic'>): Freshness {
  return {
    moment: () => clock.monotonic(),
    holds: (readAt, moment) => moment - readAt < LEASE_MS,
  };
}

/**
 * Resolves when no process acts any more on what it read before now: call it after a revocation, a suspension or a
 * change of tier was committed, so that its caller can rely on it.
 */
export async function leaseOver(clock: Clock): Promise<void> {
  await sleep(clock, LEASE_OVER_MS);
}
