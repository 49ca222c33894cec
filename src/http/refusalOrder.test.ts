import { expect, test } from 'vitest';
import { openDashboard } from '../../test/support/dashboard.ts';

test('a broken cursor is refused before it is known whether the resource exists', async () => {
  const user = await (await openDashboard()).signedUp('op@example.com');
  const statusOf = async (query: string) =>
    (await user.ask('GET', `/app/webhooks/wh_none/deliveries${query}`)).statusCode;
  expect([await statusOf(''), await statusOf('?cursor=x')]).toEqual([404, 400]);
});
