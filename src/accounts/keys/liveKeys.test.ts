import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { type Accounts, openAccounts } from '../accounts.ts';
import { SESSION_IDLE_MS } from '../users/sessions.ts';
import { issueKey } from './keys.ts';
import { LiveKeys } from './liveKeys.ts';

let clock: FakeClock;
let metrics: Metrics;
let accounts: Accounts;
const gone: string[] = [];

beforeEach(async () => {
  clock = new FakeClock();
  metrics = new Metrics();
  gone.length = 0;
  const config = { dataDir: temporaryDirectory(), databaseUrl: null, keyEnvironment: 'live' } as const;
  accounts = await openAccounts({
    database: await openControlDatabase(config),
    config,
    clock,
    randomBytes,
    logger: silentLogger,
    metrics,
  });
  onTestFinished(() => accounts.close());
});

async function watched(email: string, liveKeys: LiveKeys = accounts.liveKeys) {
  const wanted = { email, tier: 'plus', label: 'x', environment: 'live' } as const;
  const { record } = await issueKey(accounts.database, { clock, randomBytes }, wanted);
  const stop = liveKeys.watch({ keyId: record.keyId, tier: 'plus' }, (why) => gone.push(`${email} ${why}`));
  return { keyId: record.keyId, stop };
}

/** Like PostgreSQL, which has no version. */
function unversioned(): LiveKeys {
  const parts = { clock, freshness: null, logger: silentLogger, metrics };
  const liveKeys = new LiveKeys(accounts.database, parts);
  onTestFinished(() => liveKeys.close());
  return liveKeys;
}

describe.each([
  ['with a version', () => accounts.liveKeys],
  ['without', unversioned],
])('%s', (_name, open) => {
  it('an open connection is notified once, within a second, and no other is', async () => {
    const liveKeys = open();
    const one = await watched('a@example.com', liveKeys);
    await watched('b@example.com', liveKeys);
    await watched('c@example.com', liveKeys);
    await watched('d@example.com', liveKeys);
    await clock.advance(10_000);
    expect(gone).toEqual([]);
    await accounts.keys.revoke(one.keyId);
    await clock.advance(1000);
    expect(gone).toEqual(['a@example.com revoked']);
    await accounts.users.update({ email: 'b@example.com' }, { suspended: true });
    await accounts.users.update({ email: 'c@example.com' }, { tier: 'pro' });
    await accounts.users.update({ email: 'd@example.com' }, { tier: 'premium' });
    await clock.advance(1000);
    expect(gone.slice(1).sort()).toEqual(['b@example.com suspended', 'c@example.com downgraded']);
    await clock.advance(10_000);
    expect(gone).toHaveLength(3);
  });

  it('a browser is notified when its session ends or its user moves to a lower tier', async () => {
    const liveKeys = open();
    const connected = async (email: string) => {
      const user = await accounts.users.create(email, 'plus');
      const from = { userId: user.userId, userAgent: '', address: '127.0.0.1' };
      const { session } = await accounts.sessions.create(from);
      liveKeys.watch({ keyId: session.sessionId, tier: 'plus' }, (why) => gone.push(`${email} ${why}`));
      return session;
    };
    const one = await connected('a@example.com');
    await connected('b@example.com');
    await connected('c@example.com');
    await clock.advance(10_000);
    expect(gone).toEqual([]);
    await accounts.sessions.end(one.userId, one.sessionId);
    await accounts.users.update({ email: 'b@example.com' }, { tier: 'pro' });
    await clock.advance(1000);
    expect(gone.sort()).toEqual(['a@example.com revoked', 'b@example.com downgraded']);
  });

  it('a browser is notified when its session expires', async () => {
    const liveKeys = open();
    const { userId } = await accounts.users.create('a@example.com', 'plus');
    const { session, token } = await accounts.sessions.create({ userId, userAgent: '', address: '::1' });
    liveKeys.watch({ keyId: session.sessionId, tier: 'plus' }, (why) => gone.push(why));
    await clock.advance(1_000);
    clock.stepWall(SESSION_IDLE_MS - 60_000);
    await accounts.sessions.find(token);
    await clock.advance(1_000);
    clock.stepWall(SESSION_IDLE_MS - 60_000);
    await clock.advance(1_000);
    expect(gone).toEqual([]);
    clock.stepWall(60_000);
    await clock.advance(1_000);
    expect(gone).toEqual(['revoked']);
  });

  it('a change before the watch began is reported too', async () => {
    const liveKeys = open();
    const one = await watched('a@example.com', liveKeys);
    await clock.advance(1000);
    await accounts.keys.revoke(one.keyId);
    liveKeys.watch({ keyId: one.keyId, tier: 'plus' }, (why) => gone.push(`late ${why}`));
    await clock.advance(1000);
    expect(gone).toEqual(['a@example.com revoked', 'late revoked']);
  });

  it('a change that was checked for others before the watch began is reported too', async () => {
    const liveKeys = open();
    const one = await watched('a@example.com', liveKeys);
    await watched('b@example.com', liveKeys);
    one.stop();
    await accounts.keys.revoke(one.keyId);
    await clock.advance(1000);
    liveKeys.watch({ keyId: one.keyId, tier: 'plus' }, (why) => gone.push(`late ${why}`));
    await clock.advance(1000);
    expect(gone).toEqual(['late revoked']);
  });

  it('one check covers more keys than one statement may name', async () => {
    const liveKeys = open();
    const keyIds = Array.from({ length: 1_001 }, (_, n) => `key_deleted_${n}`);
    for (const keyId of keyIds)
      liveKeys.watch({ keyId, tier: 'plus' }, (why) => gone.push(`${keyId} ${why}`));
    await clock.advance(500);
    expect(gone).toEqual(keyIds.map((keyId) => `${keyId} revoked`));
  });

  it('a closed connection is not notified, and the checks end with the last connection', async () => {
    const liveKeys = open();
    const before = clock.waiting;
    const one = await watched('a@example.com', liveKeys);
    expect(clock.waiting).toBe(before + 1);
    one.stop();
    await accounts.keys.revoke(one.keyId);
    expect(clock.waiting).toBe(before);
    await clock.advance(2000);
    expect(gone).toEqual([]);
  });
});

it('a failed check is counted, and the next one notifies', async () => {
  const one = await watched('a@example.com');
  await accounts.keys.revoke(one.keyId);
  const rename = (from: string, to: string) =>
    accounts.database.schema.alterTable(from).renameTo(to).execute();
  await rename('api_keys', 'hidden');
  await clock.advance(500);
  const counter = metrics.registry.getSingleMetric('underround_live_key_check_failures_total');
  expect((await counter?.get())?.values[0]?.value).toBe(1);
  await rename('hidden', 'api_keys');
  await clock.advance(500);
  expect(gone).toEqual(['a@example.com revoked']);
});
