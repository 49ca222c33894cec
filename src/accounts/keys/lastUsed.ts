import type { Database } from '../../control/schema.ts';
import type { Clock, Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';

/** How fine a key's last use is recorded: a busy key costs one write a minute. */
const STEP_MS = 60_000;
/** Uses are collected this long and written together, away from the requests. */
const FLUSH_DELAY_MS = 1_000;
const MAX_KEYS_PER_WRITE = 500;
/** Keys that may wait; beyond it a use is not noted, and the key's next request tries again. */
const MAX_WAITING = 10_000;

/** Notes when keys were last used, without any request waiting for it. */
export class LastUsed {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #failures: { inc(): void };
  readonly #waiting = new Set<string>();
  #timer: Timer | null = null;

  constructor(db: Database, parts: { clock: Clock; logger: Logger; metrics: Metrics }) {
    this.#db = db;
    this.#clock = parts.clock;
    this.#logger = parts.logger;
    this.#failures = parts.metrics.counter(
      'underround_key_last_used_write_failures_total',
      'Writes of when keys were last used that failed; the next use of the keys tries again',
    );
  }

  /** `knownMs` is what the database has for this key. */
  note(keyId: string, knownMs: number | null): void {
    if (knownMs !== null && this.#clock.now() - knownMs < STEP_MS) return;
    if (this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.add(keyId);
    this.#timer ??= this.#clock.after(FLUSH_DELAY_MS, () => void this.#flush());
  }

  /** Writes what waits; call it before the database is closed. */
  async close(): Promise<void> {
    while (this.#waiting.size > 0) await this.#flush();
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Never rejects. Keys whose write failed are dropped: their next request notes them again. */
  async #flush(): Promise<void> {
    this.#timer?.cancel();
    const keyIds = [...this.#waiting].slice(0, MAX_KEYS_PER_WRITE);
    for (const keyId of keyIds) this.#waiting.delete(keyId);
    const more = this.#waiting.size > 0;
    this.#timer = more ? this.#clock.after(FLUSH_DELAY_MS, () => void this.#flush()) : null;
    if (keyIds.length === 0) return;
    try {
      await this.#write(keyIds);
    } catch (error) {
      this.#failures.inc();
      this.#logger.warn({ err: error, keys: keyIds.length }, 'keys.last_used_write_failed');
    }
  }

  async #write(keyIds: readonly string[]): Promise<void> {
    const now = this.#clock.now();
    await this.#db
      .updateTable('api_keys')
      .set({ last_used_ms: now })
      .where('key_id', 'in', keyIds)
      // Another node may have noted a later use.
      .where((row) => row.or([row('last_used_ms', 'is', null), row('last_used_ms', '<', now)]))
      .execute();
  }
}
