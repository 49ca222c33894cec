import { z } from 'zod';
import type { Database } from '../control/schema.ts';
import type { Logger } from '../runtime/log.ts';
import type { Maintenance } from './keys/accessControl.ts';
import type { Freshness, Moment } from './keys/freshness.ts';
import { RowCache } from './keys/rowCache.ts';

/** Name of the row in `settings` that exists while maintenance mode is on. */
export const MAINTENANCE_SETTING = 'maintenance';
export const MAX_RETRY_AFTER_SECONDS = 86_400;
/** Its value, as JSON. */
const maintenanceSchema = z.object({
  retry_after_seconds: z.int().min(1).max(MAX_RETRY_AFTER_SECONDS),
  message: z.string().nullable().default(null),
});
/** The time to wait if the row does not contain one. */
export const DEFAULT_RETRY_AFTER_SECONDS = 60;

/** The state of maintenance mode, cached like keys, so a switch applies at once. */
export class MaintenanceState {
  readonly #settings: RowCache<Maintenance>;
  readonly #logger: Logger;
  #last: Maintenance | null = null;

  constructor(db: Database, parts: { freshness: Freshness; logger: Logger }) {
    this.#logger = parts.logger;
    this.#settings = new RowCache(parts.freshness, async (name) => {
      const setting = db.selectFrom('settings').select('value').where('name', '=', name);
      const row = await setting.executeTakeFirst();
      this.#last = row ? parseMaintenance(row.value) : null;
      return this.#last;
    });
  }

  /**
   * Never rejects. If the database does not answer, the last known state applies, and authentication refuses the
   * request.
   */
  current(moment: Moment): Maintenance | null | Promise<Maintenance | null> {
    const state = this.#settings.get(MAINTENANCE_SETTING, moment);
    if (!(state instanceof Promise)) return state;
    return state.catch((error: unknown) => {
      this.#logger.warn({ err: error }, 'maintenance.read_failed');
      return this.#last;
    });
  }
}

/** The existence of the row switches maintenance mode on, whatever its content. */
export function parseMaintenance(text: string): Maintenance {
  try {
    const parsed = maintenanceSchema.safeParse(JSON.parse(text));
    if (parsed.success) {
      return { retryAfterSeconds: parsed.data.retry_after_seconds, message: parsed.data.message };
    }
  } catch {
    // Not JSON: use the default below.
  }
  return { retryAfterSeconds: DEFAULT_RETRY_AFTER_SECONDS, message: null };
}
