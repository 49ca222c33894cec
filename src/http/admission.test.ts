import type { FastifyReply, FastifyRequest } from 'fastify';
import { describe, expect, test } from 'vitest';
import type { AuthFailure, Identity } from '../accounts/keys/authenticate.ts';
import { DEFAULT_TIERS } from '../accounts/users/tiers.ts';
import type { User } from '../accounts/users/users.ts';
import type { ApiDependencies } from '../api/createApi.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { Admission, DECISIONS_A_TURN } from './admission.ts';
import { route } from './route.ts';

const DECLARED = route({
  method: 'GET',
  path: '/v1/anything',
  auth: 'key',
  access: { feature: null },
  summary: 'For these tests',
  response: null,
  handle: () => ({ body: '' }),
});
const UNKNOWN: AuthFailure = { reason: 'unknown', detail: 'Unknown API key' };
const nextTurn = () => new Promise(setImmediate);

function identity(keyId: string): Identity {
  return { keyId, userId: 'usr_1', email: 'a@example.com', tier: 'free' };
}

/** An admission whose authorization headers are key ids, and all that happens in it in order. */
function rig(accounts: Partial<ApiDependencies['accounts']> = {}) {
  const events: string[] = [];
  const admission = new Admission({
    accounts: {
      moment: () => events.push('looked'),
      maintenance: () => null,
      authenticate: (header = '') => identity(header),
      signedIn: async () => null,
      ...accounts,
    },
    tiers: DEFAULT_TIERS,
    rateLimits: null,
  });
  const read = (keyId: string) => {
    const raw = { rawHeaders: ['Host', 'a', 'Authorization', keyId] };
    const request = { raw } as FastifyRequest;
    events.push(`${keyId} read`);
    admission.admit({ route: DECLARED, request, reply: {} as FastifyReply }, (error) => {
      events.push(error ? `${keyId}: ${error.message}` : `${request.identity?.keyId} admitted`);
    });
  };
  return { events, read };
}

describe('requests read in one turn of the event loop', () => {
  test('are decided in order by one read of the database, after the last of them has arrived', async () => {
    const { events, read } = rig();
    read('a');
    read('b');
    await nextTurn();
    read('c');
    await nextTurn();
    expect(events).toEqual([
      ...['a read', 'b read', 'looked', 'a admitted', 'b admitted'],
      ...['c read', 'looked', 'c admitted'],
    ]);
  });

  test('are decided in order, at most a hundred a turn, however many arrived', async () => {
    const { events, read } = rig();
    const ids = Array.from({ length: 2 * DECISIONS_A_TURN + 1 }, (_, at) => `${at}`);
    for (const id of ids) read(id);
    const decided = () => events.filter((event) => event.endsWith('admitted'));
    await nextTurn();
    expect(decided()).toHaveLength(DECISIONS_A_TURN);
    read('last');
    await nextTurn();
    expect(decided()).toHaveLength(2 * DECISIONS_A_TURN);
    await nextTurn();
    expect(decided()).toEqual([...ids, 'last'].map((id) => `${id} admitted`));
    // The database is checked once a turn.
    expect(events.filter((event) => event === 'looked')).toHaveLength(3);
    read('later');
    await nextTurn();
    expect(events.at(-1)).toBe('later admitted');
  });

  test('a key revoked before the decision is refused, although its request arrived earlier', async () => {
    let revoked = false;
    const { events, read } = rig({ authenticate: (header = '') => (revoked ? UNKNOWN : identity(header)) });
    read('a');
    revoked = true;
    await nextTurn();
    expect(events).toEqual(['a read', 'looked', 'a: Unknown API key']);
  });

  test('neither a refusal nor a look-up of one touches the others', async () => {
    const answers: Record<string, () => ReturnType<ApiDependencies['accounts']['authenticate']>> = {
      a: () => UNKNOWN,
      b: async () => identity('b'),
      c: () => Promise.reject(new StoreUnavailableError('no answer')),
      d: () => identity('d'),
    };
    const { events, read } = rig({ authenticate: (header = '') => answers[header]?.() ?? UNKNOWN });
    for (const keyId of Object.keys(answers)) read(keyId);
    await nextTurn();
    await nextTurn();
    expect(events.slice(5)).toEqual(['a: Unknown API key', 'd admitted', 'b admitted', 'c: no answer']);
  });
});

test.each([
  ['an operator', true, 'admitted'],
  ['another user', false, 'Only an operator may do this'],
])('a route for operators and %s: %s', async (_, isOperator, outcome) => {
  const account = { userId: 'usr_1', email: 'a@example.com', tier: 'free', createdMs: 0 } as const;
  const user: User = { ...account, operator: isOperator, suspended: false };
  const admission = new Admission({
    accounts: {
      ...{ moment: () => 0, maintenance: () => null, authenticate: () => UNKNOWN },
      signedIn: () => ({ sessionId: 'ses_1', user }),
    },
    ...{ tiers: DEFAULT_TIERS, rateLimits: null },
  });
  const headers = { cookie: `underround_session=${'a'.repeat(43)}` };
  const request = { method: 'GET', headers } as FastifyRequest;
  const operated = { ...DECLARED, path: '/app/anything', auth: 'operator' } as const;
  const decided = await new Promise((resolve) => {
    admission.admit({ route: operated, request, reply: {} as FastifyReply }, (error) =>
      resolve(error?.message ?? 'admitted'),
    );
  });
  expect(decided).toBe(outcome);
});

test('answers that count against the address of a client without a known user are those of its own faults', () => {
  const counted: number[] = [];
  const rateLimits = {
    failure: () => {
      throw new Error('counted');
    },
  } as unknown as NonNullable<ApiDependencies['rateLimits']>;
  const admission = new Admission({
    accounts: {} as ApiDependencies['accounts'],
    tiers: DEFAULT_TIERS,
    rateLimits,
  });
  for (const status of [200, 399, 400, 499, 500, 502]) {
    try {
      admission.refused({ ip: '192.0.2.1' } as FastifyRequest, {} as FastifyReply, status);
    } catch {
      counted.push(status);
    }
  }
  expect(counted).toEqual([400, 499]);
});
