import { expect, onTestFinished, test } from 'vitest';
import { testApi } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openPaperRig } from '../../test/support/paperRig.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { DEFAULT_TIERS } from '../accounts/tiers.ts';

const BODY = {
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'BTC', event_type: '5m' },
};
const PATH = '/v1/paper/strategies';

/** The API with two users of the free tier's table but three strategies. */
async function served() {
  const clock = new FakeClock();
  const { db, trading, userId } = await openPaperRig({ dataDir: temporaryDirectory(), clock });
  await db
    .insertInto('users')
    .values({
      ...{ user_id: 'usr_other', email: 'other@example.com', tier: 'free', created_ms: 0 },
      ...{ password_hash: null, operator_ms: null, suspended_ms: null },
    })
    .execute();
  const identity = (id: string) => ({
    keyId: 'key',
    userId: id,
    email: 'a@example.com',
    tier: 'free' as const,
  });
  const app = testApi({
    store: { rows: () => Promise.reject(new Error()), stream: () => Promise.reject(new Error()) },
    accounts: {
      moment: () => 0,
      maintenance: () => null,
      authenticate: (header) => identity(header === 'Bearer other' ? 'usr_other' : userId),
      signedIn: async () => null,
    },
    tiers: { ...DEFAULT_TIERS, free: { ...DEFAULT_TIERS.free, paper_strategies: 2 } },
    ...{ paper: trading.papers, clock },
  });
  onTestFinished(async () => {
    await app.close();
    await trading.close();
    await db.destroy();
  });
  return async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = '', body?: object, key = 'own') => {
    const payload = body === undefined ? {} : { payload: body };
    const headers = { authorization: `Bearer ${key}` };
    const response = await app.inject({ method, url: PATH + path, headers, ...payload });
    return { status: response.statusCode, body: response.body === '' ? null : response.json() };
  };
}

test('a strategy is made, read, renamed, stopped and deleted', async () => {
  const ask = await served();
  const made = await ask('POST', '', { ...BODY, name: 'cheap' });
  expect(made).toMatchObject({
    status: 201,
    body: { name: 'cheap', active: true, size_usd: 10, net_pnl: 0 },
  });
  const { paper_strategy_id: id, baseline_backtest_id: baseline, ...listed } = made.body;
  expect([id, baseline]).toEqual([expect.stringMatching(/^ps_/), 'bt_stub']);
  expect(await ask('GET')).toEqual({
    status: 200,
    body: { strategies: [{ paper_strategy_id: id, ...listed }], count: 1 },
  });
  expect(await ask('GET', `/${id}`)).toEqual({ status: 200, body: made.body });
  const changed = await ask('PATCH', `/${id}`, { active: false, name: 'dear' });
  expect(changed).toEqual({ status: 200, body: { ...made.body, active: false, name: 'dear' } });
  expect(await ask('GET', `/${id}/positions`)).toEqual({
    status: 200,
    body: { count: 0, positions: [], next_cursor: null },
  });
  expect(await ask('GET', `/${id}/equity`)).toEqual({
    status: 200,
    body: { paper_strategy_id: id, n_closed_positions: 0, final_net_pnl: 0, points: [] },
  });
  expect((await ask('POST', `/${id}/divergence`)).body).toMatchObject({ window: { backtest_id: 'bt_stub' } });
  expect(await ask('DELETE', `/${id}`)).toEqual({ status: 204, body: null });
  for (const method of ['GET', 'DELETE'] as const) {
    const answer = { status: 404, body: { detail: 'Paper strategy not found' } };
    expect(await ask(method, `/${id}`)).toEqual(answer);
  }
});

test('a name is taken once a user, and the tier caps the active ones', async () => {
  const ask = await served();
  const { body } = await ask('POST', '', { ...BODY, name: 'one' });
  const taken = { status: 409, body: { detail: 'A paper strategy of this name exists already' } };
  expect(await ask('POST', '', { ...BODY, name: 'one' })).toEqual(taken);
  expect((await ask('POST', '', { ...BODY, name: 'one' }, 'other')).status).toBe(201);
  const two = await ask('POST', '', { ...BODY, name: 'two' });
  expect(await ask('PATCH', `/${two.body.paper_strategy_id}`, { name: 'one' })).toEqual(taken);
  const capped = { status: 403, body: { detail: 'Your tier allows 2 active paper strategies' } };
  expect(await ask('POST', '', { ...BODY, name: 'three' })).toEqual(capped);
  await ask('PATCH', `/${body.paper_strategy_id}`, { active: false });
  expect((await ask('POST', '', { ...BODY, name: 'three' })).status).toBe(201);
  expect(await ask('PATCH', `/${body.paper_strategy_id}`, { active: true })).toEqual(capped);
});

test('another user’s strategy is not there, nor is another’s baseline', async () => {
  const ask = await served();
  const { paper_strategy_id: id } = (await ask('POST', '', { ...BODY, name: 'mine' })).body;
  const absent = { status: 404, body: { detail: 'Paper strategy not found' } };
  for (const path of ['', '/positions', '/equity', '/divergence']) {
    expect(await ask('GET', `/${id}${path}`, undefined, 'other')).toEqual(absent);
  }
  expect(await ask('PATCH', `/${id}`, { active: false }, 'other')).toEqual(absent);
  expect(await ask('DELETE', `/${id}`, undefined, 'other')).toEqual(absent);
  expect(await ask('POST', '', { ...BODY, name: 'x', baseline_backtest_id: 'bt_none' })).toEqual({
    status: 404,
    body: { detail: 'Job not found' },
  });
  expect((await ask('GET', '', undefined, 'other')).body).toEqual({ strategies: [], count: 0 });
});
