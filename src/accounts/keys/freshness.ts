import { type Clock, sleep } from '../../runtime/clock.ts';

/** How long cached rows are used if the database cannot report changes. */
export const LEASE_MS = 900;
/** After this, no process uses rows that it read before a commit; the margin covers differences between clocks. */
export const LEASE_OVER_MS = 1_000;

/** The time of a read or of a request, in units that only its `Freshness` knows. */
export type Moment = number;

/** Decides whether rows read from the control database are still valid. */
export interface Freshness {
  /** The present moment. Take it before each read of rows, and once for each request. Never throws. */
  moment(): Moment;
  /** Whether rows read at `readAt` are valid at `moment`. */
  holds(readAt: Moment, moment: Moment): boolean;
}

/**
 * For a database with a version: rows are valid until any process commits. While the version cannot be read, no row
 * read before is valid, so whoever needs one asks the database, and what needs none goes on.
 * @param version Changes with every commit of any process, and is positive. Cheap enough for every request.
 */
export function versionFreshness(version: () => number): Freshness {
  let unreadable = 0;
  const moment = () => {
    try {
      return version();
    } catch {
      // Another one each time, and none that a version can be.
      return --unreadable;
    }
  };
  return { moment, holds: (readAt, now) => readAt === now };
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
