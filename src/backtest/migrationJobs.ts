import type { Kysely } from 'kysely';

/** Creates the table of backtests and sweeps. Part of the one migration set in `migrations.ts`. */
export async function createJobs(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('backtest_jobs')
    .addColumn('job_id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) =>
      column.notNull().references('users.user_id').onDelete('cascade'),
    )
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('progress', 'double precision', (column) => column.notNull())
    .addColumn('submitted_ms', 'bigint', (column) => column.notNull())
    .addColumn('started_ms', 'bigint')
    .addColumn('completed_ms', 'bigint')
    .addColumn('spec', 'text', (column) => column.notNull())
    .addColumn('result', 'text')
    .addColumn('error', 'text')
    .addColumn('baseline_ms', 'bigint')
    .addColumn('runner', 'text')
    .addColumn('seen_ms', 'bigint')
    .addColumn('attempts', 'bigint', (column) => column.notNull())
    .execute();
  const index = (name: string, columns: string[]) =>
    db.schema.createIndex(`backtest_jobs_by_${name}`).on('backtest_jobs').columns(columns).execute();
  await index('user', ['user_id', 'submitted_ms', 'job_id']);
  await index('status', ['status', 'user_id']);
  await index('start', ['user_id', 'started_ms']);
}
