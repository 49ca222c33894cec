import type { Database } from '../../control/schema.ts';
import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { TIERS, type Tier } from '../../schema/tier.ts';
import { sessionExpiresMs } from '../users/sessions.ts';
import type { Identity } from './authenticate.ts';
import type { Freshness, Moment } from './freshness.ts';

/** How often the keys of open connections are checked: twice within the second that a revocation may take. */
const LIVE_CHECK_MS = 500;
/** Maximum number of keys per statement. */
const MAX_KEYS_PER_QUERY = 500;
/** A session identifies a browser as a key identifies a program. */
const SESSION_ID = /^ses_/;

/** Why a connection must end. */
export type Gone = 'revoked' | 'suspended' | 'downgraded';

interface Watch {
  readonly keyId: string;
  readonly tier: Tier;
  readonly onGone: (why: Gone) => void;
}

/** Notifies open connections within a second when their key or session no longer permits them. */
export class LiveKeys {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #freshness: Freshness | null;
  readonly #logger: Logger;
  readonly #failures: { inc(): void };
  readonly #watches = new Map<string, Set<Watch>>();
  #timer: Timer | null = null;
  #checking = false;
  /** When all watched keys were last found valid; null after a new watch began. */
  #checkedAt: Moment | null = null;
  /** When the first watched session expires, which changes nothing in the database. */
  #firstExpiryMs = Number.POSITIVE_INFINITY;

  /** @param freshness For a database with a version, so nothing is queried while nothing changes; else null. */
  constructor(
    db: Database,
    parts: { clock: Clock; freshness: Freshness | null; logger: Logger; metrics: Pick<Metrics, 'counter'> },
  ) {
    this.#db = db;
    this.#clock = parts.clock;
    this.#freshness = parts.freshness;
    this.#logger = parts.logger;
    this.#failures = parts.metrics.counter(
      'underround_live_key_check_failures_total',
      'Failed checks of the keys of open connections; the next check follows within half a second',
    );
  }

  /**
   * @param identity The identity with which the connection was admitted.
   * @param onGone Called once, within a second after the key was revoked or the session ended, or its user was
   * suspended or moved to a lower tier. Then the watch is over.
   * @returns Ends the watch; call it when the connection closes.
   */
  watch({ keyId, tier }: Pick<Identity, 'keyId' | 'tier'>, onGone: (why: Gone) => void): () => void {
    const watch: Watch = { keyId, tier, onGone };
    const known = this.#watches.get(keyId) ?? new Set();
    known.add(watch);
    this.#watches.set(keyId, known);
    // No check has seen changes between the connection's admission and now.
    this.#checkedAt = null;
    this.#timer ??= every(this.#clock, LIVE_CHECK_MS, () => void this.#check());
    return () => this.#forget(watch);
  }

  close(): void {
    this.#watches.clear();
    this.#stop();
  }

  #forget(watch: Watch): void {
    const known = this.#watches.get(watch.keyId);
    known?.delete(watch);
    if (known?.size === 0) this.#watches.delete(watch.keyId);
    if (this.#watches.size === 0) this.#stop();
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Never rejects. */
  async #check(): Promise<void> {
    if (this.#checking) return;
    this.#checking = true;
    try {
      const moment = this.#freshness?.moment() ?? null;
      const isUnchanged =
        moment !== null && this.#checkedAt !== null && this.#freshness?.holds(this.#checkedAt, moment);
      if (isUnchanged && this.#clock.now() < this.#firstExpiryMs) return;
      this.#checkedAt = moment;
      this.#firstExpiryMs = Number.POSITIVE_INFINITY;
      const keyIds = [...this.#watches.keys()];
      for (let from = 0; from < keyIds.length; from += MAX_KEYS_PER_QUERY) {
        await this.#ask(keyIds.slice(from, from + MAX_KEYS_PER_QUERY));
      }
    } catch (error) {
      this.#checkedAt = null;
      this.#failures.inc();
      this.#logger.warn({ err: error, keys: this.#watches.size }, 'live_keys.check_failed');
    } finally {
      this.#checking = false;
    }
  }

  async #ask(keyIds: readonly string[]): Promise<void> {
    const [keys, sessions] = await Promise.all([this.#keys(keyIds), this.#sessions(keyIds)]);
    const found = new Map([...keys, ...sessions].map((row) => [row.key_id, row]));
    for (const keyId of keyIds) {
      const row = found.get(keyId);
      for (const watch of [...(this.#watches.get(keyId) ?? [])]) {
        const why = !row || row.revoked_ms !== null ? 'revoked' : goneOf(row, watch.tier);
        if (why === null) continue;
        this.#forget(watch);
        watch.onGone(why);
      }
    }
  }

  async #keys(keyIds: readonly string[]): Promise<Admitted[]> {
    return await this.#db
      .selectFrom('api_keys')
      .innerJoin('users', 'users.user_id', 'api_keys.user_id')
      .select(['key_id', 'revoked_ms', 'suspended_ms', 'tier'])
      .where('key_id', 'in', keyIds)
      .execute();
  }

  async #sessions(keyIds: readonly string[]): Promise<Admitted[]> {
    const sessionIds = keyIds.filter((id) => SESSION_ID.test(id));
    if (sessionIds.length === 0) return [];
    const rows = await this.#db
      .selectFrom('sessions')
      .innerJoin('users', 'users.user_id', 'sessions.user_id')
      .select(['session_id', 'sessions.created_ms', 'last_seen_ms', 'suspended_ms', 'tier'])
      .where('session_id', 'in', sessionIds)
      .execute();
    const nowMs = this.#clock.now();
    return rows.flatMap(({ session_id, suspended_ms, tier, ...times }) => {
      const expiresMs = sessionExpiresMs(times);
      if (nowMs >= expiresMs) return [];
      this.#firstExpiryMs = Math.min(this.#firstExpiryMs, expiresMs);
      return [{ key_id: session_id, revoked_ms: null, suspended_ms, tier }];
    });
  }
}

/** The row of a key, or of a browser's session; an ended or expired session has none. */
interface Admitted {
  readonly key_id: string;
  readonly revoked_ms: number | null;
  readonly suspended_ms: number | null;
  readonly tier: Tier;
}

function goneOf(row: { suspended_ms: number | null; tier: Tier }, admitted: Tier): Gone | null {
  if (row.suspended_ms !== null) return 'suspended';
  return TIERS.indexOf(row.tier) < TIERS.indexOf(admitted) ? 'downgraded' : null;
}
