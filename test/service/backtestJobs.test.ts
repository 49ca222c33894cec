import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { WINDOW_MS, writeSeries } from '../support/backtestData.ts';
import { type BacktestRig, type Job, openBacktestRig } from '../support/backtestRig.ts';
import { eventually } from '../support/runningService.ts';

const START = Math.floor((systemClock.now() - 86_400_000) / WINDOW_MS) * WINDOW_MS;
const BODY = {
  strategy: { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'BTC', event_type: '5m' },
};
const axis = (steps: number) => ({ param: 'threshold', start: 0.1, end: 0.9, steps });
/** Never buys, so that each cell reads every quote of a separate series: many times the work of the other sweep. */
const LONG_SERIES = { ticker: 'ETH', event_type: '5m' } as const;
const LONG = {
  universe: LONG_SERIES,
  strategy: { type: 'mean_reversion', lookback: 20, z_threshold: 0.5 },
  x_axis: { param: 'z_threshold', start: 50, end: 100, steps: 2_500 },
};

let rig: BacktestRig;
let number = 0;
let email = '';

beforeAll(async () => {
  rig = await openBacktestRig((writer) => {
    const series = { markets: 12, startMs: START };
    const lastSeq = writeSeries(writer, { ...series, quotes: 200 });
    writeSeries(writer, {
      ...series,
      quotes: 4_000,
      first: 12,
      lastSeq,
      odd: () => ({ ticker: LONG_SERIES.ticker }),
    });
  });
});
afterAll(() => rig.dispose());
beforeEach(() => {
  email = `user${++number}@example.com`;
});

const post = (url: string, payload: object, headers: object) =>
  rig.app.inject({ method: 'POST', url, payload, headers: { ...headers } });
const get = (url: string, headers: object) => rig.app.inject({ url, headers: { ...headers } });
const remove = (url: string, headers: object) =>
  rig.app.inject({ method: 'DELETE', url, headers: { ...headers } });
const status = async (id: string, headers: object) =>
  (await get(`/v1/backtest/${id}`, headers)).json<Job>().status;

test('a job waits until all received data is stored', async () => {
  const key = await rig.key('premium', email);
  const { stored } = rig;
  let onStored = () => {};
  let asked = 0;
  rig.stored = () => {
    asked++;
    return new Promise((resolve) => {
      onStored = resolve;
    });
  };
  const made = await post('/v1/backtest', { ...BODY, market_limit: 5 }, key);
  const { job_id: id } = made.json<Job>();
  await eventually('the job is claimed', async () => asked === 1);
  expect((await get(`/v1/backtest/${id}`, key)).json<Job>()).toMatchObject({
    status: 'running',
    result: null,
  });
  rig.stored = stored;
  onStored();
  await eventually('the job ends', async () => (await status(id, key)) === 'complete');
});

describe('caps', () => {
  test.each([
    ['free', 1, 5],
    ['pro', 2, 20],
  ] as const)('%s: %d concurrent jobs, %d markets', async (tier, jobs, markets) => {
    const key = await rig.key(tier, email);
    const over = await post('/v1/backtest', { ...BODY, market_limit: markets + 1 }, key);
    expect([over.statusCode, over.json()]).toEqual([
      403,
      { detail: `${markets + 1} markets; your tier allows ${markets} in a backtest` },
    ]);
    const made = [];
    for (let i = 0; i < jobs + 1; i++)
      made.push(post('/v1/backtest', { ...BODY, market_limit: markets }, key));
    const statuses = (await Promise.all(made)).map(({ statusCode }) => statusCode).sort();
    expect(statuses).toEqual([...Array(jobs).fill(201), 429]);
  });

  test('a 429 has a Retry-After', async () => {
    const key = await rig.key('free', email);
    const [, refused] = await Promise.all([post('/v1/backtest', BODY, key), post('/v1/backtest', BODY, key)]);
    expect(refused.json()).toEqual({
      detail: 'Your tier allows one job at once; wait for one to end or cancel it',
    });
    expect(refused.headers['retry-after']).toBe('5');
  });

  test('the default number of markets is the tier’s maximum', async () => {
    const key = await rig.key('free', email);
    const { status: answered, job } = await rig.submit('/v1/backtest', BODY, key);
    expect([answered, job.result.markets_total]).toEqual([201, 5]);
  });

  test.each([
    ['free', 4, 'Tier free does not include this endpoint; pro, plus and premium do'],
    ['pro', 101, '101 cells; your tier allows 100 in a sweep'],
  ] as const)('tier %s is refused a sweep with %d cells', async (tier, steps, detail) => {
    const key = await rig.key(tier, email);
    const refused = await post('/v1/backtest/sweep', { ...BODY, x_axis: axis(steps) }, key);
    expect([refused.statusCode, refused.json()]).toEqual([403, { detail }]);
  });

  test('a start before the tier’s history window is refused', async () => {
    const key = await rig.key('free', email);
    const refused = await post('/v1/backtest', { ...BODY, start: '2026-01-01' }, key);
    expect(refused.statusCode).toBe(403);
    expect(refused.json().detail).toMatch(/^start is before the history window of your tier; the earliest/);
  });
});

describe('jobs', () => {
  test('are found at their Location, listed without results, and invisible to other users', async () => {
    const key = await rig.key('premium', email);
    const other = await rig.key('premium', `other.${email}`);
    const made = await post('/v1/backtest?wait_for_result=1', BODY, key);
    const { job_id: id } = made.json<Job>();
    expect(made.headers.location).toBe(`/v1/backtest/${id}`);
    expect((await get(String(made.headers.location), key)).body).toBe(made.body);
    await post('/v1/backtest?wait_for_result=1', BODY, key);
    const list = (await get('/v1/backtest', key)).json();
    expect(list).toMatchObject({ count: 2, limit: 20, offset: 0, next_cursor: null });
    expect(list.jobs.map(({ result }: Job) => result)).toEqual([null, null]);
    expect(list.jobs[1].job_id).toBe(id);
    const page = (await get('/v1/backtest?limit=1', key)).json();
    const next = (await get(`/v1/backtest?limit=1&cursor=${page.next_cursor}`, key)).json();
    expect(next.jobs[0].job_id).toBe(id);
    for (const refused of [
      await get(`/v1/backtest/${id}`, other),
      await remove(`/v1/backtest/${id}`, other),
    ]) {
      expect([refused.statusCode, refused.json()]).toEqual([404, { detail: 'Job not found' }]);
    }
    expect((await get('/v1/backtest', other)).json().jobs).toEqual([]);
  });

  test('a cancelled job stops, stays cancelled, and frees its slot', async () => {
    const key = await rig.key('premium', email);
    const { job_id: id } = (await post('/v1/backtest/sweep', LONG, key)).json<Job>();
    await eventually('running', async () => (await status(id, key)) === 'running');
    expect((await remove(`/v1/backtest/${id}`, key)).statusCode).toBe(204);
    expect(await status(id, key)).toBe('cancelled');
    expect((await remove(`/v1/backtest/${id}`, key)).statusCode).toBe(204);
    const { job } = await rig.submit('/v1/backtest', BODY, key);
    expect(job.status).toBe('complete');
    expect(await status(id, key)).toBe('cancelled');
  });

  test('one user’s long sweep does not delay another’s backtest', async () => {
    const [busy, quick] = [await rig.key('premium', email), await rig.key('free', `quick.${email}`)];
    const { job_id: id } = (await post('/v1/backtest/sweep', LONG, busy)).json<Job>();
    await eventually('running', async () => (await status(id, busy)) === 'running');
    const { job } = await rig.submit('/v1/backtest', BODY, quick);
    expect(job.status).toBe('complete');
    expect(await status(id, busy)).toBe('running');
    await remove(`/v1/backtest/${id}`, busy);
  });

  test('one user’s many jobs leave a free slot for another’s first job', async () => {
    const [busy, quick] = [await rig.key('premium', email), await rig.key('free', `quick.${email}`)];
    const { stored } = rig;
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    rig.stored = () => held;
    const submit = async (key: object) =>
      (await post('/v1/backtest', { ...BODY, market_limit: 1 }, key)).json<Job>().job_id;
    const jobs: string[] = [];
    for (let n = 0; n < 6; n++) jobs.push(await submit(busy));
    const statuses = async () => await Promise.all(jobs.map((id) => status(id, busy)));
    await eventually('some run', async () => (await statuses())[3] === 'running');
    const first = await submit(quick);
    await eventually('the other’s runs', async () => (await status(first, quick)) === 'running');
    expect(await statuses()).toEqual([...Array(4).fill('running'), ...Array(2).fill('queued')]);
    rig.stored = stored;
    release();
    await eventually('all end', async () => (await statuses()).every((each) => each === 'complete'));
    expect(await status(first, quick)).toBe('complete');
  });

  test('a job interrupted by a restart starts again and completes', async () => {
    const key = await rig.key('premium', email);
    const short = { ...LONG, x_axis: { ...LONG.x_axis, steps: 1_000 } };
    const { job_id: id } = (await post('/v1/backtest/sweep', short, key)).json<Job>();
    await eventually('running', async () => (await status(id, key)) === 'running');
    await rig.restart();
    expect(['queued', 'running']).toContain(await status(id, key));
    await eventually('complete', async () => (await status(id, key)) === 'complete');
  });
});

describe('a body', () => {
  test.each([
    [
      {},
      [
        ['missing', 'strategy'],
        ['missing', 'universe'],
      ],
    ],
    [{ ...BODY, market_limit: 0 }, [['greater_than_equal', 'market_limit']]],
    [{ ...BODY, size_usd: 'x' }, [['float_parsing', 'size_usd']]],
    [{ ...BODY, start: 'x' }, [['datetime_from_date_parsing', 'start']]],
    [{ ...BODY, more: 1 }, [['extra_forbidden', 'more']]],
    [{ ...BODY, strategy: { type: 'magic' } }, [['union_tag_invalid', 'strategy']]],
    [{ ...BODY, params: { fill_mode: 'best' } }, [['literal_error', 'params', 'fill_mode']]],
    [{ ...BODY, universe: { ticker: 'DOGE', event_type: '2h' } }, [['literal_error', 'universe', 'ticker']]],
  ])('%j', async (body, problems) => {
    const refused = await post('/v1/backtest', body, await rig.key('premium', email));
    expect(refused.statusCode).toBe(422);
    const told = refused
      .json()
      .detail.map(({ type, loc }: { type: string; loc: string[] }) => [type, ...loc]);
    expect(told).toEqual(problems.map(([type, ...loc]) => [type, 'body', ...loc]));
  });

  test.each([
    [
      'an event type',
      { universe: { ticker: 'BTC', event_type: '2h' } },
      'event_type must be one of 5m, 15m, 1h, 4h, daily_up_down',
    ],
    [
      'a range',
      { start: '2026-11-20T02:00:00Z', end: '2026-11-20T01:00:00Z' },
      'start must not be after end',
    ],
  ])('a malformed value for %s is a 400', async (_what, more, detail) => {
    const refused = await post('/v1/backtest', { ...BODY, ...more }, await rig.key('premium', email));
    expect([refused.statusCode, refused.json()]).toEqual([400, { detail }]);
  });
});
