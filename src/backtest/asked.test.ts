import { expect, test } from 'vitest';
import { backtestMembers, sweepMembers } from '../schema/api/backtests.ts';
import { readBody } from '../schema/api/body.ts';
import type { JobSpec } from '../schema/backtest.ts';
import { DEFAULT_TICKERS } from '../schema/market.ts';
import { type AskedSweep, requestOf, specOf } from './asked.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;
const BODY = {
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'BTC', event_type: '5m' },
};
const X_AXIS = { param: 'threshold', start: 0.1, end: 0.5, steps: 9 };
const Y_AXIS = { param: 'latency_ms', start: 0, end: 500, steps: 3 };

/** The spec that the API builds from a body at a time, for a user whose history begins `historyMs` before it. */
function accepted(body: object, { nowMs = NOW_MS, historyMs }: { nowMs?: number; historyMs?: number } = {}) {
  const isSweep = 'x_axis' in body;
  const read = readBody((isSweep ? sweepMembers : backtestMembers)(DEFAULT_TICKERS), body);
  expect([read.problems, read.refusal]).toEqual([[], null]);
  const asked = read.values as AskedSweep;
  const startMs = asked.start ?? (historyMs === undefined ? null : nowMs - historyMs);
  const spec = specOf(asked, { startMs, nowMs, marketLimit: asked.market_limit ?? 50 });
  const job: JobSpec = isSweep
    ? { kind: 'sweep', ...spec, xAxis: asked.x_axis, yAxis: asked.y_axis }
    : { kind: 'backtest', ...spec };
  return JSON.parse(JSON.stringify(job)) as JobSpec;
}

test('the request of a backtest has every member, including the defaults', () => {
  expect(requestOf(accepted(BODY))).toEqual({
    ...BODY,
    ...{ size_usd: 10, start: null, end: '2026-11-20T12:00:00.000+00:00', market_limit: 50 },
    params: expect.objectContaining({ fill_mode: 'walk_book', latency_ms: 50, max_fill_price: 0.985 }),
  });
});

test('the request of a sweep has both axes, with null for a missing second one', () => {
  expect(requestOf(accepted({ ...BODY, x_axis: X_AXIS }))).toMatchObject({ x_axis: X_AXIS, y_axis: null });
  const both = requestOf(accepted({ ...BODY, x_axis: X_AXIS, y_axis: Y_AXIS }));
  expect(both).toMatchObject({ x_axis: X_AXIS, y_axis: Y_AXIS });
});

test.each([
  ['only the required members', {}],
  ['a start', { start: '2026-11-19T10:00:00+02:00' }],
  [
    'a range that ends in the future, and a limit',
    { start: 1_795_100_000, end: '2027-01-01', market_limit: 7 },
  ],
  [
    'times finer than a millisecond',
    { start: '2026-11-19T10:00:00.000001Z', end: '2026-11-19T11:00:00.5005Z' },
  ],
  ['both axes', { x_axis: X_AXIS, y_axis: Y_AXIS, size_usd: 25, params: { fill_mode: 'mid' } }],
])('the request posted again an hour later describes the same job: %s', (_what, more) => {
  const first = accepted({ ...BODY, ...more });
  expect(accepted(requestOf(first), { nowMs: NOW_MS + HOUR_MS })).toEqual(first);
});

test('a range ends now at the latest', () => {
  expect(accepted({ ...BODY, end: '2027-01-01' }).endMs).toBe(NOW_MS);
  expect(accepted(BODY).endMs).toBe(NOW_MS);
  expect(accepted({ ...BODY, end: '2026-11-20T11:00:00Z' }).endMs).toBe(NOW_MS - HOUR_MS);
});

test("without a requested start, the tier's history window is not part of the request", () => {
  const first = accepted(BODY, { historyMs: 24 * HOUR_MS });
  expect(first.startMs).toBe(NOW_MS - 24 * HOUR_MS);
  expect(requestOf(first).start).toBeNull();
});

test('a job stored by a release without requests returns the start it was run with', () => {
  const { askedStartMs: _, ...old } = accepted({ ...BODY, x_axis: X_AXIS }, { historyMs: 24 * HOUR_MS });
  expect(requestOf(old as JobSpec)).toMatchObject({
    ...{ start: '2026-11-19T12:00:00.000+00:00', end: '2026-11-20T12:00:00.000+00:00', market_limit: 50 },
    ...{ x_axis: X_AXIS, y_axis: null },
  });
});
