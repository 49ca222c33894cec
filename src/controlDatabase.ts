import type { Migration } from 'kysely';
import { createRateCounters } from './accounts/limits/migrationLimits.ts';
import {
  createAccountEvents,
  createSecondFactors,
  createSignInAndUsage,
  createUsersAndKeys,
} from './accounts/migrationAccounts.ts';
import { createJobs } from './backtest/migrationJobs.ts';
import type { Config } from './config.ts';
import { type OpenOptions, openDatabase } from './control/database.ts';
import type { ControlMigrationName } from './control/migrationNames.ts';
import { createSettings } from './control/migrationSettings.ts';
import type { Database } from './control/schema.ts';
import { createAudit } from './signals/migrationAudit.ts';
import {
  addClosingOrder,
  addPaperExecution,
  createMarketTerms,
  createPaper,
} from './trading/paper/migrationPaper.ts';
import {
  addNotifications,
  createWebhooks,
  keepEverySecret,
  markTests,
  noteFilterTimes,
} from './webhooks/migrationWebhooks.ts';

/**
 * Every change of the control plane's tables, in the order of their names; one that has been released is never
 * edited. Only what both SQLite and PostgreSQL understand: the schema builder, portable types, no triggers. The one
 * exception is `rate_counters`, which only several processes on PostgreSQL need.
 */
export const MIGRATIONS: Readonly<Record<ControlMigrationName, Migration>> = {
  '0001_users_and_keys': { up: createUsersAndKeys },
  '0002_sign_in_usage_settings': {
    up: async (db) => {
      await createSignInAndUsage(db);
      await createSettings(db);
    },
  },
  '0003_signal_audit': { up: createAudit },
  '0004_webhooks': { up: createWebhooks },
  '0005_backtest_jobs': { up: createJobs },
  '0006_paper': { up: createPaper },
  '0007_paper_market_terms': { up: createMarketTerms },
  '0008_webhook_secrets': { up: keepEverySecret },
  '0009_webhook_filter_times': { up: noteFilterTimes },
  '0010_webhook_tests': { up: markTests },
  '0011_account_events': { up: createAccountEvents },
  '0012_second_factors': { up: createSecondFactors },
  '0013_paper_execution': { up: addPaperExecution },
  '0014_rate_counters': { up: createRateCounters },
  '0015_notifications': { up: addNotifications },
  '0016_paper_closing': { up: addClosingOrder },
};

/** Opens the control database with the tables of every feature. @throws {StoreUnavailableError} See `openDatabase`. */
export function openControlDatabase(
  config: Pick<Config, 'dataDir' | 'databaseUrl'>,
  options: Omit<OpenOptions, 'migrations'> = {},
): Promise<Database> {
  return openDatabase(config, { ...options, migrations: MIGRATIONS });
}
