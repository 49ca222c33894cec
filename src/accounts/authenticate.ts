import { timingSafeEqual } from 'node:crypto';
import type { CompiledQuery } from 'kysely';
import { StoreUnavailableError } from '../errors.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Tier } from '../schema/tier.ts';
import { hashKey, type KeyEnvironment, parseKey } from './keyFormat.ts';
import type { LastUsed } from './lastUsed.ts';
import type { Database } from './schema.ts';

/** Who a request comes from. */
export interface Identity {
  readonly keyId: string;
  readonly userId: string;
  readonly email: string;
  readonly tier: Tier;
}

const DETAILS = {
  missing: 'Missing bearer token',
  malformed_header: 'Malformed Authorization header, expected: Bearer <API key>',
  malformed_key: 'Malformed API key',
  bad_checksum: 'Malformed API key, checksum does not match',
  wrong_environment: 'API key is of another environment',
  unknown: 'Unknown API key',
  revoked: 'API key has been revoked',
} as const;
export type AuthFailureReason = keyof typeof DETAILS;

/** Why a request is refused with 401; `detail` is safe to send and never holds any part of what was received. */
export interface AuthFailure {
  readonly reason: AuthFailureReason;
  readonly detail: string;
}

export function isAuthFailure(result: Identity | AuthFailure): result is AuthFailure {
  return 'reason' in result;
}

/** Longer headers cannot hold a key; they are refused before any pattern runs over them. */
const MAX_HEADER_LENGTH = 256;
/** RFC 6750, 2.1 allows several spaces; RFC 9110, 11.1 makes the scheme case-insensitive. */
const BEARER = /^bearer +([!-~]+)$/i;

interface KeyRow {
  key_id: string;
  user_id: string;
  key_hash: string;
  last_used_ms: number | null;
  revoked_ms: number | null;
  email: string;
  tier: Tier;
}

/**
 * Decides who a request comes from. Every request with a well-formed key asks the database, with one prepared
 * point look-up, so that a revocation by any process holds from the very next request.
 */
export class Authenticator {
  readonly #db: Database;
  readonly #environment: KeyEnvironment;
  readonly #lastUsed: LastUsed;
  readonly #lookUp: CompiledQuery<KeyRow>;
  readonly #failures: { inc(labels: { reason: AuthFailureReason }): void };

  constructor(
    db: Database,
    parts: { environment: KeyEnvironment; lastUsed: LastUsed; metrics: Pick<Metrics, 'counter'> },
  ) {
    this.#db = db;
    this.#environment = parts.environment;
    this.#lastUsed = parts.lastUsed;
    this.#lookUp = compileLookUp(db);
    this.#failures = parts.metrics.counter('underround_auth_failures_total', 'Requests refused with 401', [
      'reason',
    ]);
  }

  /**
   * @param header The `Authorization` header as received.
   * @throws {StoreUnavailableError} When the database does not answer.
   */
  async authenticate(header: string | undefined): Promise<Identity | AuthFailure> {
    const result = await this.#decide(header);
    if (typeof result !== 'string') return result;
    this.#failures.inc({ reason: result });
    return { reason: result, detail: DETAILS[result] };
  }

  async #decide(header: string | undefined): Promise<Identity | AuthFailureReason> {
    if (header === undefined || header === '') return 'missing';
    const key = header.length <= MAX_HEADER_LENGTH ? BEARER.exec(header)?.[1] : undefined;
    if (key === undefined) return 'malformed_header';
    const parsed = parseKey(key);
    if (parsed.outcome === 'malformed') return 'malformed_key';
    if (parsed.outcome === 'bad_checksum') return 'bad_checksum';
    if (parsed.environment !== this.#environment) return 'wrong_environment';
    const hash = hashKey(key);
    const row = await this.#find(hash);
    if (!row || !timingSafeEqual(Buffer.from(row.key_hash), Buffer.from(hash))) return 'unknown';
    if (row.revoked_ms !== null) return 'revoked';
    this.#lastUsed.note(row.key_id, row.last_used_ms);
    return { keyId: row.key_id, userId: row.user_id, email: row.email, tier: row.tier };
  }

  async #find(hash: string): Promise<KeyRow | undefined> {
    try {
      const query: CompiledQuery<KeyRow> = { ...this.#lookUp, parameters: [hash] };
      return (await this.#db.executeQuery(query)).rows[0];
    } catch (cause) {
      throw new StoreUnavailableError('control database: key look-up failed', { cause });
    }
  }
}

/** Built once: building the query costs more than running it. The one parameter is the hash. */
function compileLookUp(db: Database): CompiledQuery<KeyRow> {
  return db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.user_id', 'api_keys.user_id')
    .select(['key_id', 'users.user_id', 'key_hash', 'last_used_ms', 'revoked_ms', 'email', 'tier'])
    .where('key_hash', '=', '')
    .compile();
}
