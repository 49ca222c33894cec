import { expect, it } from 'vitest';
import type { BacktestJob } from '../../web/src/api/schema.ts';
import { draftOf } from '../../web/src/pages/backtests/draft.ts';

const REQUEST: BacktestJob['request'] = {
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'ETH', event_type: '15m' },
  ...{ size_usd: 25, start: '2026-11-19T10:00:00.123+00:00', end: '2026-11-20T12:00:00.000+00:00' },
  market_limit: 17,
  params: { fill_mode: 'mid', latency_ms: 120, max_fill_price: 0.9, max_slippage: 0.02 },
};
const X_AXIS = { param: 'threshold', start: 0.1, end: 0.5, steps: 9 };
const Y_AXIS = { param: 'latency_ms', start: 0, end: 500, steps: 3 };

it.each([
  ['a backtest', REQUEST],
  ['a sweep over two axes', { ...REQUEST, x_axis: X_AXIS, y_axis: Y_AXIS }],
])('the draft made of the request of a job has all of it: %s', (_what, request) => {
  expect(draftOf({ request })).toEqual(request);
});

it('a draft omits a start or a second axis that the request does not have, like the form', () => {
  const { start: _, ...rest } = REQUEST;
  const request = { ...REQUEST, start: null, x_axis: X_AXIS, y_axis: null };
  expect(draftOf({ request })).toEqual({ ...rest, x_axis: X_AXIS });
});
