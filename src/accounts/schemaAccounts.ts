import type { AccountAction } from '../schema/accountAction.ts';
import type { Tier } from '../schema/tier.ts';

declare module '../control/schema.ts' {
  interface Schema {
    users: UsersTable;
    api_keys: ApiKeysTable;
    sessions: SessionsTable;
    usage: UsageTable;
    second_factors: SecondFactorsTable;
    recovery_codes: RecoveryCodesTable;
    account_events: AccountEventsTable;
  }
}

export interface UsersTable {
  user_id: string;
  /** Normalised: trimmed and lower case. Unique. */
  email: string;
  tier: Tier;
  created_ms: number;
  /** Argon2id in PHC form; null for a user made on the command line, who cannot sign in until one is set. */
  password_hash: string | null;
  /** Since when the user may administer the others; null: not. */
  operator_ms: number | null;
  /** Since when the user is suspended: no key of theirs is admitted, and they cannot sign in; null: not. */
  suspended_ms: number | null;
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

/** One row a browser signed in; a session that ends is deleted. */
export interface SessionsTable {
  session_id: string;
  user_id: string;
  /** SHA-256 of the cookie's token, 64 hex digits. Unique. The token itself is nowhere. */
  token_hash: string;
  created_ms: number;
  /** To the minute. */
  last_seen_ms: number;
  /** The first characters of the `User-Agent`; empty where there was none. */
  user_agent: string;
  /** Where the sign-in came from. */
  address: string;
}

/** Requests of a key in a UTC day. */
interface UsageTable {
  key_id: string;
  /** Start of the UTC day, Unix milliseconds. */
  day_ms: number;
  requests: number;
}

/** One-time codes (TOTP) of a user; none: the password alone. */
interface SecondFactorsTable {
  user_id: string;
  /** Encrypted; base64 within. */
  secret: string;
  /** Since when signing in takes a code; null: none was proven yet. */
  enabled_ms: number | null;
  /** Of the newest code that was used: none of it or of an earlier step is accepted again. */
  last_step: number;
}

/** A code that was used is deleted. */
interface RecoveryCodesTable {
  user_id: string;
  /** SHA-256, 64 hex digits. */
  code_hash: string;
}

/** Sign-ins, sign-ups and operator actions, the refused ones included. */
export interface AccountEventsTable {
  event_id: string;
  at_ms: number;
  action: AccountAction;
  /** Why it was refused; null: it was done. */
  reason: string | null;
  /** Of the account; null: the whole service. As it was then: users may be gone. */
  email: string | null;
  actor: string | null;
  address: string | null;
  detail: string | null;
}
