import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { testApi } from '../../test/support/api.ts';
import { CONTRACT, operationName } from '../../test/support/apiContract.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { FOLLOWED } from '../../test/support/followed.ts';
import { lateCounters } from '../../test/support/lateCounters.ts';
import { stubStore } from '../../test/support/stubStore.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { type Accounts, openAccounts } from '../accounts/accounts.ts';
import { createKey } from '../accounts/keys/keyFormat.ts';
import { issueKey } from '../accounts/keys/keys.ts';
import { FAILED_PER_MINUTE, RateLimits } from '../accounts/limits/limits.ts';
import { memoryCounters } from '../accounts/limits/rateCounters.ts';
import { DEFAULT_TIERS, type TierTable } from '../accounts/users/tiers.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { describeApi } from '../http/description/openapi.ts';
import type { Method } from '../http/route.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { TIERS, type Tier } from '../schema/tier.ts';
import type { ApiDependencies } from './createApi.ts';
import { allRoutes } from './routes.ts';

const EVERY_TIER = 'free pro plus premium';
/** Tiers that may call each route with a key, written from the contract; null: everyone, without a key. */
const WHO: Readonly<Record<string, string | null>> = {
  '/health': null,
  '/livez': null,
  '/readyz': null,
  '/metrics': null,
  '/openapi.json': null,
  '/docs': null,
  '/docs/reference': null,
  '/docs/style.css': null,
  '/v1/perp/depth': EVERY_TIER,
  '/v1/markets': EVERY_TIER,
  '/v1/markets/resolved': EVERY_TIER,
  '/v1/markets/{market_id}': EVERY_TIER,
  '/v1/markets/{market_id}/timeseries': EVERY_TIER,
  '/v1/markets/{market_id}/orderbook': EVERY_TIER,
  '/v1/snapshots': EVERY_TIER,
  '/v1/snapshot-at/{ts}': EVERY_TIER,
  '/v1/trades': EVERY_TIER,
  '/v1/underlying': EVERY_TIER,
  '/v1/candles': EVERY_TIER,
  '/v1/stats/calibration': EVERY_TIER,
  '/v1/gaps': EVERY_TIER,
  '/v1/export': 'pro plus premium',
  '/v1/export/manifest': 'pro plus premium',
  '/v1/tapes/markets': 'pro plus premium',
  '/v1/tapes': 'pro plus premium',
  '/v1/arb/live': EVERY_TIER,
  '/v1/arb/audit': EVERY_TIER,
  '/v1/arb/audit/aggregate': EVERY_TIER,
  'POST /v1/backtest': EVERY_TIER,
  'POST /v1/backtest/sweep': 'pro plus premium',
  '/v1/backtest': EVERY_TIER,
  '/v1/backtest/{job_id}': EVERY_TIER,
  'DELETE /v1/backtest/{job_id}': EVERY_TIER,
  'POST /v1/paper/strategies': EVERY_TIER,
  '/v1/paper/strategies': EVERY_TIER,
  '/v1/paper/strategies/{strategy_id}': EVERY_TIER,
  'PATCH /v1/paper/strategies/{strategy_id}': EVERY_TIER,
  'DELETE /v1/paper/strategies/{strategy_id}': EVERY_TIER,
  '/v1/paper/strategies/{strategy_id}/positions': EVERY_TIER,
  '/v1/paper/strategies/{strategy_id}/equity': EVERY_TIER,
  '/v1/paper/strategies/{strategy_id}/divergence': EVERY_TIER,
  'POST /v1/paper/strategies/{strategy_id}/divergence': EVERY_TIER,
};
interface Operation {
  readonly path: string;
  readonly method: Method;
}
const who = (operation: Operation) => WHO[operationName(operation)];
const successOf = (operation: Operation) => CONTRACT[operationName(operation)]?.success ?? 200;
const RECENT = '2026-11-20T11:00:00Z';
const DEPTH = '/v1/perp/depth?ticker=BTC';

const clock = new FakeClock();
let accounts: Accounts;

beforeEach(async () => {
  const config = { dataDir: temporaryDirectory(), databaseUrl: null, keyEnvironment: 'live' } as const;
  const opened = await openAccounts({
    database: await openControlDatabase(config),
    config,
    clock,
    randomBytes,
    logger: silentLogger,
    metrics: new Metrics(),
  });
  onTestFinished(() => opened.close());
  accounts = opened;
});

function api(parts: Partial<ApiDependencies> = {}): FastifyInstance {
  const app = testApi({ store: stubStore(), clock, accounts: accounts.access, control: accounts, ...parts });
  onTestFinished(() => app.close());
  return app;
}

async function issue(tier: Tier, email = `${tier}@example.com`) {
  const wanted = { email, tier, label: 'test', environment: 'live' as const };
  return await issueKey(accounts.database, { clock, randomBytes }, wanted);
}
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** A request of the operation that succeeds with the right permission. */
function requestOf(operation: Operation) {
  const { path: inPath = {}, query = {}, body } = CONTRACT[operationName(operation)] ?? {};
  const value = (name: string, given: string | undefined) =>
    encodeURIComponent(name === 'start' || name === 'ts' ? RECENT : (given ?? ''));
  const { method } = operation;
  const path = operation.path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    value(name, inPath[name]?.required),
  );
  const needed = Object.entries(query).filter(([, { required }]) => required !== undefined);
  const words = needed.map(([name, { required }]) => `${name}=${value(name, required)}`);
  return { method, url: `${path}?${words.join('&')}`, ...(body === undefined ? {} : { payload: body }) };
}

/** Credentials that are not a valid key, each with the expected `detail`. */
async function badKeys(): Promise<[what: string, headers: Record<string, string>, detail: string][]> {
  const revoked = await issue('premium', 'revoked@example.com');
  await accounts.keys.revoke(revoked.record.keyId);
  const suspended = await issue('premium', 'suspended@example.com');
  await accounts.users.update({ email: 'suspended@example.com' }, { suspended: true });
  const { key } = revoked;
  const header = 'Malformed Authorization header, expected: Bearer <API key>';
  return [
    ['no key', {}, 'Missing bearer token'],
    ['another scheme', { authorization: 'Basic dXNlcjpwYXNz' }, header],
    ['a malformed key', bearer('svc_live_short'), 'Malformed API key'],
    ['a bad checksum', bearer(`${key.slice(0, 42)}000000`), 'Malformed API key, checksum does not match'],
    ['another environment', bearer(createKey('test', randomBytes)), 'API key is of another environment'],
    ['an unknown key', bearer(createKey('live', randomBytes)), 'Unknown API key'],
    ['a revoked key', bearer(key), 'API key has been revoked'],
    ['a suspended user', bearer(suspended.key), 'Account is suspended'],
  ];
}

const document = describeApi(allRoutes(FOLLOWED as never), FOLLOWED);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({ path, method: method.toUpperCase() as Method })),
);
/** Routes of the dashboard that need no session. */
const OPEN_APP = ['/app/sign-up'];
/** Streams answer no plain request; `test/service/streamAccess.test.ts` tests them. */
const SOCKETS = ['/v1/stream', '/v1/arb/ws', '/v1/replay'];
const open = operations.filter(({ path }) => !path.startsWith('/app/') && !SOCKETS.includes(path));

describe('access control', () => {
  test('the table lists every operation that needs no session', () => {
    expect(open.map(operationName).sort()).toEqual(Object.keys(WHO).sort());
  });

  test(`${operations.length} operations without a valid key`, async () => {
    const app = api();
    for (const [what, headers, detail] of await badKeys()) {
      for (const operation of operations) {
        const { path, method } = operation;
        const isOpen = who(operation) === null || OPEN_APP.includes(operationName(operation));
        const wantsSession = path.startsWith('/app/') && !isOpen;
        const response = await app.inject({ ...requestOf(operation), headers });
        const name = `${method} ${path} with ${what}`;
        if (isOpen) expect(response.statusCode, name).toBe(200);
        if (wantsSession) expect(response.statusCode, name).toBeGreaterThanOrEqual(400);
        if (wantsSession) expect(response.statusCode, name).toBeLessThan(500);
        if (wantsSession || isOpen) continue;
        expect([response.statusCode, response.json(), response.headers['www-authenticate']], name).toEqual([
          401,
          { detail },
          'Bearer',
        ]);
      }
    }
  });

  test.each(TIERS)('%s', async (tier) => {
    const { key } = await issue(tier);
    const app = api();
    for (const operation of open) {
      const response = await app.inject({ ...requestOf(operation), headers: bearer(key) });
      const allowed = who(operation) === null || who(operation)?.split(' ').includes(tier);
      const name = operationName(operation);
      expect([name, response.statusCode]).toEqual([name, allowed ? successOf(operation) : 403]);
    }
  });

  test('a feature that an operator switches off for a tier is refused on every route that needs it', async () => {
    const { key } = await issue('free');
    const free = { ...DEFAULT_TIERS.free, market_data: false, backtest_jobs: 0, paper_strategies: 0 };
    const tiers: TierTable = { ...DEFAULT_TIERS, free };
    const app = api({ tiers });
    for (const operation of open) {
      const response = await app.inject({ ...requestOf(operation), headers: bearer(key) });
      const name = operationName(operation);
      expect([name, response.statusCode]).toEqual([name, who(operation) === null ? 200 : 403]);
    }
    const refused = await app.inject({ url: DEPTH, headers: bearer(key) });
    expect(refused.json()).toEqual({
      detail: 'Tier free does not include this endpoint; pro, plus and premium do',
    });
  });

  test('a change made by another process applies to the next request', async () => {
    const { key, record, user } = await issue('free');
    const app = api({ tiers: { ...DEFAULT_TIERS, pro: { ...DEFAULT_TIERS.pro, market_data: false } } });
    const status = async () => (await app.inject({ url: DEPTH, headers: bearer(key) })).statusCode;
    expect([await status(), await status()]).toEqual([200, 200]);
    await accounts.users.update({ userId: user.userId }, { tier: 'pro' });
    expect(await status()).toBe(403);
    await accounts.users.update({ userId: user.userId }, { tier: 'free', suspended: true });
    expect(await status()).toBe(401);
    await accounts.users.update({ userId: user.userId }, { suspended: false });
    expect(await status()).toBe(200);
    await accounts.keys.revoke(record.keyId);
    expect(await status()).toBe(401);
  });
});

describe('the order of checks', () => {
  test.each([
    ['in memory', memoryCounters],
    ['by a database', lateCounters],
  ])('each check runs before all that follow it, with requests counted %s', async (_driver, source) => {
    const { key } = await issue('free');
    const rateLimits = new RateLimits(clock, source(clock));
    const app = api({ rateLimits });
    const closed = api({ tiers: { ...DEFAULT_TIERS, free: { ...DEFAULT_TIERS.free, market_data: false } } });
    const ask = async (url: string, { headers = bearer(key) as object, on = app, wait = true } = {}) => {
      if (wait) await clock.advance(1000);
      return (await on.inject({ url, headers: { ...headers } })).statusCode;
    };
    const old = 'start=2026-01-01';
    await accounts.maintenance.close({ retryAfterSeconds: 30, message: null });
    expect(await ask('/v1/nothing', { headers: {} })).toBe(404);
    expect((await app.inject({ method: 'POST', url: '/v1/candles' })).statusCode).toBe(405);
    expect(await ask('/v1/perp/depth', { headers: {} })).toBe(503);
    await accounts.maintenance.open();
    expect(await ask('/v1/perp/depth', { headers: {} })).toBe(401);
    expect(await ask(DEPTH)).toBe(200);
    expect(await ask('/v1/perp/depth', { wait: false })).toBe(429);
    expect(await ask('/v1/perp/depth', { on: closed })).toBe(403);
    expect(await ask(`/v1/snapshots?market_id=none&${old}&limit=x`)).toBe(422);
    expect(await ask(`/v1/snapshots?market_id=none&${old}&end=2025-01-01`)).toBe(400);
    expect(await ask(`/v1/snapshots?market_id=none&${old}&cursor=x`)).toBe(400);
    expect(await ask(`/v1/snapshots?market_id=none&${old}`)).toBe(403);
    expect(await ask('/v1/snapshots?market_id=none')).toBe(404);
  });
});

describe('maintenance', () => {
  test('refuses everything but the health routes, and ends at once', async () => {
    const { key } = await issue('premium');
    const app = api({ rateLimits: new RateLimits(clock) });
    await accounts.maintenance.close({ retryAfterSeconds: 90, message: null });
    for (const operation of open) {
      const path = operationName(operation);
      const response = await app.inject({ ...requestOf(operation), headers: bearer(key) });
      if (['/health', '/livez', '/metrics'].includes(path)) {
        expect([path, response.statusCode]).toEqual([path, 200]);
        continue;
      }
      expect([path, response.statusCode, response.headers['retry-after'], response.json()]).toEqual([
        path,
        503,
        '90',
        { detail: 'Under maintenance, retry later' },
      ]);
      expect(response.headers.ratelimit).toBe('"failed-auth";r=600;t=0');
    }
    await accounts.maintenance.open();
    expect((await app.inject({ url: DEPTH, headers: bearer(key) })).statusCode).toBe(200);
  });

  test('keeps only the dashboard routes that are needed to end it', async () => {
    const app = api();
    await accounts.maintenance.close({ retryAfterSeconds: 90, message: null });
    const served = operations.filter(({ path }) => path.startsWith('/app/') && !SOCKETS.includes(path));
    const answering: string[] = [];
    for (const operation of served) {
      const { statusCode } = await app.inject(requestOf(operation));
      if (statusCode !== 503) answering.push(operationName(operation));
    }
    expect(answering.sort()).toEqual(
      [
        ...[
          '/app/sign-up',
          'POST /app/sign-in',
          'POST /app/sign-in-link',
          'POST /app/sign-out',
          '/app/me',
          '/app/drift',
          '/app/feeds',
          '/app/operator/summary',
        ],
        '/app/state',
        '/app/status',
        '/app/status.json',
        ...['/app/sessions', 'DELETE /app/sessions/{session_id}'],
        ...['/app/maintenance', 'PUT /app/maintenance'],
      ].sort(),
    );
  });
});

describe('rates', () => {
  test("10,000 requests at once: the tier's limit is admitted, and every response has the rate limit headers", async () => {
    const { key } = await issue('premium');
    const app = api({ rateLimits: new RateLimits(clock) });
    await clock.advance(60_000);
    const ask = () => app.inject({ url: '/v1/markets/0xaa', headers: bearer(key) });
    const answers = await Promise.all(Array.from({ length: 10_000 }, ask));
    const admitted = answers.filter(({ statusCode }) => statusCode === 200);
    expect(admitted).toHaveLength(50);
    expect(admitted.at(-1)?.headers).toMatchObject({
      'ratelimit-policy': '"second";q=50;w=1, "minute";q=2000;w=60',
      ratelimit: '"second";r=0;t=1, "minute";r=1950;t=60',
    });
    const refused = answers.filter(({ statusCode }) => statusCode === 429);
    expect(refused).toHaveLength(9_950);
    expect(refused[0]?.json()).toEqual({ detail: 'Rate limit of tier premium exceeded; retry in 1 s' });
    expect(refused[0]?.headers).toMatchObject({
      'retry-after': '1',
      ratelimit: admitted.at(-1)?.headers.ratelimit,
    });
  });

  test('count a request that the tier refuses, and its response has the rate limit headers', async () => {
    const { key } = await issue('free');
    const app = api({ rateLimits: new RateLimits(clock) });
    const ask = () => app.inject({ url: '/v1/export', headers: bearer(key) });
    const [forbidden, tooMany] = [await ask(), await ask()];
    expect([forbidden.statusCode, tooMany.statusCode]).toEqual([403, 429]);
    expect(forbidden.headers).toMatchObject({
      'ratelimit-policy': '"second";q=1;w=1, "minute";q=60;w=60',
      ratelimit: '"second";r=0;t=1, "minute";r=59;t=60',
    });
    expect(tooMany.headers).toMatchObject({ 'retry-after': '1', ratelimit: forbidden.headers.ratelimit });
  });

  test('count per user: all keys of a user share one limit, and neither a new nor a revoked key resets it', async () => {
    const first = await issue('free');
    const app = api({ rateLimits: new RateLimits(clock) });
    const ask = async (key: string) => {
      const { statusCode, headers } = await app.inject({ url: DEPTH, headers: bearer(key) });
      return [statusCode, headers.ratelimit];
    };
    expect(await ask(first.key)).toEqual([200, '"second";r=0;t=1, "minute";r=59;t=60']);
    const second = await issue('free');
    expect(await ask(second.key)).toEqual([429, '"second";r=0;t=1, "minute";r=59;t=60']);
    await clock.advance(1000);
    expect(await ask(second.key)).toEqual([200, '"second";r=0;t=1, "minute";r=58;t=59']);
    await accounts.keys.revoke(first.record.keyId);
    expect(await ask(second.key)).toEqual([429, '"second";r=0;t=1, "minute";r=58;t=59']);
    const other = await issue('free', 'other@example.com');
    expect(await ask(other.key)).toEqual([200, '"second";r=0;t=1, "minute";r=59;t=60']);
  });

  test('are neither counted nor reported when they are off', async () => {
    const { key } = await issue('free');
    const app = api({ rateLimits: null });
    for (let request = 0; request < 5; request++) {
      const { statusCode, headers } = await app.inject({ url: DEPTH, headers: bearer(key) });
      expect([statusCode, headers.ratelimit, headers['ratelimit-policy']]).toEqual([
        200,
        undefined,
        undefined,
      ]);
    }
    expect((await app.inject({ url: DEPTH })).statusCode).toBe(401);
  });

  test('10,000 random keys get 401, then 429; a valid key from the same address is still answered', async () => {
    const { key } = await issue('premium');
    const app = api({ rateLimits: new RateLimits(clock) });
    const statuses = new Map<number, number>();
    for (let guess = 0; guess < 10_000; guess++) {
      const { statusCode } = await app.inject({
        url: DEPTH,
        headers: bearer(createKey('live', randomBytes)),
      });
      statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 401: FAILED_PER_MINUTE, 429: 10_000 - FAILED_PER_MINUTE });
    const refused = await app.inject({ url: DEPTH });
    expect(refused.json()).toEqual({
      detail: 'Too many refused requests from this address; retry in 60 s',
    });
    expect(refused.headers['retry-after']).toBe('60');
    expect((await app.inject({ url: DEPTH, headers: bearer(key) })).statusCode).toBe(200);
  });
});

describe('several Authorization headers', () => {
  async function ask(app: FastifyInstance, values: readonly string[]): Promise<string> {
    if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' });
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    const lines = values.map((value, at) => `${at === 0 ? 'Authorization' : 'authorization'}: ${value}\r\n`);
    socket.write(`GET ${DEPTH} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}Connection: close\r\n\r\n`);
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    return answer;
  }

  test('are refused, whichever of them is valid', async () => {
    const { key } = await issue('premium');
    const good = `Bearer ${key}`;
    const app = api();
    expect(await ask(app, [good])).toMatch(/^HTTP\/1\.1 200 /);
    for (const values of [
      [good, 'Bearer bad'],
      ['Bearer bad', good],
      [good, good],
      [good, ''],
      ['', good],
    ]) {
      const answer = await ask(app, values);
      expect(answer, values.join()).toMatch(/^HTTP\/1\.1 401 /);
      expect(answer).toContain('Malformed Authorization header');
    }
  });
});

test.each([
  ['a control character', 'Authorization: Bearer svc_live_\u0001\r\n', 400],
  ['a new line in the middle', 'Authorization: Bearer\n svc_live_x\r\n', 400],
  ['a zero byte', 'Authorization: Bearer \u0000\r\n', 400],
  ['100 kB', `Authorization: Bearer ${'a'.repeat(100_000)}\r\n`, 431],
  ['two of them', 'Authorization: Bearer a\r\nAuthorization: Bearer b\r\n', 401],
  ['bytes beyond ASCII', 'Authorization: Bearer \u00e9\u00ff\r\n', 401],
])('an Authorization header with %s is refused', async (_name, header, status) => {
  const app = api();
  await app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  // The server may answer and close before the client has sent all of a long header.
  socket.on('error', () => undefined);
  socket.write(`GET ${DEPTH} HTTP/1.1\r\nHost: localhost\r\n${header}Connection: close\r\n\r\n`, 'latin1');
  const [answer] = await once(socket, 'data');
  socket.destroy();
  expect(String(answer)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
});
