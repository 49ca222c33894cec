import { type Kysely, sql } from 'kysely';
import type { Database, Schema } from '../../control/schema.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';

/** Elects the one sender among several processes on one database. */
export interface SoleSender {
  /**
   * Whether this process is the sender; it becomes the sender if there is none. Called repeatedly.
   * @throws {StoreUnavailableError} If the database does not answer.
   */
  isUs(): Promise<boolean>;
  /** Gives up the role. */
  leave(): Promise<void>;
}

/** For SQLite: its data directory admits one service only, so that service is the sender. */
export const ALONE: SoleSender = { isUs: async () => true, leave: async () => {} };

/** "webhooks" in ASCII: the number of the lock that the sender of this database holds. */
const LOCK = '8603390863846894451';

/** Without an answer within this time, the process stops being the sender: another may be elected soon. */
const CHECK_LIMIT_MS = 2_000;
/**
 * The server ends a connection whose machine has disappeared after 1 s of silence and three probes a second apart,
 * later than that machine has stopped sending. By default it would keep the lock for two hours.
 */
const KEEP_ALIVE = sql`
  select set_config('tcp_keepalives_idle', '1', false), set_config('tcp_keepalives_interval', '1', false),
    set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '4000', false)`;

interface Held {
  readonly connection: Kysely<Schema>;
  /** The running check of the lock: it rejects if the connection, and with it the lock, is lost. */
  checking: Promise<true> | null;
  /** Returns the connection to the pool. */
  release(): Promise<void>;
}

/**
 * Elects by an advisory lock of PostgreSQL. The lock belongs to a connection: it is released as soon as its process
 * dies, without comparing clocks.
 * @see https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS
 */
export class LockedSender implements SoleSender {
  readonly #db: Database;
  readonly #clock: Clock;
  #held: Held | null = null;

  constructor(db: Database, clock: Clock) {
    this.#db = db;
    this.#clock = clock;
  }

  async isUs(): Promise<boolean> {
    const held = this.#held;
    if (held === null) return await this.#tryLock();
    const limit = new AbortController();
    try {
      held.checking ??= check(held);
      const late = sleep(this.#clock, CHECK_LIMIT_MS, limit.signal).then(() => false);
      return await Promise.race([held.checking, late]);
    } catch (error) {
      await this.leave();
      throw error;
    } finally {
      limit.abort();
    }
  }

  async leave(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    if (held === null) return;
    // A broken connection needs no unlocking; its error was reported, or no longer matters.
    await sql`select pg_advisory_unlock_all()`.execute(held.connection).catch(() => undefined);
    await held.release();
  }

  async #tryLock(): Promise<boolean> {
    return await new Promise<boolean>((resolve, reject) => {
      const using = this.#db.connection().execute(async (connection) => {
        const asked = sql<{ locked: boolean }>`select pg_try_advisory_lock(${sql.raw(LOCK)}) as locked`;
        const [row] = (await asked.execute(connection)).rows;
        if (row?.locked !== true) return;
        await KEEP_ALIVE.execute(connection);
        await new Promise<void>((given) => {
          const release = async () => {
            given();
            await using;
          };
          this.#held = { connection, checking: null, release };
          resolve(true);
        });
      });
      using.then(() => resolve(false), reject);
    });
  }
}

/** The lock lasts as long as the connection. @throws {StoreUnavailableError} If the connection is broken. */
async function check(held: Held): Promise<true> {
  try {
    await sql`select 1`.execute(held.connection);
    return true;
  } finally {
    held.checking = null;
  }
}
