import { randomBytes } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { SQLITE_FILE_NAME, SqliteFile } from '../control/sqliteFile.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { type Accounts, openAccounts } from './accounts.ts';
import { SESSION_IDLE_MS } from './users/sessions.ts';
import type { User } from './users/users.ts';

let clock: FakeClock;
let dataDir: string;
let accounts: Accounts;
let user: User;
let token: string;

beforeEach(async () => {
  clock = new FakeClock();
  dataDir = temporaryDirectory();
  const config = { dataDir, databaseUrl: null, keyEnvironment: 'live' } as const;
  accounts = await openAccounts({
    database: await openControlDatabase(config),
    ...{ config, clock, randomBytes },
    ...{ logger: silentLogger, metrics: new Metrics() },
  });
  onTestFinished(() => accounts.close());
  user = await accounts.users.create('a@example.com');
  ({ token } = await accounts.sessions.create({ userId: user.userId, userAgent: '', address: '::1' }));
});

/** The call made when a request is admitted; it returns a promise only if it queried the database. */
const ask = (of = token) => accounts.access.signedIn(of, accounts.access.moment());
/** A change made by another process. */
function elsewhere(sql: string): void {
  const file = new SqliteFile(join(dataDir, SQLITE_FILE_NAME));
  file.exec(sql);
  file.close();
}

test('a session is read once and then cached, and so is an unknown token', async () => {
  const first = ask();
  expect(first).toBeInstanceOf(Promise);
  expect(await first).toMatchObject({ user: { email: 'a@example.com' } });
  expect(ask()).toBe(await first);
  const unknown = 'x'.repeat(43);
  expect(await ask(unknown)).toBeNull();
  expect(ask(unknown)).toBeNull();
});

test.each([
  ['signing out here', (sessionId: string) => accounts.sessions.end(user.userId, sessionId)],
  ['a change of the password', () => accounts.users.setPassword(user, 'hash')],
  ['signing out by another process', async () => elsewhere('DELETE FROM sessions')],
  ['a suspension by another process', async () => elsewhere('UPDATE users SET suspended_ms = 1')],
])('after %s the next request is not signed in', async (_, end) => {
  const known = await ask();
  expect(ask()).toBe(known);
  await end(known?.sessionId ?? '');
  expect(await ask()).toBeNull();
});

test('a changed tier applies to the next request', async () => {
  await ask();
  elsewhere("UPDATE users SET tier = 'plus'");
  expect((await ask())?.user.tier).toBe('plus');
});

test('a cached session expires on time, and its row is deleted', async () => {
  const known = await ask();
  expect(ask()).toBe(known);
  await clock.advance(SESSION_IDLE_MS);
  expect(await ask()).toBeNull();
  expect(await accounts.database.selectFrom('sessions').selectAll().execute()).toEqual([]);
});

test('its use is recorded once a minute, without queries in between', async () => {
  const seen = async () => (await accounts.sessions.list(user.userId)).map(({ lastSeenMs }) => lastSeenMs);
  await ask();
  const [begunMs] = await seen();
  await clock.advance(59_999);
  expect(ask()).not.toBeInstanceOf(Promise);
  expect(await seen()).toEqual([begunMs]);
  await clock.advance(1);
  await ask();
  expect(await seen()).toEqual([clock.now()]);
});

test('a session that is used while nothing can be written, on a full disk for example, stays valid', async () => {
  for (const change of ['UPDATE', 'DELETE'])
    elsewhere(
      `CREATE TRIGGER full_${change} BEFORE ${change} ON sessions BEGIN SELECT RAISE(ABORT, 'full'); END`,
    );
  await clock.advance(60_000);
  expect(await ask()).toMatchObject({ user: { email: 'a@example.com' } });
  await clock.advance(SESSION_IDLE_MS);
  expect(await ask()).toBeNull();
});

test('on a damaged file, a request that needs no row of it is admitted', async () => {
  await ask();
  const path = join(dataDir, SQLITE_FILE_NAME);
  for (const name of [path, `${path}-wal`]) {
    writeFileSync(name, Buffer.alloc(statSync(name).size, 1), { flag: 'r+' });
  }
  // Makes the other connections read the file again.
  await accounts.users.create('b@example.com').catch(() => undefined);
  expect(await accounts.access.maintenance(accounts.access.moment())).toBeNull();
});
