import { expect, it } from 'vitest';
import { openDashboard } from '../../../test/support/dashboard.ts';

const DAY_MS = 86_400_000;

it('the requests of a key are those of today and of the 29 days before it', async () => {
  const { accounts, clock, signedUp } = await openDashboard();
  const user = await signedUp('a@example.com');
  const { key_id } = (await user.ask('POST', '/app/keys', { label: 'bot' })).json();
  const today = Math.floor(clock.now() / DAY_MS) * DAY_MS;
  const usage = [
    { key_id, day_ms: today, requests: 1 },
    { key_id, day_ms: today - 29 * DAY_MS, requests: 10 },
    { key_id, day_ms: today - 30 * DAY_MS, requests: 100 },
  ];
  await accounts.database.insertInto('usage').values(usage).execute();
  const { keys } = (await user.ask('GET', '/app/keys')).json();
  expect(keys).toMatchObject([{ key_id, requests_30d: 11 }]);
});
