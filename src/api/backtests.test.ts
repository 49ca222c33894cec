import { expect, test } from 'vitest';
import { KEY, testApi, unaskedStore } from '../../test/support/api.ts';

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
