import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openTestPostgres } from '../../test/support/postgres.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { appliedMigrations, migrationsIn } from '../control/appliedMigrations.ts';
import { openDatabase } from '../control/database.ts';
import { CONTROL_MIGRATION_NAMES } from '../control/migrationNames.ts';
import { MIGRATIONS, openControlDatabase } from '../controlDatabase.ts';
import { systemClock } from '../runtime/clock.ts';
import { InvalidInputError, StoreUnavailableError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { DirectoryStorage } from './directoryStorage.ts';
import { copyPostgres, fillPostgres } from './postgresCopy.ts';
import { restoreBackup } from './restoreBackup.ts';
import { writeBackup } from './writeBackup.ts';

const postgres = await openTestPostgres();

async function open(databaseUrl: string | null, dataDir = '') {
  const database = await openControlDatabase({ dataDir, databaseUrl });
  onTestFinished(() => database.destroy());
  return database;
}

test.skipIf(postgres.absent !== null)(
  'accounts are copied from PostgreSQL to SQLite and back, row by row',
  async () => {
    const url = await postgres.createDatabase();
    const source = await open(url);
    const users = Array.from({ length: 4_100 }, (_, index) => ({
      user_id: `usr_${String(index).padStart(5, '0')}`,
      email: `${index}@example.com`,
      tier: 'free',
      created_ms: 1_700_000_000_000 + index,
    }));
    for (let at = 0; at < users.length; at += 100)
      await source
        .insertInto('users')
        .values(users.slice(at, at + 100) as never)
        .execute();
    const keys = [
      { key_id: 'key_1', user_id: 'usr_00007', label: 'x', key_hint: 'p', key_hash: 'h', created_ms: 5 },
    ];
    await source
      .insertInto('api_keys')
      .values(keys as never)
      .execute();
    const directory = temporaryDirectory();
    const path = join(directory, 'control.sqlite');
    await copyPostgres(url, path);
    const copy = await open(null, directory);
    const rowsOf = async (database: typeof copy) => ({
      users: await database.selectFrom('users').selectAll().orderBy('user_id').execute(),
      keys: await database.selectFrom('api_keys').selectAll().execute(),
    });
    expect(await rowsOf(copy)).toEqual(await rowsOf(source));
    expect(migrationsIn(path).length).toBeGreaterThan(10);

    const target = await postgres.createDatabase();
    const options = { path, backupId: 'b1', nowMs: 9 };
    await fillPostgres(target, options);
    // A restore that was killed after its transaction is repeated.
    await fillPostgres(target, options);
    expect(await rowsOf(await open(target))).toEqual(await rowsOf(source));
    await expect(fillPostgres(url, options)).rejects.toThrow(InvalidInputError);
  },
);

test.skipIf(postgres.absent !== null)(
  'a backup is not restored a second time into the database that a service has used since',
  async () => {
    const [dataDir, root] = [temporaryDirectory(), temporaryDirectory()];
    await open(null, dataDir);
    const storage = new DirectoryStorage(temporaryDirectory());
    const used = { databaseUrl: null, clickhouseUrl: 'http://store.example', secretKey: null };
    const config = { dataDir, ...used, diskReserve: { bytes: 1 } };
    await writeBackup({ config, storage, clock: systemClock, log: silentLogger });
    const databaseUrl = await postgres.createDatabase();
    const restore = (name: string) =>
      restoreBackup({ storage, id: null, dataDir: join(root, name), databaseUrl, clock: systemClock });
    await restore('first');
    const user = { user_id: 'usr_1', email: '1@example.com', tier: 'free', created_ms: 5 };
    const service = await open(databaseUrl);
    await service
      .insertInto('users')
      .values(user as never)
      .execute();
    await expect(restore('second')).rejects.toThrow(
      new InvalidInputError(
        'the database of DATABASE_URL has rows in users; name an empty database, or unset DATABASE_URL',
      ),
    );
  },
);

test.skipIf(postgres.absent !== null)('a database of an earlier release is copied as it is', async () => {
  const url = await postgres.createDatabase();
  const earlier = CONTROL_MIGRATION_NAMES.slice(0, 9);
  const migrations = Object.fromEntries(earlier.map((name) => [name, MIGRATIONS[name]]));
  const database = await openDatabase({ dataDir: '', databaseUrl: url }, { migrations: migrations as never });
  onTestFinished(() => database.destroy());
  const path = join(temporaryDirectory(), 'control.sqlite');
  await copyPostgres(url, path);
  expect([await appliedMigrations(database), migrationsIn(path)]).toEqual([earlier, earlier]);
});

test('a database that does not answer is named without its password', async () => {
  const path = join(temporaryDirectory(), 'control.sqlite');
  await expect(copyPostgres('postgres://me:secret@127.0.0.1:1/accounts', path)).rejects.toThrow(
    new StoreUnavailableError(
      'control database 127.0.0.1:1/accounts cannot be copied: connect ECONNREFUSED 127.0.0.1:1',
    ),
  );
});
