import { expect, it } from 'vitest';
import { openDashboard, type TestDashboard } from '../support/dashboard.ts';

const URL = 'https://hooks.example.com/in';

/** A webhook of a Premium user with some tests in its log. */
async function withTests(count: number) {
  const dashboard = await openDashboard();
  const browser = await dashboard.signedUp('a@example.com');
  await dashboard.accounts.users.setTier('a@example.com', 'premium');
  const { webhook_id } = (await browser.ask('POST', '/app/webhooks', { url: URL })).json();
  const path = `/app/webhooks/${webhook_id}`;
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    ids.push((await browser.ask('POST', `${path}/test`)).json().delivery_id);
    await dashboard.clock.advance(1000);
  }
  return { ...dashboard, browser, path, ids };
}

/** Sets the columns of one delivery. */
async function set(
  { accounts }: Pick<TestDashboard, 'accounts'>,
  deliveryId: string,
  columns: {
    state?: 'delivered' | 'failed' | 'skipped' | 'expired';
    is_test?: number;
    attempt_log?: string;
  },
) {
  const rows = accounts.database.updateTable('webhook_deliveries').set(columns);
  await rows.where('delivery_id', '=', deliveryId).execute();
}

function attempt(at_ms: number, latency_ms: number, error: string | null) {
  return { at_ms, latency_ms, error, status: error === null ? 200 : 500, response_head: '' };
}

it('a delivery is shown with its payload, byte for byte, and the headers of its last attempt', async () => {
  const dashboard = await withTests(1);
  const { browser, path, ids, accounts } = dashboard;
  const address = `${path}/deliveries/${ids[0]}`;
  const before = (await browser.ask('GET', address)).json();
  expect(before).toMatchObject({ delivery_id: ids[0], test: true, state: 'pending', headers: [] });
  const { body } = await accounts.database
    .selectFrom('webhook_events')
    .select('body')
    .executeTakeFirstOrThrow();
  expect(before.payload).toBe(body);
  const log = [attempt(1_795_176_009_000, 4, 'status 500'), attempt(1_795_176_010_999, 7, null)];
  await set(dashboard, ids[0] ?? '', { state: 'delivered', attempt_log: JSON.stringify(log) });
  expect((await browser.ask('GET', address)).json().headers).toEqual([
    { name: 'Content-Type', value: 'application/json' },
    { name: 'User-Agent', value: 'Service-Webhook/1' },
    { name: 'X-SVC-Tier', value: 'logical' },
    { name: 'X-SVC-Ticker', value: 'BTC' },
    { name: 'webhook-id', value: ids[0] },
    { name: 'webhook-timestamp', value: '1795176010' },
    // Signatures are not stored.
    { name: 'X-SVC-Signature', value: null },
    { name: 'webhook-signature', value: null },
  ]);
});

it('a delivery of another user or an unknown one is not found', async () => {
  const { browser, path, ids, signedUp } = await withTests(1);
  const other = await signedUp('b@example.com');
  expect(await other.status('GET', `${path}/deliveries/${ids[0]}`)).toBe(404);
  expect(await other.status('GET', `${path}/summary`)).toBe(404);
  const unknown = await browser.ask('GET', `${path}/deliveries/dl_none`);
  expect([unknown.statusCode, unknown.json()]).toEqual([404, { detail: 'Delivery not found' }]);
});

it('the summary has null instead of figures without deliveries', async () => {
  const { browser, path } = await withTests(2);
  expect((await browser.ask('GET', `${path}/summary`)).json()).toEqual({
    since: expect.any(String),
    ...{ delivered: 0, undelivered: 0, success_rate: null, latency_ms_median: null, latency_ms_p95: null },
    ...{ failing_since: null, undelivered_since_failing: 0 },
  });
});

it('the summary counts events, not tests, and finds when the newest failures began', async () => {
  const dashboard = await withTests(9);
  const { browser, path, ids } = dashboard;
  const states = ['failed', 'delivered', 'delivered', 'delivered', 'expired', 'skipped', 'failed'] as const;
  for (const [place, state] of states.entries()) {
    const attempt_log = JSON.stringify([attempt(0, 10 * (place + 1), state === 'delivered' ? null : 'x')]);
    await set(dashboard, ids[place] ?? '', { state, is_test: 0, attempt_log });
  }
  // A test that failed belongs to the run, not to the rate.
  await set(dashboard, ids[7] ?? '', { state: 'failed' });
  const summary = (await browser.ask('GET', `${path}/summary`)).json();
  expect(summary).toMatchObject({ delivered: 3, undelivered: 4, success_rate: 0.4286 });
  expect(summary).toMatchObject({ latency_ms_median: 30, latency_ms_p95: 40 });
  const { created_at } = (await browser.ask('GET', `${path}/deliveries/${ids[4]}`)).json();
  expect(summary).toMatchObject({ failing_since: created_at, undelivered_since_failing: 4 });
  const since = encodeURIComponent(summary.failing_since);
  const listed = (await browser.ask('GET', `${path}/deliveries?state=undelivered&start=${since}`)).json();
  expect(listed.deliveries.map(({ delivery_id }: { delivery_id: string }) => delivery_id)).toEqual(
    ids.slice(4, 8).reverse(),
  );
  const body = { state: 'undelivered', start: summary.failing_since };
  const again = await browser.ask('POST', `${path}/redeliver`, body);
  expect([again.statusCode, again.json()]).toEqual([202, { count: 4 }]);
  expect((await browser.ask('GET', `${path}/deliveries?state=pending&limit=0`)).json().count).toBe(5);
});
