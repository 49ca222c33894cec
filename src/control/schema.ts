import type { Kysely, Migration } from 'kysely';

/**
 * The control plane's tables, the same in SQLite and PostgreSQL: ids are text, times are integer Unix
 * milliseconds, flags are nullable times. A PostgreSQL driver must read `bigint` as a number. Each feature adds its own
 * tables to this interface, in its own folder (`declare module`); only the table that several features share is here.
 */
export interface Schema {
  settings: SettingsTable;
}

/** Settings that an operator changes while the service runs, and decisions made once: JSON by name. */
interface SettingsTable {
  name: string;
  value: string;
  updated_ms: number;
}

export type Database = Kysely<Schema>;

/** Changes of the tables by name, made in the order of their names. */
export type Migrations = Readonly<Record<string, Migration>>;
