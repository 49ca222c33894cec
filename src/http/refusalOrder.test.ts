import { expect, onTestFinished, test } from 'vitest';
import { KEY, testApi, unaskedStore } from '../../test/support/api.ts';
import { openDashboard } from '../../test/support/dashboard.ts';

test('a body of a route that declares none is not parsed', async () => {
  const app = testApi({ store: unaskedStore });
  onTestFinished(() => app.close());
  const request = { method: 'DELETE', url: '/v1/backtest/bt_none', headers: KEY } as const;
  const headers = { ...KEY, 'content-type': 'text/plain' };
  const answers = [await app.inject(request), await app.inject({ ...request, headers, payload: '{broken' })];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404]);
});

test('a broken cursor is refused before it is known whether the resource exists', async () => {
  const user = await (await openDashboard()).signedUp('op@example.com');
  const statusOf = async (query: string) =>
    (await user.ask('GET', `/app/webhooks/wh_none/deliveries${query}`)).statusCode;
  expect([await statusOf(''), await statusOf('?cursor=x')]).toEqual([404, 400]);
});
