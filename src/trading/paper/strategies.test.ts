import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { testApi } from '../../../test/support/api.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { paperRigOn } from '../../../test/support/paperRig.ts';
import { TAPE_MARKET } from '../../../test/support/tapes.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { DEFAULT_TIERS } from '../../accounts/users/tiers.ts';
import { JobRepository } from '../../backtest/jobs.ts';
import type { Database } from '../../control/schema.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { firstTerms } from '../live/marketTerms.ts';
import type { ComparisonJobs } from './divergence.ts';
import { readTerms, writeTerms } from './marketTermsTable.ts';
import { liveStrategy } from './paperStrategyService.ts';
import { type NewStrategy, StrategyRepository } from './strategies.ts';

const BODY = {
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'BTC', event_type: '5m' },
};
const PATH = '/v1/paper/strategies';

/** The API with two users of the free tier, whose limit of active strategies is 2 here. */
async function served() {
  return (await opened()).ask;
}

/** @param makeJobs Creates the jobs in the strategies' database; default: a stub. */
async function opened(makeJobs?: (db: Database, clock: FakeClock) => ComparisonJobs, paperStrategies = 2) {
  const clock = new FakeClock();
  const database = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  const backtests = makeJobs?.(database, clock);
  const { db, trading, userId } = await paperRigOn(database, {
    clock,
    ...(backtests === undefined ? {} : { backtests }),
  });
  await db
    .insertInto('users')
    .values({
      ...{ user_id: 'usr_other', email: 'other@example.com', tier: 'free', created_ms: 0 },
      ...{ password_hash: null, operator_ms: null, suspended_ms: null },
    })
    .execute();
  const own: { tier: 'free' | 'pro' } = { tier: 'free' };
  const identity = (id: string) => ({ keyId: 'key', userId: id, email: 'a@example.com', tier: own.tier });
  const app = testApi({
    store: { rows: () => Promise.reject(new Error()), stream: () => Promise.reject(new Error()) },
    accounts: {
      moment: () => 0,
      maintenance: () => null,
      authenticate: (header) => identity(header === 'Bearer other' ? 'usr_other' : userId),
      signedIn: async () => null,
    },
    tiers: { ...DEFAULT_TIERS, free: { ...DEFAULT_TIERS.free, paper_strategies: paperStrategies } },
    ...{ paper: trading.paperStrategies, clock },
  });
  onTestFinished(async () => {
    await app.close();
    await trading.close();
    await db.destroy();
  });
  const ask = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = '', body?: object, key = 'own') => {
    const payload = body === undefined ? {} : { payload: body };
    const headers = { authorization: `Bearer ${key}` };
    const response = await app.inject({ method, url: PATH + path, headers, ...payload });
    const retryAfter = response.headers['retry-after'];
    return {
      status: response.statusCode,
      body: response.body === '' ? null : response.json(),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    };
  };
  return { ask, db, clock, userId, own };
}

/** Jobs that are never started. */
function queuedJobs(db: Database, clock: FakeClock): ComparisonJobs {
  const jobs = new JobRepository(db, { clock, randomBytes });
  return {
    jobs,
    submit: (wanted) => jobs.create(wanted),
    cancel: (jobId, owner) => jobs.cancel(jobId, owner),
  };
}

const BUSY = {
  status: 429,
  body: {
    detail: '2 baselines or replays of your paper strategies wait or run already; retry when one has ended',
  },
  retryAfter: '5',
};

test('strategies created at once all get a baseline; a replay waits for all but one of them', async () => {
  const { ask, db, userId } = await opened(queuedJobs, 100);
  const make = (name: string, more: object = {}) => ask('POST', '', { ...BODY, name, ...more });
  const atOnce = await Promise.all(['a', 'b', 'c', 'd', 'a'].map((name) => make(name)));
  expect(atOnce.map(({ status }) => status).sort()).toEqual([201, 201, 201, 201, 409]);
  const made = atOnce.filter(({ status }) => status === 201).map(({ body }) => body);
  expect(new Set(made.map(({ baseline_backtest_id: baseline }) => baseline)).size).toBe(4);
  expect((await ask('GET')).body.count).toBe(4);
  const replay = () => ask('POST', `/${made[0].paper_strategy_id}/divergence`);
  expect(await replay()).toEqual(BUSY);
  const queued = await db
    .selectFrom('backtest_jobs')
    .select('job_id')
    .where('status', '=', 'queued')
    .execute();
  expect(queued).toHaveLength(4);
  const named = { baseline_backtest_id: made[0].baseline_backtest_id };
  expect((await make('e', named)).status).toBe(201);
  await db
    .updateTable('backtest_jobs')
    .set({ status: 'complete', completed_ms: 1 })
    .where('user_id', '=', userId)
    .execute();
  expect((await replay()).status).toBe(201);
});

test('deleting a strategy cancels its comparisons, except those that something else is compared with', async () => {
  const { ask, db, clock, userId } = await opened(queuedJobs, 100);
  const jobs = new JobRepository(db, { clock, randomBytes });
  const make = async (name: string, baseline: string | null = null) =>
    (await ask('POST', '', { ...BODY, name, baseline_backtest_id: baseline })).body;
  const statusOf = async (jobId: string) => (await jobs.find(jobId, { userId }))?.status;
  const remove = async ({ paper_strategy_id: id }: { paper_strategy_id: string }) =>
    expect((await ask('DELETE', `/${id}`)).status).toBe(204);
  const one = await make('one');
  await ask('POST', `/${one.paper_strategy_id}/divergence`);
  const replayed = (await ask('GET', `/${one.paper_strategy_id}/divergence`)).body.window.backtest_id;
  await remove(one);
  expect([await statusOf(one.baseline_backtest_id), await statusOf(replayed)]).toEqual([
    'cancelled',
    'cancelled',
  ]);
  const shared = await make('shared');
  const second = await make('second', shared.baseline_backtest_id);
  await remove(shared);
  expect(await statusOf(shared.baseline_backtest_id)).toBe('queued');
  await remove(second);
  expect(await statusOf(shared.baseline_backtest_id)).toBe('cancelled');
  // A job that the user submitted is kept.
  const { spec } = (await jobs.find(shared.baseline_backtest_id, { userId }))!;
  const own = await jobs.create({ userId, spec, isComparison: false, cap: 1 });
  await remove(await make('third', own!.jobId));
  expect(await statusOf(own!.jobId)).toBe('queued');
});

test('a baseline is a backtest of the last day, and a replay one of the windows traded until the stop', async () => {
  const { ask, db, clock, userId } = await opened(queuedJobs, 100);
  const jobs = new JobRepository(db, { clock, randomBytes });
  const specOf = async (jobId: string) => (await jobs.find(jobId, { userId }))?.spec;
  const wanted = { ...BODY, name: 'own', size_usd: 25 };
  const { paper_strategy_id: id, baseline_backtest_id: baseline } = (await ask('POST', '', wanted)).body;
  const same = { kind: 'backtest', ...BODY, sizeUsd: 25 };
  const madeMs = clock.now();
  expect(await specOf(baseline)).toMatchObject({
    ...{ ...same, startMs: madeMs - 86_400_000, endMs: madeMs, marketLimit: 300 },
  });
  await clock.advance(3_600_000);
  const stoppedMs = clock.now() + 1_000;
  await ask('PATCH', `/${id}`, { active: false });
  await clock.advance(3_600_000);
  const { window } = (await ask('POST', `/${id}/divergence`)).body;
  expect(await specOf(window.backtest_id)).toMatchObject({ ...same, endMs: stoppedMs, marketLimit: 10_000 });
});

test('a size of 2.01 USD is 2,010,000 micro-USD for the trader, as for a backtest', async () => {
  const { db, clock, userId } = await opened();
  const strategies = new StrategyRepository(db, { clock, randomBytes });
  const { strategy, universe } = BODY as Pick<NewStrategy, 'strategy' | 'universe'>;
  const wanted = { userId, name: 'small', strategy, universe, sizeUsd: 2.01, baselineId: 'bt_1', cap: 1 };
  const made = await strategies.create(wanted);
  expect(typeof made === 'string' ? made : liveStrategy(made).size).toBe(2_010_000);
});

test('a cap is refused before a baseline that is absent, and that before a name in use, without any job', async () => {
  const { ask, db } = await opened(queuedJobs);
  const jobs = () => db.selectFrom('backtest_jobs').select('status').execute();
  await ask('POST', '', { ...BODY, name: 'one' });
  const absent = { ...BODY, name: 'one', baseline_backtest_id: 'bt_none' };
  expect(await ask('POST', '', absent)).toMatchObject({ status: 404 });
  expect(await ask('POST', '', { ...BODY, name: 'one' })).toMatchObject({ status: 409 });
  expect(await jobs()).toEqual([{ status: 'queued' }]);
  await ask('POST', '', { ...BODY, name: 'two' });
  expect(await ask('POST', '', absent)).toMatchObject({ status: 403 });
  expect(await ask('POST', '', { ...BODY, name: 'three' })).toMatchObject({ status: 403 });
  expect(await jobs()).toEqual([{ status: 'queued' }, { status: 'queued' }]);
});

test('a request that another one overtakes cancels the baseline that it started, but not a job that it names', async () => {
  let overtake: (() => Promise<unknown>) | null = null;
  const passed = async <T>(found: Promise<T>): Promise<T> => {
    const [result, other] = [await found, overtake];
    overtake = null;
    await other?.();
    return result;
  };
  const { ask, db } = await opened((database, clock) => {
    const { jobs, submit, cancel } = queuedJobs(database, clock);
    const find: typeof jobs.find = (...wanted) => passed(jobs.find(...wanted));
    return {
      ...{ submit: (wanted) => passed(submit(wanted)), cancel },
      jobs: { find, result: (jobId) => jobs.result(jobId) },
    };
  }, 100);
  const taken = { status: 409 };
  overtake = () => ask('POST', '', { ...BODY, name: 'a' });
  expect(await ask('POST', '', { ...BODY, name: 'a' })).toMatchObject(taken);
  const jobs = () => db.selectFrom('backtest_jobs').select(['job_id', 'status']).orderBy('status').execute();
  const [cancelled, queued, ...others] = await jobs();
  expect([cancelled?.status, queued?.status, others]).toEqual(['cancelled', 'queued', []]);
  const named = { ...BODY, name: 'b', baseline_backtest_id: queued?.job_id };
  overtake = () => ask('POST', '', named);
  expect(await ask('POST', '', named)).toMatchObject(taken);
  expect(await jobs()).toEqual([cancelled, queued]);
});

test('a strategy is created, read, renamed, stopped and deleted', async () => {
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

test('a name is unique per user, and the tier caps the active strategies', async () => {
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

test('after a downgrade no strategy is resumed or created beyond the cap of the lower tier', async () => {
  const { ask, own } = await opened();
  own.tier = 'pro';
  const ids: string[] = [];
  for (const name of ['one', 'two', 'three'])
    ids.push((await ask('POST', '', { ...BODY, name })).body.paper_strategy_id);
  const [one, two, three] = ids.map((id) => `/${id}`) as [string, string, string];
  own.tier = 'free';
  const capped = { status: 403, body: { detail: 'Your tier allows 2 active paper strategies' } };
  expect((await ask('PATCH', one, { active: false })).status).toBe(200);
  for (const change of [{ active: true }, { active: true, name: 'new' }]) {
    expect(await ask('PATCH', one, change)).toEqual(capped);
  }
  expect(await ask('POST', '', { ...BODY, name: 'four' })).toEqual(capped);
  // Those that go on keep their state, and may be renamed.
  expect((await ask('PATCH', two, { name: 'second' })).status).toBe(200);
  expect((await ask('PATCH', three, { active: false })).status).toBe(200);
  expect((await ask('PATCH', one, { active: true })).status).toBe(200);
  expect(await ask('PATCH', three, { active: true })).toEqual(capped);
});

test('a blank name is refused', async () => {
  const ask = await served();
  const { body } = await ask('POST', '', { ...BODY, name: 'one' });
  for (const name of ['   ', '\t\n', '\u00a0']) {
    const detail = [
      {
        ...{ loc: ['body', 'name'], type: 'string_pattern_mismatch', input: name },
        ...{ msg: "String should match pattern '\\S'", ctx: { pattern: '\\S' } },
      },
    ];
    expect(await ask('POST', '', { ...BODY, name })).toEqual({ status: 422, body: { detail } });
    const renamed = await ask('PATCH', `/${body.paper_strategy_id}`, { name });
    expect(renamed).toEqual({ status: 422, body: { detail } });
  }
});

test('another user’s strategy and baseline are not found', async () => {
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

test('a start deletes terms of markets that were written a week ago', async () => {
  const clock = new FakeClock();
  const db = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  const version = firstTerms('0x1', TAPE_MARKET);
  await writeTerms(db, version, clock.now() - 7 * 86_400_000 - 1);
  await writeTerms(db, { ...version, marketId: '0x2' }, clock.now() - 7 * 86_400_000);
  const { trading } = await paperRigOn(db, { clock });
  const left = await Promise.all(['0x1', '0x2'].map((marketId) => readTerms(db, marketId)));
  expect(left.map(({ length }) => length)).toEqual([0, 1]);
  await trading.close();
  await db.destroy();
});
