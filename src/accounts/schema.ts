import type { Kysely } from 'kysely';
import type { Tier } from '../schema/tier.ts';

/**
 * The control plane's tables, the same in SQLite and PostgreSQL: ids are text, times are integer Unix
 * milliseconds, flags are nullable times. A PostgreSQL driver must read `bigint` as a number.
 */
export interface Schema {
  users: UsersTable;
  api_keys: ApiKeysTable;
}

export interface UsersTable {
  user_id: string;
  /** Normalised: trimmed and lower case. Unique. */
  email: string;
  tier: Tier;
  created_ms: number;
}

export interface ApiKeysTable {
  key_id: string;
  user_id: string;
  /** SHA-256 of the whole key, 64 hex digits. Unique. The key itself is nowhere. */
  key_hash: string;
  /** First characters of the key, for display. */
  key_hint: string;
  label: string;
  created_ms: number;
  /** To the minute; null before the first use. */
  last_used_ms: number | null;
  revoked_ms: number | null;
}

export type Database = Kysely<Schema>;
