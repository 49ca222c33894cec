import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { openAccounts } from '../accounts.ts';
import { MAX_REVOKED_KEYS_PER_USER as KEPT, KeyRepository } from './keys.ts';

async function openTestAccounts() {
  const clock = new FakeClock();
  const config = { dataDir: temporaryDirectory(), databaseUrl: null, keyEnvironment: 'live' } as const;
  const database = await openControlDatabase(config);
  const logged: object[] = [];
  const logger = Object.assign(Object.create(silentLogger), {
    info: (fields: object, event: string) => void logged.push({ event, ...fields }),
  });
  const parts = { database, config, clock, randomBytes, logger, metrics: new Metrics() };
  const accounts = await openAccounts(parts);
  onTestFinished(() => accounts.close());
  const { userId } = await accounts.users.create('a@example.com');
  const issue = async (owner = userId) => {
    await clock.advance(1);
    const issued = await accounts.issueOwnKey({ userId: owner, label: 'x' });
    return issued?.record.keyId ?? '';
  };
  const issueRevoked = async (owner = userId) => {
    const keyId = await issue(owner);
    await accounts.keys.revoke(keyId, { userId: owner });
    return keyId;
  };
  const stored = async () =>
    (await database.selectFrom('api_keys').select('key_id').execute()).map((row) => row.key_id).sort();
  return { accounts, clock, logged, userId, issue, issueRevoked, stored };
}

test('the newest 100 revoked keys of a user are kept with all of others, and deleted ones are logged', async () => {
  const { accounts, logged, userId, issue, issueRevoked, stored } = await openTestAccounts();
  const other = await accounts.users.create('b@example.com');
  const kept = [await issue(), await issue(other.userId), await issueRevoked(other.userId)];
  const gone = [await issueRevoked(), await issueRevoked()];
  for (let made = 0; made < KEPT; made++) kept.push(await issueRevoked());
  expect(await stored()).toEqual(kept.sort());
  expect(logged).toEqual(
    gone.map((keyId) => ({
      event: 'keys.revoked_deleted',
      user_id: userId,
      keys: [expect.objectContaining({ key_id: keyId, revoked_ms: expect.any(Number) })],
    })),
  );
});

test('a user’s list has the unrevoked and the kept revoked keys, oldest first', async () => {
  const { accounts, userId, issue, issueRevoked } = await openTestAccounts();
  const live = await issue();
  await issueRevoked();
  const newest = [];
  for (let made = 0; made < KEPT; made++) newest.push(await issueRevoked());
  const listed = await accounts.keys.listOwn(userId);
  expect(listed.map(({ keyId }) => keyId)).toEqual([live, ...newest]);
});

test('a command deletes no revoked keys; the user’s next new key does, and the list is bounded until then', async () => {
  const { accounts, clock, userId, issue, stored } = await openTestAccounts();
  const onCommandLine = new KeyRepository(accounts.database, { clock, randomBytes });
  for (let made = 0; made < KEPT + 5; made++) {
    const { record } = await onCommandLine.create({ userId, label: 'x', environment: 'live' });
    await onCommandLine.revoke(record.keyId);
  }
  expect(await stored()).toHaveLength(KEPT + 5);
  expect(await accounts.keys.listOwn(userId)).toHaveLength(KEPT);
  await issue();
  expect(await stored()).toHaveLength(KEPT + 1);
});

test('the keys revoked last are listed and kept, whenever they were created', async () => {
  const { accounts, clock, userId, issue, stored } = await openTestAccounts();
  const onCommandLine = new KeyRepository(accounts.database, { clock, randomBytes });
  const made: string[] = [];
  for (let count = 0; count <= KEPT; count++) {
    await clock.advance(1);
    const { record } = await onCommandLine.create({ userId, label: 'x', environment: 'live' });
    made.push(record.keyId);
  }
  for (const keyId of made.toReversed()) {
    await clock.advance(1);
    await onCommandLine.revoke(keyId);
  }
  const revokedLast = made.slice(0, KEPT);
  expect((await accounts.keys.listOwn(userId)).map(({ keyId }) => keyId)).toEqual(revokedLast);
  const live = await issue();
  expect(await stored()).toEqual([live, ...revokedLast].sort());
});

test('the requests of a deleted key do not prevent the counts of other keys', async () => {
  const { accounts, userId, issue } = await openTestAccounts();
  const [gone, other] = [await issue(), await issue()];
  for (const keyId of [gone, other, other]) accounts.usage.note(keyId);
  await accounts.database.deleteFrom('api_keys').where('key_id', '=', gone).execute();
  await accounts.usage.close();
  expect(await accounts.usage.since(userId, 0)).toEqual(new Map([[other, 2]]));
});
