import { type Kysely, sql } from 'kysely';
import type { Database, Schema } from '../../control/schema.ts';

/** Of several processes on one database, the one that sends. */
export interface SoleSender {
  /**
   * Whether this process is it; where nobody is, it is from now on. Asked again and again.
   * @throws {StoreUnavailableError} When the database cannot be asked.
   */
  isUs(): Promise<boolean>;
  /** Leaves it to the others. */
  leave(): Promise<void>;
}

/** For a database of one service: that of SQLite lies in a data directory, where a second service is refused. */
export const ALONE: SoleSender = { isUs: async () => true, leave: async () => {} };

/** "webhooks" in ASCII; whoever sends for this database holds the lock of this number. */
const LOCK = '8603390863846894451';

interface Held {
  readonly connection: Kysely<Schema>;
  /** Gives the connection back. */
  release(): Promise<void>;
}

/**
 * By an advisory lock of PostgreSQL. It belongs to a connection: it is free again in the moment in which the process
 * that held it dies, and no clocks are compared.
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
    if (held === null) return await this.#take();
    try {
      // While the connection lives, so does the lock.
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
    // A broken connection needs no unlocking; its error is known, or nobody's concern any more.
    await sql`select pg_advisory_unlock_all()`.execute(held.connection).catch(() => undefined);
    await held.release();
  }

  async #take(): Promise<boolean> {
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
