import pg from 'pg';
import { onTestFinished } from 'vitest';

/** Locks rows of a PostgreSQL database within a test, so that other statements wait for them. */
interface RowHolder {
  /** Resolves once the rows that the statement changes are locked, until `release`. */
  hold(statement: string): Promise<{ release: () => Promise<unknown> }>;
  /** Resolves once so many statements wait for a lock. */
  waiting(count: number): Promise<void>;
}

export async function openRowHolder(databaseUrl: string): Promise<RowHolder> {
  // Not on one connection: a transaction sees the same activity until it ends.
  const [holder, watcher] = [new pg.Client(databaseUrl), new pg.Client(databaseUrl)];
  await Promise.all([holder.connect(), watcher.connect()]);
  onTestFinished(async () => {
    await Promise.all([holder.end(), watcher.end()]);
  });
  return {
    hold: async (statement) => {
      await holder.query('BEGIN');
      await holder.query(statement);
      return { release: () => holder.query('COMMIT') };
    },
    waiting: async (count) => {
      const blocked = `SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      while ((await watcher.query(blocked)).rows[0].count !== count);
    },
  };
}
