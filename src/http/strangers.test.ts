import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import { KEY, testApi, unaskedStore } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { lateCounters } from '../../test/support/lateCounters.ts';
import { stubStore } from '../../test/support/stubStore.ts';
import { FAILED_PER_MINUTE, METRICS_PER_MINUTE, RateLimits } from '../accounts/limits/limits.ts';
import { type CounterSource, memoryCounters } from '../accounts/limits/rateCounters.ts';
import type { ApiDependencies } from '../api/createApi.ts';
import { PLAIN } from './transport.ts';

const apps: FastifyInstance[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

const DRIVERS: readonly [string, (clock: FakeClock) => CounterSource][] = [
  ['in memory', memoryCounters],
  ['by a database', lateCounters],
];

function openRig(source: (clock: FakeClock) => CounterSource, parts: Partial<ApiDependencies> = {}) {
  const clock = new FakeClock();
  const rateLimits = new RateLimits(clock, source(clock));
  const app = testApi({ store: stubStore(), clock, rateLimits, ...parts });
  apps.push(app);
  return { app, clock, rateLimits };
}

const SIGN_IN = { method: 'POST', url: '/app/sign-in' } as const;
const TOO_MANY = { detail: 'Too many refused requests from this address; retry in 60 s' };

describe.each(DRIVERS)('requests refused without a known user, counted %s,', (_driver, source) => {
  const rig = (parts?: Partial<ApiDependencies>) => openRig(source, parts);

  test.each<[string, number, InjectOptions]>([
    ['an unknown route', 404, { url: '/v1/nothing' }],
    ['an unknown page', 404, { url: '/nothing' }],
    ['another method', 405, { method: 'POST', url: '/health' }],
    ['no key', 401, { url: '/v1/perp/depth' }],
    ['a bad key', 401, { url: '/v1/perp/depth', headers: { authorization: 'Bearer bad' } }],
    ['no session', 401, { url: '/app/me' }],
    ['a page of another site', 403, { ...SIGN_IN, headers: { origin: 'https://a.example' } }],
    ['a body that is not JSON', 422, { ...SIGN_IN, payload: '{' }],
    ['a body that is not valid', 422, { ...SIGN_IN, payload: '{}' }],
    ['a body that is nested too deeply', 400, { ...SIGN_IN, payload: '['.repeat(65) }],
    ['a body that is too large', 413, { ...SIGN_IN, payload: 'x'.repeat(9_000) }],
  ])('%s (%i) counts against the address; more than 600 a minute get 429', async (_name, status, request) => {
    const { app, clock, rateLimits } = rig({ store: unaskedStore });
    for (let used = 1; used < FAILED_PER_MINUTE; used++) await rateLimits.failure('127.0.0.1');
    const last = await app.inject(request);
    expect([last.statusCode, last.headers.ratelimit]).toEqual([status, '"failed-auth";r=0;t=60']);
    const beyond = await app.inject(request);
    expect([beyond.statusCode, beyond.headers['retry-after'], beyond.json()]).toEqual([429, '60', TOO_MANY]);
    const elsewhere = await app.inject({ ...request, remoteAddress: '192.0.2.1' });
    expect(elsewhere.statusCode).toBe(status);
    await clock.advance(60_000);
    expect((await app.inject(request)).statusCode).toBe(status);
  });

  test('do not affect a user at the same address, and a user’s refusals do not count', async () => {
    const { app, rateLimits } = rig();
    const ask = async (url: string) => (await app.inject({ url, headers: KEY })).statusCode;
    expect(await ask('/v1/perp/depth?ticker=none')).toBe(422);
    expect((await rateLimits.standing('127.0.0.1')).limit).toBe('"failed-auth";r=600;t=0');
    while ((await rateLimits.failure('127.0.0.1')).retryAfterSeconds === 0);
    expect(await ask('/v1/perp/depth?ticker=BTC')).toBe(200);
    expect(await ask('/v1/perp/depth?ticker=none')).toBe(422);
    expect(await ask('/health')).toBe(200);
    expect(await ask('/nothing')).toBe(429);
  });

  test('are refused before their body is read, once there were too many', async () => {
    const { app, rateLimits } = rig();
    while ((await rateLimits.failure('127.0.0.1')).retryAfterSeconds === 0);
    await app.listen({ port: 0, host: '127.0.0.1' });
    // The announced body is never sent.
    const answer = await answerTo(
      app,
      'POST /app/sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1.1 429 .*\r\nretry-after: 60\r\n.*Too many refused requests/is);
  });

  test.each([
    ['that are not HTTP', 'NONSENSE\r\n\r\n', 400],
    [
      'that expect the unknown',
      'GET /livez HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n',
      417,
    ],
  ])('count too: %s', async (_name, head, status) => {
    const { app, rateLimits } = rig();
    for (let used = 1; used < FAILED_PER_MINUTE; used++) await rateLimits.failure('127.0.0.1');
    await app.listen({ port: 0, host: '127.0.0.1' });
    expect(await answerTo(app, head)).toMatch(
      new RegExp(
        `^HTTP/1.1 ${status} .*\\r\\nratelimit-policy: "failed-auth".*\\r\\nratelimit: "failed-auth"`,
        'is',
      ),
    );
    expect(await answerTo(app, head)).toMatch(/^HTTP\/1.1 429 .*\r\nretry-after: 60\r\n/is);
  });

  test('from a trusted proxy’s own address do not count, because it forwards other clients', async () => {
    const { app, rateLimits } = rig({
      transport: { ...PLAIN, trustProxy: (address) => address === '127.0.0.1' },
    });
    await app.listen({ port: 0, host: '127.0.0.1' });
    expect(await answerTo(app, 'NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
    expect((await rateLimits.standing('127.0.0.1')).limit).toBe('"failed-auth";r=600;t=0');
  });
});

describe.each(DRIVERS)('an attempt to sign in, counted %s,', (_driver, source) => {
  test.each(['/app/sign-in', '/app/sign-up'])('counts before its body is read: %s', async (url) => {
    const { app } = openRig(source, { store: unaskedStore });
    const attempt = (payload: string) => app.inject({ method: 'POST', url, payload });
    for (let attempts = 0; attempts < 100; attempts++) expect((await attempt('{')).statusCode).toBe(422);
    const refused = await attempt('{');
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '900']);
    expect(refused.json()).toEqual({ detail: 'Too many attempts to sign in; retry in 900 s' });
  });
});

test(`an address may read the metrics ${METRICS_PER_MINUTE} times a minute`, async () => {
  const { app, clock } = openRig(memoryCounters);
  const ask = (remoteAddress: string) => app.inject({ url: '/metrics', remoteAddress });
  for (let read = 0; read < METRICS_PER_MINUTE; read++) expect((await ask('192.0.2.1')).statusCode).toBe(200);
  const refused = await ask('192.0.2.1');
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '60']);
  expect((await ask('192.0.2.2')).statusCode).toBe(200);
  await clock.advance(60_000);
  expect((await ask('192.0.2.1')).statusCode).toBe(200);
});

async function answerTo(app: FastifyInstance, request: string): Promise<string> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(request);
  let answer = '';
  for await (const chunk of socket) {
    answer += chunk;
    // The server still waits for the body, but the response is complete.
    if (answer.endsWith('}')) break;
  }
  socket.destroy();
  return answer;
}
