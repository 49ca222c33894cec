import { sql } from 'kysely';
import type { Database } from '../../control/schema.ts';
import type { Clock, Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';

const DAY_MS = 86_400_000;
/** Requests are counted in memory for this long and written together; a kill loses at most these counts. */
const FLUSH_DELAY_MS = 10_000;
/** Maximum number of rows per statement. */
const MAX_ROWS_PER_WRITE = 200;
/** Keys counted between two writes; requests of further keys are not counted. */
const MAX_WAITING = 10_000;

/** Counts requests per key and UTC day, without delaying them. */
export class Usage {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #failures: { inc(): void };
  /** Requests by key on the day `#dayMs`. */
  #waiting = new Map<string, number>();
  #dayMs = 0;
  #timer: Timer | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(db: Database, parts: { clock: Clock; logger: Logger; metrics: Metrics }) {
    this.#db = db;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#failures = parts.metrics.counter(
      'underround_key_usage_write_failures_total',
      'Failed writes of request counts per key; those counts are lost',
    );
  }

  /** Counts one request of a key. */
  note(keyId: string): void {
    const dayMs = Math.floor(this.#clock.now() / DAY_MS) * DAY_MS;
    if (dayMs !== this.#dayMs) {
      this.#flush();
      this.#dayMs = dayMs;
    }
    const count = this.#waiting.get(keyId) ?? 0;
    if (count === 0 && this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.set(keyId, count + 1);
    this.#timer ??= this.#clock.after(FLUSH_DELAY_MS, () => this.#flush());
  }

  /** Stored requests of a user's keys since the start of a day, by key; excludes counts not written yet. */
  async since(userId: string, dayMs: number): Promise<Map<string, number>> {
    const rows = await this.#db
      .selectFrom('usage')
      .innerJoin('api_keys', 'api_keys.key_id', 'usage.key_id')
      .select((usage) => ['usage.key_id', usage.fn.sum('requests').as('requests')])
      .where('user_id', '=', userId)
      .where('day_ms', '>=', dayMs)
      .groupBy('usage.key_id')
      .execute();
    // PostgreSQL returns the sum of integers as text.
    return new Map(rows.map((row) => [row.key_id, Number(row.requests)]));
  }

  /** Writes pending counts; call it before the database is closed. */
  async close(): Promise<void> {
    this.#flush();
    await this.#writing;
  }

  #flush(): void {
    this.#timer?.cancel();
    this.#timer = null;
    const counted = [...this.#waiting];
    const dayMs = this.#dayMs;
    this.#waiting = new Map();
    if (counted.length > 0) this.#writing = this.#writing.then(() => this.#write(counted, dayMs));
  }

  /** Never rejects. */
  async #write(counted: readonly [string, number][], dayMs: number): Promise<void> {
    try {
      for (let at = 0; at < counted.length; at += MAX_ROWS_PER_WRITE) {
        const rows = counted.slice(at, at + MAX_ROWS_PER_WRITE);
        const counts = rows.map(([keyId, requests]) => sql`when ${keyId} then cast(${requests} as bigint)`);
        // A key may have been deleted since it was used: its count must not prevent those of other keys.
        const known = this.#db
          .selectFrom('api_keys')
          .select(['key_id', sql<number>`cast(${dayMs} as bigint)`.as('day_ms')])
          .select(sql<number>`case key_id ${sql.join(counts, sql` `)} end`.as('requests'))
          .where(
            'key_id',
            'in',
            rows.map(([keyId]) => keyId),
          );
        await this.#db
          .insertInto('usage')
          .columns(['key_id', 'day_ms', 'requests'])
          .expression(known)
          .onConflict((conflict) =>
            conflict.columns(['key_id', 'day_ms']).doUpdateSet((usage) => ({
              requests: usage('usage.requests', '+', usage.ref('excluded.requests')),
            })),
          )
          .execute();
      }
    } catch (error) {
      this.#failures.inc();
      this.#logger.warn({ err: error, keys: counted.length }, 'keys.usage_write_failed');
    }
  }
}
