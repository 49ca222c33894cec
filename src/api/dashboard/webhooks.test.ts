import { expect, it } from 'vitest';
import { openDashboard } from '../../../test/support/dashboard.ts';
import { TooManyLookupsError } from '../../runtime/errors.ts';
import type { WebhookControl } from '../../webhooks/delivery/webhooks.ts';

it('a registration while too many names of its user are looked up is 429 with the time to wait', async () => {
  const create = async () => {
    throw new TooManyLookupsError('4 host names of yours are being looked up', 5);
  };
  const webhooks = { registry: { create } } as unknown as WebhookControl;
  const { signedUp, accounts } = await openDashboard({ webhooks });
  const user = await signedUp('a@example.com');
  await accounts.users.setTier('a@example.com', 'premium');
  const refused = await user.ask('POST', '/app/webhooks', { url: 'https://hooks.example.com/', label: 'x' });
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '5']);
  expect(refused.json()).toEqual({ detail: '4 host names of yours are being looked up; retry in 5 s' });
});
