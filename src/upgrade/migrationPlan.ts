/** The migrations that are due: read without a change for a dry run, or applied as a start of the service does. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { appliedMigrations, migrationsIn, requireKnownMigrations } from '../control/appliedMigrations.ts';
import { connectPostgres } from '../control/databasePostgres.ts';
import { openSqlite } from '../control/databaseSqlite.ts';
import { CONTROL_MIGRATION_NAMES } from '../control/migrationNames.ts';
import { SQLITE_FILE_NAME, SqliteFile } from '../control/sqliteFile.ts';
import { MIGRATIONS, openControlDatabase } from '../controlDatabase.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { openTables, readSchema, tableForm } from '../store/connection.ts';
import { reachEngine } from '../store/engine/engineAccess.ts';
import { serverAccess } from '../store/engine/serverAccess.ts';
import { storedSchema } from '../store/engine/storedSchema.ts';
import { waitToBeAlone } from '../store/journal/runDirectory.ts';
import { FoundObjects, type SchemaObject } from '../store/tables/foundObjects.ts';
import { STORE_MIGRATIONS, STORE_VERSION } from '../store/tables/migrations.ts';
import { migrationStages, storedName } from '../store/tables/statements.ts';

interface ControlPlan {
  readonly kind: 'sqlite' | 'postgres' | 'none';
  readonly applied: readonly string[];
  readonly pending: readonly string[];
}

interface StorePlan {
  readonly kind: 'embedded' | 'server' | 'none';
  /** Number of the newest migration that is complete; null without tables. */
  readonly version: number | null;
  readonly newest: number;
  readonly pending: readonly {
    readonly number: number;
    readonly name: string;
    readonly statements: readonly string[];
  }[];
}

export interface MigrationPlan {
  readonly control: ControlPlan;
  readonly store: StorePlan;
}

interface MigrationParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  /** The built entry of the engine's host. */
  readonly hostEntry?: string;
}

/**
 * Lists the due migrations and changes nothing. It starts no engine and does not disturb a running service.
 * @throws {NewerDataError} If a newer release wrote one of the databases.
 */
export async function planMigrations(parts: MigrationParts): Promise<MigrationPlan> {
  return { control: await planControl(parts.config), store: await planStore(parts) };
}

async function planControl({ dataDir, databaseUrl }: Config): Promise<ControlPlan> {
  const known = CONTROL_MIGRATION_NAMES;
  const pendingAfter = (applied: readonly string[]) => known.filter((name) => !applied.includes(name));
  if (databaseUrl !== null) {
    const database = connectPostgres(databaseUrl);
    try {
      const applied = await appliedMigrations(database);
      requireKnownMigrations('the database of DATABASE_URL', { applied, known });
      return { kind: 'postgres', applied, pending: pendingAfter(applied) };
    } finally {
      await database.destroy();
    }
  }
  const path = join(dataDir, SQLITE_FILE_NAME);
  if (!existsSync(path)) return { kind: 'none', applied: [], pending: [] };
  const applied = migrationsIn(path);
  requireKnownMigrations(`control database ${path}`, { applied, known });
  return { kind: 'sqlite', applied, pending: pendingAfter(applied) };
}

async function planStore({ config, clock, log }: MigrationParts): Promise<StorePlan> {
  const form = tableForm(config);
  const found = new FoundObjects(await schemaOf(config, { clock, log }));
  found.requireKnown(config.clickhouseUrl === null ? 'the data directory' : 'the store of CLICKHOUSE_URL');
  const version = found.completeVersion((table) => storedName(table, form));
  if (version === null) return { kind: 'none', version, newest: STORE_VERSION, pending: [] };
  const pending = STORE_MIGRATIONS.map(({ number, name }) => ({
    number,
    name,
    statements: migrationStages(number, form, found).flat(),
  })).filter(({ statements }) => statements.length > 0);
  const kind = config.clickhouseUrl === null ? 'embedded' : 'server';
  return { kind, version, newest: STORE_VERSION, pending };
}

async function schemaOf(
  { dataDir, clickhouseUrl }: Config,
  parts: { clock: Clock; log: Logger },
): Promise<readonly SchemaObject[]> {
  if (clickhouseUrl === null) return storedSchema(dataDir);
  const access = serverAccess(clickhouseUrl, parts.clock);
  try {
    return await readSchema({ ...parts, access });
  } finally {
    await access.close();
  }
}

/**
 * Runs the due migrations of a SQLite file on a copy of it, which is removed.
 * @throws What the migration throws.
 */
export async function tryOnCopy(dataDir: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'underround-migrate-'));
  try {
    const copy = join(directory, SQLITE_FILE_NAME);
    const file = new SqliteFile(join(dataDir, SQLITE_FILE_NAME), { readOnly: true });
    file.exec(`VACUUM INTO '${copy.replaceAll("'", "''")}'`);
    file.close();
    await (await openSqlite(copy, MIGRATIONS)).destroy();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Applies the due migrations: first those of the store, one after the other, then those of the control database, all in
 * one transaction. A kill leaves each of them at a number that the next run continues from.
 * @throws {ConfigError} If a service uses the data directory.
 */
export async function applyMigrations(
  { config, clock, log, hostEntry }: MigrationParts,
  { control, store }: MigrationPlan,
): Promise<void> {
  const parts = { clock, log };
  await waitToBeAlone(join(config.dataDir, 'journal'), 'main', parts);
  if (store.kind !== 'none') {
    const entry = hostEntry === undefined ? {} : { hostEntry };
    const access = await reachEngine({ ...config, ...parts, metrics: new Metrics(), ...entry });
    try {
      await (await openTables({ ...parts, access }, config)).close();
    } finally {
      await access.close();
    }
  }
  if (control.kind !== 'none') await (await openControlDatabase(config)).destroy();
}
