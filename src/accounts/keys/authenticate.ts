import { timingSafeEqual } from 'node:crypto';
import type { CompiledQuery } from 'kysely';
import type { Database } from '../../control/schema.ts';
import { StoreUnavailableError } from '../../runtime/errors.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Tier } from '../../schema/tier.ts';
import type { Freshness, Moment } from './freshness.ts';
import { hashKey, type KeyEnvironment, parseKey } from './keyFormat.ts';
import type { LastUsed } from './lastUsed.ts';
import { RowCache } from './rowCache.ts';

/** The owner of a request's key or session. */
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
  suspended: 'Account is suspended',
} as const;
type AuthFailureReason = keyof typeof DETAILS;

/** Why a request is refused with 401; `detail` is safe to send and never contains any part of the request. */
export interface AuthFailure {
  readonly reason: AuthFailureReason;
  readonly detail: string;
}

export function isAuthFailure(result: Identity | AuthFailure): result is AuthFailure {
  return 'reason' in result;
}

/** Longer headers cannot contain a key; they are refused before any pattern runs over them. */
const MAX_HEADER_LENGTH = 256;
/** RFC 6750, 2.1 allows several spaces; RFC 9110, 11.1 makes the scheme case-insensitive. */
const BEARER = /^bearer +([!-~]+)$/i;

interface KeyRow {
  key_id: string;
  user_id: string;
  key_hash: string;
  last_used_ms: number | null;
  revoked_ms: number | null;
  suspended_ms: number | null;
  email: string;
  tier: Tier;
}

/** A key as stored, ready to answer requests from memory. */
interface KnownKey {
  readonly hash: Buffer;
  readonly lastUsedMs: number | null;
  /** Why a known key is refused; null if it is valid. */
  readonly refused: AuthFailureReason | null;
  readonly identity: Identity;
}

type Decision = Identity | AuthFailureReason;

/**
 * Identifies the sender of a request, from memory while cached rows are valid. With the embedded database they are
 * valid until any process commits, so a revocation applies to the next request. With PostgreSQL they are valid for a
 * lease.
 */
export class Authenticator {
  readonly #environment: KeyEnvironment;
  readonly #lastUsed: Pick<LastUsed, 'note'>;
  readonly #freshness: Freshness;
  readonly #keys: RowCache<KnownKey>;
  readonly #failures: { inc(labels: { reason: AuthFailureReason }): void };

  constructor(
    db: Database,
    parts: {
      environment: KeyEnvironment;
      freshness: Freshness;
      lastUsed: Pick<LastUsed, 'note'>;
      metrics: Pick<Metrics, 'counter'>;
    },
  ) {
    this.#environment = parts.environment;
    this.#lastUsed = parts.lastUsed;
    this.#freshness = parts.freshness;
    const lookUp = compileLookUp(db);
    this.#keys = new RowCache(parts.freshness, (hash) => find(db, lookUp, hash));
    this.#failures = parts.metrics.counter('underround_auth_failures_total', 'Requests refused with 401', [
      'reason',
    ]);
  }

  /**
   * Synchronous if the key is in memory, otherwise a promise.
   * @param header The `Authorization` header as received.
   * @param moment Moment of the request, if already taken.
   * @throws {StoreUnavailableError} If the database does not answer; a returned promise rejects with it.
   */
  authenticate(
    header: string | undefined,
    moment: Moment = this.#freshness.moment(),
  ): Identity | AuthFailure | Promise<Identity | AuthFailure> {
    const decision = this.#decide(header, moment);
    return decision instanceof Promise ? decision.then((late) => this.#answer(late)) : this.#answer(decision);
  }

  #answer(decision: Decision): Identity | AuthFailure {
    if (typeof decision !== 'string') return decision;
    this.#failures.inc({ reason: decision });
    return { reason: decision, detail: DETAILS[decision] };
  }

  #decide(header: string | undefined, moment: Moment): Decision | Promise<Decision> {
    if (header === undefined || header === '') return 'missing';
    const key = header.length <= MAX_HEADER_LENGTH ? BEARER.exec(header)?.[1] : undefined;
    if (key === undefined) return 'malformed_header';
    const parsed = parseKey(key);
    if (parsed.outcome === 'malformed') return 'malformed_key';
    if (parsed.outcome === 'bad_checksum') return 'bad_checksum';
    if (parsed.environment !== this.#environment) return 'wrong_environment';
    const hash = hashKey(key);
    const known = this.#keys.get(hash, moment);
    return known instanceof Promise
      ? known.then((late) => this.#judge(late, hash))
      : this.#judge(known, hash);
  }

  /** Compares hashes in constant time, so the duration reveals nothing about a key. */
  #judge(known: KnownKey | null, hash: string): Decision {
    if (known === null || !timingSafeEqual(known.hash, Buffer.from(hash, 'latin1'))) return 'unknown';
    if (known.refused !== null) return known.refused;
    this.#lastUsed.note(known.identity.keyId, known.lastUsedMs);
    return known.identity;
  }
}

async function find(db: Database, lookUp: CompiledQuery<KeyRow>, hash: string): Promise<KnownKey | null> {
  try {
    const query: CompiledQuery<KeyRow> = { ...lookUp, parameters: [hash] };
    const row = (await db.executeQuery(query)).rows[0];
    return row ? toKnownKey(row) : null;
  } catch (cause) {
    throw new StoreUnavailableError('control database: key look-up failed', { cause });
  }
}

function toKnownKey(row: KeyRow): KnownKey {
  return {
    hash: Buffer.from(row.key_hash, 'latin1'),
    lastUsedMs: row.last_used_ms,
    refused: row.revoked_ms !== null ? 'revoked' : row.suspended_ms !== null ? 'suspended' : null,
    identity: { keyId: row.key_id, userId: row.user_id, email: row.email, tier: row.tier },
  };
}

/** Compiled once, because building the query costs more than running it. The one parameter is the hash. */
function compileLookUp(db: Database): CompiledQuery<KeyRow> {
  return db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.user_id', 'api_keys.user_id')
    .select(['key_id', 'users.user_id', 'key_hash', 'last_used_ms', 'revoked_ms'])
    .select(['suspended_ms', 'email', 'tier'])
    .where('key_hash', '=', '')
    .compile();
}
