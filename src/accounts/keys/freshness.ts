import { type Clock, sleep } from '../../runtime/clock.ts';

/** How long cached rows are used if the database cannot report changes. */
export const LEASE_MS = 900;
/** After this, no process uses rows that it read before a commit; the margin covers differences between clocks. */
export const LEASE_OVER_MS = 1_000;

/** The time of a read or of a request, in units that only its `Freshness` knows. */
export type Moment = number;

/** Decides whether rows read from the control database are still valid. */
export interface Freshness {
  /** The present moment. Take it before each read of rows, and once for each request. */
  moment(): Moment;
  /** Whether rows read at `readAt` are valid at `moment`. */
  holds(readAt: Moment, moment: Moment): boolean;
}

/**
 * For a database with a version: rows are valid until any process commits.
 * @param version Changes with every commit of any process. Cheap enough for every request.
 */
export function versionFreshness(version: () => number): Freshness {
  return { moment: version, holds: (readAt, moment) => readAt === moment };
}

/** For a remote database, which cannot report changes cheaply: rows are valid for a lease. */
export function leaseFreshness(clock: Pick<Clock, 'monotonic'>): Freshness {
  return {
    moment: () => clock.monotonic(),
    holds: (readAt, moment) => moment - readAt < LEASE_MS,
  };
}

/**
 * Resolves once no process uses rows that it read before now. Call it after committing a revocation, a suspension or a
 * tier change, so that the caller can rely on it.
 */
export async function leaseOver(clock: Clock): Promise<void> {
  await sleep(clock, LEASE_OVER_MS);
}
