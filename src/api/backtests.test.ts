import { expect, test } from 'vitest';
import { IDENTITY, KEY, testApi, unaskedStore } from '../../test/support/api.ts';
import { STUB_JOB, stubBacktests } from '../../test/support/stubBacktests.ts';
import { DiskScarceError } from '../runtime/errors.ts';

const BODY = {
  strategy: {
    ...{ type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
    execution: { entry: 'maker' },
  },
  universe: { ticker: 'BTC', event_type: '5m' },
  params: { fill_mode: 'mid' },
};
const AXIS = { param: 'threshold', start: 0.1, end: 0.3, steps: 2 };

test.each([
  ['/v1/backtest', BODY],
  ['/v1/backtest/sweep', { ...BODY, x_axis: AXIS }],
])('%s refuses an execution with the fill mode mid', async (url, payload) => {
  const api = testApi({ store: unaskedStore });
  const { statusCode, body } = await api.inject({ method: 'POST', url, headers: KEY, payload });
  expect([statusCode, body]).toEqual([422, expect.stringContaining('walk_book')]);
});

test('a job that a nearly full disk refuses is 503 with the reason', async () => {
  const submit = () => Promise.reject(new DiskScarceError('full'));
  const api = testApi({ store: unaskedStore, backtests: { ...stubBacktests, submit } });
  const answer = await api.inject({
    method: 'POST',
    url: '/v1/backtest',
    headers: KEY,
    payload: { ...BODY, params: {} },
  });
  expect([answer.statusCode, answer.headers['retry-after'], answer.json()]).toEqual([
    ...[503, '300'],
    { detail: "The service's disk is nearly full; retry when the operator has freed space" },
  ]);
});

test.each([
  ['GET', `/v1/backtest/${STUB_JOB}`, 200],
  ['DELETE', `/v1/backtest/${STUB_JOB}`, 204],
  ['GET', `/v1/export?dataset=job_trades&job_id=${STUB_JOB}`, 409],
  ['GET', `/v1/export/manifest?dataset=job_trades&job_id=${STUB_JOB}`, 409],
] as const)('%s %s: the job of another user does not exist', async (method, url, own) => {
  const { jobs, cancel } = stubBacktests;
  const isOwner = (owner: { userId: string } | null) => owner === null || owner.userId === 'usr_1';
  const backtests = {
    ...stubBacktests,
    cancel: async (jobId: string, owner: { userId: string }) => isOwner(owner) && cancel(jobId, owner),
    jobs: {
      ...jobs,
      find: async (jobId: string, owner: { userId: string } | null) =>
        isOwner(owner) ? await jobs.find(jobId, owner) : null,
    },
  };
  const accounts = {
    ...{ moment: () => 0, maintenance: () => null, signedIn: async () => null },
    authenticate: (header?: string) => ({ ...IDENTITY, userId: header === 'Bearer own' ? 'usr_1' : 'usr_2' }),
  };
  const api = testApi({ store: unaskedStore, backtests, accounts });
  const ask = async (authorization: string) => {
    const { statusCode, body } = await api.inject({ method, url, headers: { authorization } });
    return [statusCode, statusCode === 404 ? body : ''];
  };
  expect(await ask('Bearer own')).toEqual([own, '']);
  expect(await ask('Bearer other')).toEqual([404, '{"detail":"Job not found"}']);
});

test('a job that waits again after its run was lost has not started', async () => {
  const found = await stubBacktests.jobs.find(STUB_JOB, null);
  const ask = async (status: 'queued' | 'running') => {
    const job = found && { ...found, status, completedMs: null };
    const backtests = { ...stubBacktests, jobs: { ...stubBacktests.jobs, find: async () => job } };
    const api = testApi({ store: unaskedStore, backtests });
    return (await api.inject({ url: `/v1/backtest/${STUB_JOB}`, headers: KEY })).json();
  };
  expect(await ask('queued')).toMatchObject({ status: 'queued', started_at: null });
  expect(await ask('running')).toMatchObject({ started_at: '2026-11-20T12:00:00.000+00:00' });
});
