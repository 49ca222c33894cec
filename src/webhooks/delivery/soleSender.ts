import { type Kysely, sql } from 'kysely';
import type { Database, Schema } from '../../control/schema.ts';

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

interface Held {
  readonly connection: Kysely<Schema>;
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
  #held: Held | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  async isUs(): Promise<boolean> {
    const held = this.#held;
    if (held === null) return await this.#tryLock();
    try {
      // The lock lasts as long as the connection.
      await sql`select 1`.execute(held.connection);
      return true;
    } catch (error) {
      await this.leave();
      throw error;
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
        await new Promise<void>((given) => {
          const release = async () => {
            given();
            await using;
          };
          this.#held = { connection, release };
          resolve(true);
        });
      });
      using.then(() => resolve(false), reject);
    });
  }
}
