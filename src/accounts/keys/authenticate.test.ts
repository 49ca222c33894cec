import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { SqliteFile } from '../../control/sqliteFile.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { StoreUnavailableError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { type Accounts, openAccounts } from '../accounts.ts';
import { isAuthFailure } from './authenticate.ts';
import { createKey } from './keyFormat.ts';
import { issueKey } from './keys.ts';

let clock: FakeClock;
let metrics: Metrics;
let dataDir: string;
let accounts: Accounts;

beforeEach(async () => {
  clock = new FakeClock();
  metrics = new Metrics();
  dataDir = temporaryDirectory();
  accounts = await open('live');
});

async function open(keyEnvironment: 'live' | 'test'): Promise<Accounts> {
  const config = { dataDir, databaseUrl: null, keyEnvironment };
  const opened = await openAccounts({
    database: await openControlDatabase(config),
    config,
    clock,
    randomBytes,
    logger: silentLogger,
    metrics,
  });
  onTestFinished(() => opened.close());
  return opened;
}

const issue = (environment: 'live' | 'test' = 'live') =>
  issueKey(
    accounts.database,
    { clock, randomBytes },
    { email: 'a@example.com', tier: 'plus', label: 'bot', environment },
  );
const authenticate = async (header: string | undefined) => accounts.authenticator.authenticate(header);
const failures = async () => {
  const counter = await metrics.registry.getSingleMetric('underround_auth_failures_total')?.get();
  return counter?.values.map(({ labels, value }) => [labels.reason, value]);
};

describe('authenticate', () => {
  it('returns the owner of a key', async () => {
    const { key, record, user } = await issue();
    expect(await authenticate(`Bearer ${key}`)).toEqual({
      keyId: record.keyId,
      userId: user.userId,
      email: 'a@example.com',
      tier: 'plus',
    });
    expect(await failures()).toEqual([]);
  });

  it.each([
    ['scheme in lower case', 'bearer '],
    ['scheme in capitals', 'BEARER '],
    ['two spaces, which RFC 6750 allows', 'Bearer  '],
  ])('takes %s', async (_, before) => {
    const { key, record } = await issue();
    expect(await authenticate(before + key)).toMatchObject({ keyId: record.keyId });
  });

  const sample = createKey('live', randomBytes);
  const malformedHeader = 'Malformed Authorization header, expected: Bearer <API key>';
  it.each([
    ['no header', undefined, 'missing', 'Missing bearer token'],
    ['empty header', '', 'missing', 'Missing bearer token'],
    ['another scheme', 'Basic dXNlcjpwYXNz', 'malformed_header', malformedHeader],
    ['scheme alone', 'Bearer', 'malformed_header', malformedHeader],
    ['scheme and a space', 'Bearer ', 'malformed_header', malformedHeader],
    ['no scheme', sample, 'malformed_header', malformedHeader],
    ['no space', `Bearer${sample}`, 'malformed_header', malformedHeader],
    ['a tab for the space', `Bearer\t${sample}`, 'malformed_header', malformedHeader],
    ['a space in front', ` Bearer ${sample}`, 'malformed_header', malformedHeader],
    ['a space behind', `Bearer ${sample} `, 'malformed_header', malformedHeader],
    ['a new line at the end', `Bearer ${sample}\n`, 'malformed_header', malformedHeader],
    [
      'a control character inside',
      `Bearer ${sample.slice(0, 20)}\u0000${sample.slice(21)}`,
      'malformed_header',
      malformedHeader,
    ],
    ['letters beyond ASCII', `Bearer ${'é'.repeat(48)}`, 'malformed_header', malformedHeader],
    [
      'two headers joined by a proxy',
      `Bearer ${sample}, Bearer ${sample}`,
      'malformed_header',
      malformedHeader,
    ],
    ['100 kB of token', `Bearer ${'a'.repeat(100_000)}`, 'malformed_header', malformedHeader],
    ['100 kB of spaces', `Bearer ${' '.repeat(100_000)}`, 'malformed_header', malformedHeader],
    ['a short key', 'Bearer svc_live_short', 'malformed_key', 'Malformed API key'],
    ['a key of other software', `Bearer ghp_${'a'.repeat(44)}`, 'malformed_key', 'Malformed API key'],
    [
      'a wrong checksum',
      `Bearer ${sample.slice(0, 42)}000000`,
      'bad_checksum',
      'Malformed API key, checksum does not match',
    ],
    ['a key never given out', `Bearer ${sample}`, 'unknown', 'Unknown API key'],
  ])('refuses %s', async (_, header, reason, detail) => {
    expect(await authenticate(header)).toEqual({ reason, detail });
    expect(await failures()).toEqual([[reason, 1]]);
  });

  it('text that cannot be a key never reaches the database', async () => {
    await accounts.database.destroy();
    const refused = await Promise.all(
      [
        undefined,
        'Bearer x',
        `Bearer ${sample.slice(0, 42)}000000`,
        `Bearer ${createKey('test', randomBytes)}`,
      ].map(authenticate),
    );
    expect(refused.map((result) => isAuthFailure(result) && result.reason)).toEqual([
      'missing',
      'malformed_key',
      'bad_checksum',
      'wrong_environment',
    ]);
    const error = await authenticate(`Bearer ${sample}`).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect((error as Error).message).toBe('control database: key look-up failed');
    expect((error as Error).cause).toBeInstanceOf(Error);
  });

  it('a key of the other environment is refused in both directions', async () => {
    const live = await issue('live');
    const test = await issue('test');
    const wrong = { reason: 'wrong_environment', detail: 'API key is of another environment' };
    expect(await authenticate(`Bearer ${test.key}`)).toEqual(wrong);
    const testServer = await open('test');
    expect(await testServer.authenticator.authenticate(`Bearer ${live.key}`)).toEqual(wrong);
    const admitted = await testServer.authenticator.authenticate(`Bearer ${test.key}`);
    expect(admitted).toMatchObject({ keyId: test.record.keyId });
  });

  it('a revocation applies to the next request, and only to that key', async () => {
    const gone = await issue();
    const kept = await issue();
    expect(await authenticate(`Bearer ${gone.key}`)).toMatchObject({ keyId: gone.record.keyId });
    const elsewhere = await open('live');
    await elsewhere.keys.revoke(gone.record.keyId);
    expect(await authenticate(`Bearer ${gone.key}`)).toEqual({
      reason: 'revoked',
      detail: 'API key has been revoked',
    });
    expect(await authenticate(`Bearer ${kept.key}`)).toMatchObject({ keyId: kept.record.keyId });
  });

  it('a changed tier applies to the next request', async () => {
    const { key } = await issue();
    expect(await authenticate(`Bearer ${key}`)).toMatchObject({ tier: 'plus' });
    await (await open('live')).users.setTier('a@example.com', 'free');
    expect(await authenticate(`Bearer ${key}`)).toMatchObject({ tier: 'free' });
  });

  it('no refusal contains any part of the request', async () => {
    const { key, record } = await issue();
    await accounts.keys.revoke(record.keyId);
    const sent = [`Bearer ${key}`, `Bearer ${key}x`, `Basic ${key}`, `Bearer ${key.slice(0, 42)}000000`];
    for (const header of sent) {
      expect(JSON.stringify(await authenticate(header))).not.toContain(key.slice(9, 20));
    }
  });
});

describe('last use', () => {
  const lastUsed = async () => (await accounts.keys.list())[0]?.lastUsedMs;

  it('is written after the request, at most once a minute', async () => {
    const { key } = await issue();
    await authenticate(`Bearer ${key}`);
    expect(await lastUsed()).toBeNull();
    await clock.advance(1_000);
    const first = clock.now();
    expect(await lastUsed()).toBe(first);

    await clock.advance(59_000);
    await authenticate(`Bearer ${key}`);
    await clock.advance(1_000);
    expect(await lastUsed()).toBe(first);

    await authenticate(`Bearer ${key}`);
    await clock.advance(1_000);
    expect(await lastUsed()).toBe(first + 61_000);
  });

  it('many requests cause one write', async () => {
    const { key } = await issue();
    await Promise.all(Array.from({ length: 100 }, () => authenticate(`Bearer ${key}`)));
    // One timer for the last use, one for the daily count.
    expect(clock.waiting).toBe(2);
  });

  it('never goes back when another process stored a later time', async () => {
    const { key } = await issue();
    await authenticate(`Bearer ${key}`);
    const later = clock.now() + 30_000;
    await accounts.database.updateTable('api_keys').set({ last_used_ms: later }).execute();
    await clock.advance(1_000);
    expect(await lastUsed()).toBe(later);
  });

  it('is not stored for a refused key', async () => {
    const { key, record } = await issue();
    await accounts.keys.revoke(record.keyId);
    await authenticate(`Bearer ${key}`);
    expect(clock.waiting).toBe(0);
  });

  it('all keys are written, even more than fit into one write', async () => {
    const issued = await Promise.all(Array.from({ length: 501 }, () => issue()));
    for (const { key } of issued) await authenticate(`Bearer ${key}`);
    await clock.advance(1_000);
    await clock.advance(1_000);
    const listed = await accounts.keys.list();
    expect(listed).toHaveLength(501);
    expect(listed.filter((key) => key.lastUsedMs === null)).toEqual([]);
  });

  it('pending uses are written at close', async () => {
    const { key } = await issue();
    await authenticate(`Bearer ${key}`);
    await accounts.close();
    accounts = await open('live');
    expect(await lastUsed()).toBe(clock.now());
    expect(clock.waiting).toBe(0);
  });

  it('a failed write is counted, and the next request tries again', async () => {
    const { key } = await issue();
    await authenticate(`Bearer ${key}`);
    const file = new SqliteFile(`${dataDir}/control.sqlite`);
    file.exec("CREATE TRIGGER refuse BEFORE UPDATE ON api_keys BEGIN SELECT RAISE(ABORT, 'no'); END");
    await clock.advance(1_000);
    const name = 'underround_key_last_used_write_failures_total';
    expect((await metrics.registry.getSingleMetric(name)?.get())?.values[0]?.value).toBe(1);
    file.exec('DROP TRIGGER refuse');
    file.close();
    await authenticate(`Bearer ${key}`);
    await clock.advance(1_000);
    expect(await lastUsed()).toBe(clock.now());
  });
});
