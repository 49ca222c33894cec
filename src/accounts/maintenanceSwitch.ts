import type { Database } from '../control/schema.ts';
import type { Clock } from '../runtime/clock.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import type { Maintenance } from './keys/accessControl.ts';
import { MAINTENANCE_SETTING, MAX_RETRY_AFTER_SECONDS, parseMaintenance } from './maintenance.ts';

export const MAX_MESSAGE_LENGTH = 200;

export interface MaintenanceStatus extends Maintenance {
  readonly sinceMs: number;
}

/** Switches maintenance mode on and off for every process of the installation. */
export class MaintenanceSwitch {
  readonly #db: Database;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(db: Database, clock: Pick<Clock, 'now'>) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Null while the service is open. */
  async status(): Promise<MaintenanceStatus | null> {
    const row = await this.#db
      .selectFrom('settings')
      .selectAll()
      .where('name', '=', MAINTENANCE_SETTING)
      .executeTakeFirst();
    return row ? { ...parseMaintenance(row.value), sinceMs: row.updated_ms } : null;
  }

  /**
   * If the service is already closed, updates the message and the time to wait.
   * @param message Null: the default text.
   * @throws {InvalidInputError} If the time or the message is out of bounds.
   */
  async close({ retryAfterSeconds, message }: Maintenance): Promise<void> {
    if (
      !Number.isInteger(retryAfterSeconds) ||
      retryAfterSeconds < 1 ||
      retryAfterSeconds > MAX_RETRY_AFTER_SECONDS
    ) {
      throw new InvalidInputError(
        `retry-after is a whole number of seconds, 1 to ${MAX_RETRY_AFTER_SECONDS}`,
      );
    }
    if (message !== null && (message.length > MAX_MESSAGE_LENGTH || /\p{Cc}/u.test(message))) {
      throw new InvalidInputError(
        `a message has at most ${MAX_MESSAGE_LENGTH} characters and no control characters`,
      );
    }
    const value = JSON.stringify({ retry_after_seconds: retryAfterSeconds, message });
    const row = { name: MAINTENANCE_SETTING, value, updated_ms: this.#clock.now() };
    await this.#db
      .insertInto('settings')
      .values(row)
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  }

  async open(): Promise<void> {
    await this.#db.deleteFrom('settings').where('name', '=', MAINTENANCE_SETTING).execute();
  }
}
