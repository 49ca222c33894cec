import { expect, it } from 'vitest';
import { openDashboard } from '../../../test/support/dashboard.ts';

it('the log has the message of a closed service, and none of an opened one', async () => {
  const { signedUp } = await openDashboard();
  const operator = await signedUp('op@example.com');
  const put = async (body: object) => (await operator.ask('PUT', '/app/maintenance', body)).json();
  expect(await put({ on: true, retry_after_seconds: 90, message: 'soon' })).toMatchObject({
    ...{ on: true, retry_after_seconds: 90, message: 'soon' },
  });
  const open = { on: false, retry_after_seconds: null, message: null, since: null };
  expect(await put({ on: false, message: 'soon' })).toEqual(open);
  const { events } = (await operator.ask('GET', '/app/operator/events')).json();
  const details = Object.fromEntries(
    events.map(({ action, detail }: { action: string; detail: string | null }) => [action, detail]),
  );
  expect(details).toMatchObject({ maintenance_on: 'soon', maintenance_off: null });
});
