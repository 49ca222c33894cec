import type { LightMyRequestResponse } from 'fastify';
import { expect, test } from 'vitest';
import { REFUSED, testApi, unaskedStore } from '../../test/support/api.ts';
import type { Identity } from '../accounts/keys/authenticate.ts';
import { BODIES_MAX, USER_BODIES_MAX } from './jsonBody.ts';
import { SESSION_COOKIE } from './sessionCookie.ts';

/** Four parts of a thousand members each. */
const [MEMBERS, PARTS] = [4_000, 4];
const bodyOf = (members: number) => `{${Array.from({ length: members }, (_, at) => `"m${at}":1`).join(',')}}`;
const LARGE = bodyOf(MEMBERS);
/** Just large enough to be parsed in parts. */
const LARGE_ENOUGH = bodyOf(2_000);
const BURST = 50;

/** The API with bearer tokens as users; `answered` lists the users in the order of their responses. */
function rig() {
  const authenticate = (header: string | undefined): Identity => {
    const userId = (header ?? '').replace('Bearer ', '');
    return { keyId: userId, userId, email: `${userId}@example.com`, tier: 'premium' };
  };
  const accounts = { moment: () => 0, maintenance: () => null, authenticate, signedIn: async () => null };
  const app = testApi({ store: unaskedStore, accounts });
  const answered: string[] = [];
  const note = (user: string) => (response: LightMyRequestResponse) => {
    answered.push(user);
    return response;
  };
  const headersOf = (user: string) => ({ authorization: `Bearer ${user}` });
  const post = (user: string, payload = LARGE) =>
    app.inject({ method: 'POST', url: '/v1/backtest', headers: headersOf(user), payload }).then(note(user));
  const get = (user: string) =>
    app.inject({ url: '/v1/arb/live', headers: headersOf(user) }).then(note(user));
  return { post, get, answered };
}

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));
/** Counts the responses by status. */
function statuses(responses: readonly LightMyRequestResponse[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { statusCode } of responses) counts[statusCode] = (counts[statusCode] ?? 0) + 1;
  return counts;
}

test('a turn of the event loop parses one part of one large body, however many wait', async () => {
  const { post } = rig();
  let turns = 0;
  const count = () => {
    turns++;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const responses = await Promise.all(times(BURST, () => post('a')));
  clearImmediate(next);
  expect(statuses(responses)).toEqual({ 422: BURST });
  expect(turns).toBeGreaterThanOrEqual(BURST * PARTS);
});

test('a small request sent after fifty large bodies is answered before the second of them', async () => {
  const { post, get, answered } = rig();
  const large = times(BURST, () => post('a'));
  await get('b');
  expect(answered.length).toBeLessThanOrEqual(2);
  await Promise.all(large);
});

test("users take turns: another user's body is delayed by at most one large body of a burst", async () => {
  const { post, answered } = rig();
  const burst = times(BURST, () => post('a'));
  const others = ['b', 'b', 'c'].map((user) => post(user));
  await Promise.all([...burst, ...others]);
  expect(answered.slice(0, 7)).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
  expect(answered).toHaveLength(BURST + 3);
});

test('each user may have a bounded number of large bodies waiting; the next is 429, and small ones are still parsed', async () => {
  const { post } = rig();
  const all = times(USER_BODIES_MAX + 1, () => post('a', LARGE_ENOUGH));
  const small = await post('a', '{"m":1}');
  expect(small.statusCode).toBe(422);
  const responses = await Promise.all(all);
  expect(statuses(responses)).toEqual({ 422: USER_BODIES_MAX, 429: 1 });
  const refused = responses.find(({ statusCode }) => statusCode === 429);
  expect(refused?.json()).toEqual({ detail: 'Too many large request bodies at once; retry in 1 s' });
  expect(refused?.headers['retry-after']).toBe('1');
  expect((await post('a')).statusCode).toBe(422);
});

test('all users together may have a bounded number of large bodies waiting; the next is 503', async () => {
  const { post } = rig();
  const responses = await Promise.all(times(BODIES_MAX + 1, (at) => post(`user ${at}`, LARGE_ENOUGH)));
  expect(statuses(responses)).toEqual({ 422: BODIES_MAX, 503: 1 });
  const refused = responses.find(({ statusCode }) => statusCode === 503);
  expect(refused?.json()).toEqual({ detail: 'Too busy at this moment, retry' });
  expect(refused?.headers['retry-after']).toBe('1');
  expect((await post('a')).statusCode).toBe(422);
});

test('passwords are limited like the bodies of strangers, also those of a signed-in user', async () => {
  const user = { userId: 'usr_1', email: 'a@example.com', tier: 'free', createdMs: 0 } as const;
  const session = { sessionId: 'ses_1', user: { ...user, operator: false, suspended: false } };
  const accounts = {
    ...{ moment: () => 0, maintenance: () => null, authenticate: () => REFUSED },
    signedIn: () => session,
  };
  const app = testApi({ store: unaskedStore, accounts });
  const headers = { cookie: `${SESSION_COOKIE}=${'x'.repeat(43)}` };
  const payload = JSON.stringify({ current_password: 'x'.repeat(8 * 1024) });
  const refused = await app.inject({ method: 'POST', url: '/app/password', headers, payload });
  expect([refused.statusCode, refused.json()]).toEqual([
    413,
    { detail: 'Request body is larger than 8 KiB' },
  ]);
});
