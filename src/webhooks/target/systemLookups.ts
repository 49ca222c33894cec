import { lookup } from 'node:dns/promises';
import { FairQueue } from '../../core/fairQueue.ts';
import type { Clock } from '../../runtime/clock.ts';
import { TooManyLookupsError } from '../../runtime/errors.ts';

/** Each look-up occupies one of the four threads that file reads also need. */
const LOOKUPS_AT_ONCE = 2;
/** Look-ups of a user that wait or run. */
export const MAX_LOOKUPS_PER_USER = 4;
/** A name whose look-up has not ended by then has no address on this machine. Includes the wait for a turn. */
export const LOOKUP_LIMIT_MS = 5_000;

/** Returns every address that this machine resolves a name to; rejects, or returns none, if it has none. */
export type ResolveHere = (hostname: string, userId: string) => Promise<readonly string[]>;

/** A user's look-ups. */
interface UserLookups {
  count: number;
  /** Resolves when the last of them ended. */
  ended: Promise<unknown>;
}

/**
 * Looks names up with the system's resolver, which reads the hosts file and search domains. Its queries cannot be
 * cancelled and may take 20 s each. So users take turns, each with one look-up at a time, and nobody waits for a name
 * longer than the limit.
 */
export class SystemLookups {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #turns = new FairQueue(LOOKUPS_AT_ONCE);
  readonly #users = new Map<string, UserLookups>();

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /**
   * The addresses of the name; none if they are not known in time.
   * @throws {TooManyLookupsError} If too many look-ups of the user wait or run.
   */
  readonly resolve: ResolveHere = async (hostname, userId) => {
    const own = this.#users.get(userId) ?? { count: 0, ended: Promise.resolve() };
    if (own.count >= MAX_LOOKUPS_PER_USER) {
      const detail = `${MAX_LOOKUPS_PER_USER} host names of yours are being looked up`;
      throw new TooManyLookupsError(detail, LOOKUP_LIMIT_MS / 1000);
    }
    this.#users.set(userId, own);
    own.count++;
    let isLate = false;
    const lookUp = async () => (isLate ? [] : await addressesHere(hostname));
    const found = own.ended.then(() => this.#turns.run(userId, lookUp));
    own.ended = found
      .catch(() => undefined)
      .finally(() => {
        if (--own.count === 0) this.#users.delete(userId);
      });
    return await new Promise<readonly string[]>((resolve, reject) => {
      const timer = this.#clock.after(LOOKUP_LIMIT_MS, () => {
        isLate = true;
        resolve([]);
      });
      found.then(resolve, reject).finally(() => timer.cancel());
    });
  };
}

async function addressesHere(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}
