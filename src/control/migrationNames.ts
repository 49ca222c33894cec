/**
 * The names of the control database's migrations, in their order: enough to recognise a newer database before the
 * modules that change one are loaded.
 */
export const CONTROL_MIGRATION_NAMES = [
  '0001_users_and_keys',
  '0002_sign_in_usage_settings',
  '0003_signal_audit',
  '0004_webhooks',
  '0005_backtest_jobs',
  '0006_paper',
  '0007_paper_market_terms',
  '0008_webhook_secrets',
  '0009_webhook_filter_times',
  '0010_webhook_tests',
  '0011_account_events',
  '0012_second_factors',
  '0013_paper_execution',
  '0014_rate_counters',
  '0015_notifications',
  '0016_paper_closing',
] as const;

export type ControlMigrationName = (typeof CONTROL_MIGRATION_NAMES)[number];
