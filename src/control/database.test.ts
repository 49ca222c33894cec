import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { repositorySuite } from '../../test/accounts/repositorySuite.ts';
import { sessionSuite } from '../../test/accounts/sessionSuite.ts';
import { valueSuite } from '../../test/accounts/valueSuite.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { issueKey } from '../accounts/keys/keys.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { ConfigError, StoreUnavailableError } from '../runtime/errors.ts';
import { SqliteFile } from './sqliteFile.ts';

const openIn = (dataDir: string) => openControlDatabase({ dataDir, databaseUrl: null });
const pragma = async (db: Awaited<ReturnType<typeof openIn>>, name: string) =>
  Object.values((await sql<Record<string, unknown>>`PRAGMA ${sql.raw(name)}`.execute(db)).rows[0] ?? {})[0];

repositorySuite('SQLite', () => openIn(temporaryDirectory()));
sessionSuite('SQLite', () => openIn(temporaryDirectory()));
valueSuite('SQLite', () => openIn(temporaryDirectory()));

describe('openDatabase', () => {
  it('makes the directory and a file that only its owner can read', async () => {
    const dataDir = join(temporaryDirectory(), 'not/yet/there');
    const db = await openIn(dataDir);
    await issueKey(
      db,
      { clock: new FakeClock(), randomBytes },
      { email: 'a@example.com', tier: null, label: 'x', environment: 'live' },
    );
    const modes = readdirSync(dataDir).map((name) => [name, statSync(join(dataDir, name)).mode & 0o777]);
    expect(modes.length).toBeGreaterThan(1);
    expect(modes.filter(([, mode]) => mode !== 0o600)).toEqual([]);
    await db.destroy();
  });

  it('narrows the mode of a file that others could read', async () => {
    const dataDir = temporaryDirectory();
    writeFileSync(join(dataDir, 'control.sqlite'), '', { mode: 0o644 });
    await (await openIn(dataDir)).destroy();
    expect(statSync(join(dataDir, 'control.sqlite')).mode & 0o777).toBe(0o600);
  });

  it('runs in write-ahead mode, waits for other writers, enforces foreign keys, keeps 16 MB', async () => {
    const db = await openIn(temporaryDirectory());
    expect(await pragma(db, 'journal_mode')).toBe('wal');
    expect(await pragma(db, 'synchronous')).toBe(1);
    expect(await pragma(db, 'busy_timeout')).toBe(5000);
    expect(await pragma(db, 'foreign_keys')).toBe(1);
    expect(await pragma(db, 'cache_size')).toBe(-16_000);
    await db.destroy();
  });

  it('opened again, it has the stored rows and runs no migration twice', async () => {
    const dataDir = temporaryDirectory();
    const sources = { clock: new FakeClock(), randomBytes };
    const first = await openIn(dataDir);
    await issueKey(first, sources, { email: 'a@example.com', tier: 'pro', label: 'x', environment: 'live' });
    await first.destroy();
    const second = await openIn(dataDir);
    expect(await second.selectFrom('users').select('tier').execute()).toEqual([{ tier: 'pro' }]);
    await second.destroy();
  });

  it('the files contain a key’s hash and never the key', async () => {
    const dataDir = temporaryDirectory();
    const db = await openIn(dataDir);
    const { key } = await issueKey(
      db,
      { clock: new FakeClock(), randomBytes },
      { email: 'a@example.com', tier: null, label: 'x', environment: 'live' },
    );
    const [stored] = await db.selectFrom('api_keys').select('key_hash').execute();
    const open = filesOf(dataDir);
    await db.destroy();
    for (const bytes of [open, filesOf(dataDir)]) {
      expect(bytes.includes(stored?.key_hash ?? 'none')).toBe(true);
      // The 13 characters that are stored can be followed by any byte, also by that of the key.
      expect(bytes.includes(key.slice(0, 18))).toBe(false);
      expect(bytes.includes(key.slice(13))).toBe(false);
    }
  });

  it('refuses a URL that is not PostgreSQL’s, and creates no file', async () => {
    const config = { dataDir: temporaryDirectory(), databaseUrl: 'mysql://localhost/x' };
    await expect(openControlDatabase(config)).rejects.toThrow(
      new ConfigError('DATABASE_URL must start with postgres://'),
    );
    expect(readdirSync(config.dataDir)).toEqual([]);
  });

  it('a file that is not a database is a store failure with its cause', async () => {
    const dataDir = temporaryDirectory();
    writeFileSync(join(dataDir, 'control.sqlite'), 'this is not a database, and long enough to be looked at');
    const error = await openIn(dataDir).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect((error as StoreUnavailableError).message).toMatch(
      /control\.sqlite cannot be opened: file is not a database$/,
    );
    expect((error as StoreUnavailableError).cause).toMatchObject({ errcode: 26 });
  });

  it('a directory that cannot be created is a store failure', async () => {
    const dataDir = temporaryDirectory();
    writeFileSync(join(dataDir, 'file'), '');
    await expect(openIn(join(dataDir, 'file'))).rejects.toBeInstanceOf(StoreUnavailableError);
  });

  it('a failed migration leaves no tables behind', async () => {
    const dataDir = temporaryDirectory();
    mkdirSync(dataDir, { recursive: true });
    const file = new SqliteFile(join(dataDir, 'control.sqlite'));
    file.exec('CREATE TABLE api_keys (x)');
    await expect(openIn(dataDir)).rejects.toThrow(/table "?api_keys"? already exists/);
    const tables = file.rows("SELECT name FROM sqlite_master WHERE type = 'table'");
    expect(tables).toEqual([{ name: 'api_keys' }]);
    file.close();
  });
});

function filesOf(directory: string): Buffer {
  return Buffer.concat(readdirSync(directory).map((name) => readFileSync(join(directory, name))));
}

describe('a full disk', () => {
  /** Allows no further pages, as on a disk without space. */
  async function fullDatabase() {
    const db = await openIn(temporaryDirectory());
    await sql`CREATE TABLE filler (line TEXT)`.execute(db);
    const limit = (pages: string) => sql.raw(`PRAGMA max_page_count = ${pages}`).execute(db);
    await limit(String(await pragma(db, 'page_count')));
    return { db, free: () => limit('1000000') };
  }
  type Connection = Parameters<ReturnType<typeof sql>['execute']>[0];
  const write = (db: Connection) => sql`INSERT INTO filler VALUES (${'x'.repeat(100_000)})`.execute(db);
  const FULL = new StoreUnavailableError('control database: database or disk is full');

  it('fails a write as retryable, and accepts it once there is space', async () => {
    const { db, free } = await fullDatabase();
    await expect(write(db)).rejects.toThrow(FULL);
    await free();
    await write(db);
    await db.destroy();
  });

  it('is reported as a transaction’s failure, and leaves no transaction open', async () => {
    const { db, free } = await fullDatabase();
    await expect(db.transaction().execute(write)).rejects.toThrow(FULL);
    await free();
    await db.transaction().execute(write);
    await db.destroy();
  });
});
