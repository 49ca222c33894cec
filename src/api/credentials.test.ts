/** Sends every kind of credential, valid and invalid, to every operation. Only the right kind is admitted. */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { uncheckedApi } from '../../test/support/api.ts';
import { CONTRACT, operationName } from '../../test/support/apiContract.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { FOLLOWED } from '../../test/support/followed.ts';
import { stubStore } from '../../test/support/stubStore.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { type Accounts, openAccounts } from '../accounts/accounts.ts';
import { createKey } from '../accounts/keys/keyFormat.ts';
import { issueKey } from '../accounts/keys/keys.ts';
import { SESSION_IDLE_MS } from '../accounts/users/sessions.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { SESSION_COOKIE } from '../http/sessionCookie.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { allRoutes } from './routes.ts';

/** The credential an operation requires by the contract: none, an API key, a session, or an operator's session. */
type Wants = 'nothing' | 'key' | 'session' | 'operator';
interface Operation {
  readonly method: string;
  readonly path: string;
}
interface Credential {
  readonly headers?: Record<string, string | string[]>;
  /** Appended to the path. */
  readonly query?: string;
  /** Operations that the credential gives access to, beside those that need none. */
  readonly opens: readonly Wants[];
}

/** Written from the contract, not read from the routes. */
const OPEN_TO_ALL = ['/app/sign-up', 'POST /app/sign-up', 'POST /app/sign-in', 'POST /app/sign-in-link'];
const OPERATORS_ONLY = /^\/app\/(users|maintenance|feeds|drift|operator|status(?:\.json)?)(\/|$)/;
const CHANGES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** The service tests cover WebSocket handshakes. */
const operations: Operation[] = allRoutes(FOLLOWED as never)
  .filter(({ socket }) => socket !== true)
  .map(({ method, path }) => ({ method, path }));

function wants(operation: Operation): Wants {
  const { path } = operation;
  if (path.startsWith('/v1/')) return 'key';
  if (!path.startsWith('/app/') || OPEN_TO_ALL.includes(operationName(operation))) return 'nothing';
  return OPERATORS_ONLY.test(path) ? 'operator' : 'session';
}

const clock = new FakeClock();
let accounts: Accounts;
let app: FastifyInstance;

beforeEach(async () => {
  const config = { dataDir: temporaryDirectory(), databaseUrl: null, keyEnvironment: 'live' } as const;
  accounts = await openAccounts({
    database: await openControlDatabase(config),
    config,
    clock,
    randomBytes,
    logger: silentLogger,
    metrics: new Metrics(),
  });
  onTestFinished(() => accounts.close());
  app = uncheckedApi({ store: stubStore(), clock, accounts: accounts.access, control: accounts });
  onTestFinished(() => app.close());
});

/** Premium, so that the tier never refuses an admitted credential. */
async function issue(name: string) {
  const wanted = {
    email: `${name}@example.com`,
    tier: 'premium',
    label: 'test',
    environment: 'live',
  } as const;
  return await issueKey(accounts.database, { clock, randomBytes }, wanted);
}

async function sessionOf(userId: string) {
  return await accounts.sessions.create({ userId, userAgent: 'test', address: '127.0.0.1' });
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const cookie = (token: string) => ({ cookie: `${SESSION_COOKIE}=${token}` });

/** Each function creates a fresh credential, because some operations (such as signing out) end it. */
async function credentials(): Promise<Record<string, () => Credential | Promise<Credential>>> {
  const { key, user } = await issue('user');
  const { userId } = user;
  const revoked = await issue('revoked');
  await accounts.keys.revoke(revoked.record.keyId);
  const suspended = await issue('suspended');
  const suspendedSession = await sessionOf(suspended.user.userId);
  await accounts.users.update({ userId: suspended.user.userId }, { suspended: true });
  const operator = await issue('operator');
  await accounts.database
    .updateTable('users')
    .set({ operator_ms: clock.now() })
    .where('user_id', '=', operator.user.userId)
    .execute();
  const idle = await sessionOf(userId);
  await clock.advance(SESSION_IDLE_MS);
  const ended = await sessionOf(userId);
  await accounts.sessions.end(userId, ended.session.sessionId);
  const nothing = { opens: [] };
  const sessionCookie = async () => cookie((await sessionOf(userId)).token);
  return {
    'no credential': () => nothing,
    'an empty bearer token': () => ({ ...nothing, headers: { authorization: 'Bearer ' } }),
    'another scheme': () => ({ ...nothing, headers: { authorization: `Basic ${btoa(`user:${key}`)}` } }),
    'a key without a scheme': () => ({ ...nothing, headers: { authorization: key } }),
    'a malformed key': () => ({ ...nothing, headers: bearer('svc_live_short') }),
    'a key with a bad checksum': () => ({ ...nothing, headers: bearer(`${key.slice(0, 42)}000000`) }),
    'a key of another environment': () => ({ ...nothing, headers: bearer(createKey('test', randomBytes)) }),
    'a key never issued': () => ({ ...nothing, headers: bearer(createKey('live', randomBytes)) }),
    'a revoked key': () => ({ ...nothing, headers: bearer(revoked.key) }),
    'the key of a suspended user': () => ({ ...nothing, headers: bearer(suspended.key) }),
    'two keys in one header': () => ({
      ...nothing,
      headers: { authorization: `Bearer ${key}, Bearer ${key}` },
    }),
    'a key in the query of a plain request': () => ({ ...nothing, query: `api_key=${key}` }),
    'a key as the cookie': () => ({ ...nothing, headers: cookie(key) }),
    'a session token as a key': async () => ({
      ...nothing,
      headers: bearer((await sessionOf(userId)).token),
    }),
    'a garbled session token': () => ({ ...nothing, headers: cookie("' OR 1=1 --") }),
    'a session token never issued': () => ({
      ...nothing,
      headers: cookie(randomBytes(32).toString('base64url')),
    }),
    'a session unused for too long': () => ({ ...nothing, headers: cookie(idle.token) }),
    'a session that was ended': () => ({ ...nothing, headers: cookie(ended.token) }),
    'the session of a suspended user': () => ({ ...nothing, headers: cookie(suspendedSession.token) }),
    'the API key of a user': () => ({ headers: bearer(key), opens: ['key'] }),
    'the API key of an operator': () => ({ headers: bearer(operator.key), opens: ['key'] }),
    'the session of a user': async () => ({ headers: await sessionCookie(), opens: ['session'] }),
    'the session of an operator': async () => ({
      headers: cookie((await sessionOf(operator.user.userId)).token),
      opens: ['session', 'operator'],
    }),
  };
}

function urlOf({ path, method }: Operation, query = ''): string {
  const { path: inPath = {}, query: known = {} } =
    CONTRACT[operationName({ method, path: path.replace(/^\/app\//, '/v1/') })] ?? {};
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) =>
    encodeURIComponent(inPath[name]?.required ?? 'unknown'),
  );
  const needed = Object.entries(known).flatMap(([name, { required }]) =>
    required === undefined ? [] : [`${name}=${encodeURIComponent(required)}`],
  );
  return `${filled}?${[...needed, ...(query ? [query] : [])].join('&')}`;
}

async function ask(operation: Operation, { headers = {}, query = '' }: Credential) {
  const method = operation.method as 'GET';
  return await app.inject({ method, url: urlOf(operation, query), headers });
}

test(`${operations.length} operations with every kind of credential`, async () => {
  const kinds = Object.entries(await credentials());
  expect(kinds.length).toBeGreaterThanOrEqual(21);
  for (const [kind, make] of kinds) {
    for (const operation of operations) {
      const credential = await make();
      const wanted = wants(operation);
      const { statusCode } = await ask(operation, credential);
      const name = `${operationName(operation)} with ${kind}`;
      const isAdmitted = statusCode !== 401 && statusCode !== 403;
      const isOpen = wanted === 'nothing';
      expect([name, isAdmitted || isOpen]).toEqual([name, isOpen || credential.opens.includes(wanted)]);
      // A known user without permission gets 403, an unknown one 401.
      const isKnown = wanted === 'operator' && credential.opens.includes('session');
      if (!isOpen && !isAdmitted) expect([name, statusCode]).toEqual([name, isKnown ? 403 : 401]);
    }
  }
});

test("another site's page cannot change anything with a user's session", async () => {
  const { user } = await issue('user');
  const changing = operations.filter(({ path, method }) => path.startsWith('/app/') && CHANGES.has(method));
  expect(changing.length).toBeGreaterThan(10);
  for (const operation of changing) {
    const { token } = await sessionOf(user.userId);
    for (const from of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://elsewhere.example' },
      { origin: 'null' },
    ]) {
      const response = await ask(operation, { headers: { ...cookie(token), ...from }, opens: [] });
      const name = `${operationName(operation)} from ${JSON.stringify(from)}`;
      expect([name, response.statusCode, response.json()]).toEqual([
        name,
        403,
        { detail: 'Cross-site request refused' },
      ]);
    }
  }
});
