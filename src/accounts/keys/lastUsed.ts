import type { Database } from '../../control/schema.ts';
import type { Clock, Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';

/** Resolution of the last use: a busy key costs one write a minute. */
const STEP_MS = 60_000;
/** Uses are collected for this long and written together, so no request waits for the write. */
const FLUSH_DELAY_MS = 1_000;
const MAX_KEYS_PER_WRITE = 500;
/** Keys that may wait to be written. Beyond that a use is skipped, and the key's next request tries again. */
const MAX_WAITING = 10_000;

/** Records when keys were last used, without delaying requests. */
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
      'Failed writes of last-use times; the next use of the keys tries again',
    );
  }

  /** @param knownMs The stored last use of this key. */
  note(keyId: string, knownMs: number | null): void {
    if (knownMs !== null && this.#clock.now() - knownMs < STEP_MS) return;
    if (this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.add(keyId);
    this.#timer ??= this.#clock.after(FLUSH_DELAY_MS, () => void this.#flush());
  }

  /** Writes pending uses; call it before the database is closed. */
  async close(): Promise<void> {
    while (this.#waiting.size > 0) await this.#flush();
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Never rejects. Keys of a failed write are dropped; their next request adds them again. */
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
      // Another process may have stored a later use.
      .where((row) => row.or([row('last_used_ms', 'is', null), row('last_used_ms', '<', now)]))
      .execute();
  }
}
