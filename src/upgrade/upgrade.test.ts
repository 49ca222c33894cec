import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { keptDataDirectory } from '../../test/support/dataDirectories.ts';
import { openTestPostgres } from '../../test/support/postgres.ts';
import { testHostEntry } from '../../test/support/store.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { readConfig } from '../config.ts';
import { CONTROL_MIGRATION_NAMES } from '../control/migrationNames.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { type Clock, systemClock as clock } from '../runtime/clock.ts';
import { NewerDataError } from '../runtime/errors.ts';
import { silentLogger as log } from '../runtime/log.ts';
import { applyMigrations, planMigrations, tryOnCopy } from './migrationPlan.ts';
import { requireKnownDirectory, requireKnownPostgres } from './newerData.ts';

const postgres = await openTestPostgres();

function configOf(dataDir: string, variables: Record<string, string> = {}) {
  const read = readConfig({ UNDERROUND_DATA_DIR: dataDir, UNDERROUND_DISK_RESERVE: '16MiB', ...variables });
  if (!('config' in read)) throw new Error(JSON.stringify(read));
  return read.config;
}

/** Hash of every file but the two that SQLite makes while a file is read. */
function contentOf(dataDir: string): Record<string, string> {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/-(?:shm|wal)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    files.map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}

async function runNewerMigration(config: ReturnType<typeof configOf>): Promise<void> {
  const database = await openControlDatabase(config);
  await sql`INSERT INTO kysely_migration VALUES ('9999_later', '2030-01-01T00:00:00Z')`.execute(database);
  await database.destroy();
}

const DUE = [6, 7, 8, 9, 10, 11, 12, 13];

describe('migrations of a data directory of an earlier release', () => {
  it('are listed without a change, run on a copy, and applied', async () => {
    const dataDir = keptDataDirectory('187b58b');
    const parts = { config: configOf(dataDir), clock, log, hostEntry: await testHostEntry() };
    const before = contentOf(dataDir);
    const plan = await planMigrations(parts);
    expect(plan.control).toEqual({
      kind: 'sqlite',
      applied: CONTROL_MIGRATION_NAMES.slice(0, 9),
      pending: CONTROL_MIGRATION_NAMES.slice(9),
    });
    expect({ ...plan.store, pending: plan.store.pending.map(({ number }) => number) }).toEqual({
      ...{ kind: 'embedded', version: 5, newest: 13 },
      pending: DUE,
    });
    expect(plan.store.pending[0]?.statements).toEqual([
      expect.stringMatching(/^ALTER TABLE underround\.gaps ADD COLUMN IF NOT EXISTS start_received /),
    ]);
    await tryOnCopy(dataDir);
    expect(contentOf(dataDir)).toEqual(before);
    await applyMigrations(parts, plan);
    const after = await planMigrations(parts);
    expect([after.control.pending, after.store.pending, after.store.version]).toEqual([[], [], 13]);
  });

  it('are refused while a service records into the directory, also with a ClickHouse server', async () => {
    const dataDir = temporaryDirectory();
    const run = join(dataDir, 'journal', 'main.1-2');
    mkdirSync(run, { recursive: true });
    const start = readFileSync(`/proc/${process.ppid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19];
    writeFileSync(join(run, 'owner'), JSON.stringify({ pid: process.ppid, start }));
    /** Every wait is over at once. */
    const hurried: Clock = { ...clock, after: (_delayMs, end) => clock.after(0, end) };
    const config = configOf(dataDir, { CLICKHOUSE_URL: 'http://127.0.0.1:1' });
    const plan = {
      control: { kind: 'none', applied: [], pending: [] },
      store: { kind: 'server', version: 5, newest: 13, pending: [] },
    } as const;
    await expect(applyMigrations({ config, clock: hurried, log }, plan)).rejects.toThrow(
      `process ${process.ppid} already records into ${join(dataDir, 'journal')}; stop it first, or name another data directory`,
    );
  });

  it('of an empty directory are none', async () => {
    const dataDir = temporaryDirectory();
    const plan = await planMigrations({ config: configOf(dataDir), clock, log });
    expect(plan).toEqual({
      control: { kind: 'none', applied: [], pending: [] },
      store: { kind: 'none', version: null, newest: 13, pending: [] },
    });
    expect(readdirSync(dataDir)).toEqual([]);
  });
});

describe('a data directory of a newer release', () => {
  const laterThan = (place: string) =>
    new NewerDataError(
      place,
      'it has 9999_later, and the newest migration of release 0.1.0 is 0016_paper_closing',
    );

  it('with a later control database is refused, and not changed', async () => {
    const dataDir = temporaryDirectory();
    const config = configOf(dataDir);
    await runNewerMigration(config);
    const before = contentOf(dataDir);
    expect(() => requireKnownDirectory(config)).toThrow(laterThan(`data directory ${dataDir}`));
    const path = join(dataDir, 'control.sqlite');
    await expect(openControlDatabase(config)).rejects.toThrow(laterThan(`control database ${path}`));
    await expect(planMigrations({ config, clock, log })).rejects.toThrow(NewerDataError);
    expect(contentOf(dataDir)).toEqual(before);
  });

  it('with a later store is refused without an engine', () => {
    const dataDir = keptDataDirectory('187b58b');
    const path = join(dataDir, 'engine/metadata/underround.sql');
    const text = readFileSync(path, 'utf8').trimEnd();
    writeFileSync(path, `${text}\nCOMMENT 'underround store version 14'\n`);
    expect(() => requireKnownDirectory(configOf(dataDir))).toThrow(
      new NewerDataError(`data directory ${dataDir}`, 'its store has version 14, and release 0.1.0 knows 13'),
    );
  });

  it.skipIf(postgres.absent)('with a later PostgreSQL database is refused', async () => {
    const databaseUrl = await postgres.createDatabase();
    const config = configOf(temporaryDirectory(), { DATABASE_URL: databaseUrl });
    await runNewerMigration(config);
    await expect(requireKnownPostgres(databaseUrl)).rejects.toThrow(
      laterThan('the database of DATABASE_URL'),
    );
    const { host, pathname } = new URL(databaseUrl);
    await expect(openControlDatabase(config)).rejects.toThrow(
      laterThan(`control database ${host}${pathname}`),
    );
    await expect(requireKnownPostgres(await postgres.createDatabase())).resolves.toBeUndefined();
  });
});
