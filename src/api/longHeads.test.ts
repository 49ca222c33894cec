import { expect, onTestFinished, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { STUB_STRATEGY, stubPaper } from '../../test/support/stubPaper.ts';
import { type Asked, STUB_MARKET, stubStore } from '../../test/support/stubStore.ts';

/** HEAD requests take no place among a user's streamed responses, so they must not do the work of one. */
test.each([
  ['SHA256(', `/v1/export/manifest?dataset=trades&market_id=${STUB_MARKET}`],
  ['AS yesTokenId', '/v1/tapes/markets?ticker=BTC&event_type=5m&limit=10000'],
  ['positions', `/v1/paper/strategies/${STUB_STRATEGY}/positions?limit=10000`],
])('HEAD does not read the rows (%s) of %s', async (rows, url) => {
  const asked: Asked[] = [];
  const positions: typeof stubPaper.positions = {
    ...stubPaper.positions,
    list: async (...page) => {
      asked.push(['positions', page]);
      return await stubPaper.positions.list(...page);
    },
  };
  const app = testApi({ store: stubStore({ asked }), paper: { ...stubPaper, positions } });
  onTestFinished(() => app.close());
  const readsRows = async (method: 'GET' | 'HEAD') => {
    asked.length = 0;
    const { statusCode, headers, body } = await app.inject({ method, url, headers: KEY });
    const read = asked.some(([query]) => query.includes(rows));
    return { statusCode, type: headers['content-type']?.split(';', 1)[0], isEmpty: body === '', read };
  };
  const full = await readsRows('GET');
  expect(full).toMatchObject({ statusCode: 200, isEmpty: false, read: true });
  expect(await readsRows('HEAD')).toEqual({ ...full, isEmpty: true, read: false });
});
