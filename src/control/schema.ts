import type { Kysely } from 'kysely';
import type { BacktestJobsTable } from '../backtest/schemaJobs.ts';
import type { AccountAction } from '../schema/accountAction.ts';
import type { Tier } from '../schema/tier.ts';
import type {
  AuditDaysTable,
  AuditEntriesTable,
  AuditOutboxTable,
  AuditRowsTable,
} from '../signals/schemaAudit.ts';
import type {
  PaperMarketTermsTable,
  PaperPositionsTable,
  PaperStrategiesTable,
} from '../trading/paper/schemaPaper.ts';
import type {
  WebhookDeliveriesTable,
  WebhookEventsTable,
  WebhooksTable,
} from '../webhooks/schemaWebhooks.ts';

/**
 * The control database's tables, the same in SQLite and PostgreSQL: ids are text, times are integer Unix milliseconds,
 * flags are nullable times. A PostgreSQL driver must read `bigint` as a number.
 */
export interface Schema {
  users: UsersTable;
  api_keys: ApiKeysTable;
  sessions: SessionsTable;
  usage: UsageTable;
  settings: SettingsTable;
  account_events: AccountEventsTable;
  second_factors: SecondFactorsTable;
  recovery_codes: RecoveryCodesTable;
  audit_entries: AuditEntriesTable;
  audit_rows: AuditRowsTable;
  audit_days: AuditDaysTable;
  audit_outbox: AuditOutboxTable;
  backtest_jobs: BacktestJobsTable;
  paper_strategies: PaperStrategiesTable;
  paper_positions: PaperPositionsTable;
  paper_market_terms: PaperMarketTermsTable;
  webhooks: WebhooksTable;
  webhook_events: WebhookEventsTable;
  webhook_deliveries: WebhookDeliveriesTable;
}

export interface UsersTable {
  user_id: string;
  /** Normalised: trimmed and lower case. Unique. */
  email: string;
  tier: Tier;
  created_ms: number;
  /** Argon2id in PHC form; null for a user created on the command line, who cannot sign in until a password is set. */
  password_hash: string | null;
  /** Since when the user is an operator, who may administer the others; null: never. */
  operator_ms: number | null;
  /** Since when the user is suspended: their keys are refused and they cannot sign in; null: not suspended. */
  suspended_ms: number | null;
}

export interface ApiKeysTable {
  key_id: string;
  user_id: string;
  /** SHA-256 of the whole key, 64 hex digits. Unique. The key itself is not stored. */
  key_hash: string;
  /** First characters of the key, for display. */
  key_hint: string;
  label: string;
  created_ms: number;
  /** To the minute; null before the first use. */
  last_used_ms: number | null;
  revoked_ms: number | null;
}

/** One row per signed-in browser; the row of an ended session is deleted. */
export interface SessionsTable {
  session_id: string;
  user_id: string;
  /** SHA-256 of the cookie's token, 64 hex digits. Unique. The token itself is not stored. */
  token_hash: string;
  created_ms: number;
  /** To the minute. */
  last_seen_ms: number;
  /** The first characters of the `User-Agent`; empty without one. */
  user_agent: string;
  /** Client address of the sign-in. */
  address: string;
}

/** Requests of a key in one UTC day. */
interface UsageTable {
  key_id: string;
  /** Start of the UTC day, Unix milliseconds. */
  day_ms: number;
  requests: number;
}

/** A user's one-time codes (TOTP); without a row the password suffices. */
interface SecondFactorsTable {
  user_id: string;
  /** Encrypted; the plain text is base64. */
  secret: string;
  /** Since when signing in needs a code; null: no code has been verified yet. */
  enabled_ms: number | null;
  /** Time step of the newest used code: codes of it or an earlier step are refused. */
  last_step: number;
}

/** Used codes are deleted. */
interface RecoveryCodesTable {
  user_id: string;
  /** SHA-256, 64 hex digits. */
  code_hash: string;
}

/** Sign-ins, sign-ups and operator actions, including refused ones. */
export interface AccountEventsTable {
  event_id: string;
  at_ms: number;
  action: AccountAction;
  /** Why it was refused; null: it succeeded. */
  reason: string | null;
  /** Email of the account; null: the whole service. A copy from that time: the user may be deleted since. */
  email: string | null;
  actor: string | null;
  address: string | null;
  detail: string | null;
}

/** Settings that an operator changes while the service runs, and decisions made once: JSON by name. */
interface SettingsTable {
  name: string;
  value: string;
  updated_ms: number;
}

export type Database = Kysely<Schema>;
