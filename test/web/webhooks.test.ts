import { describe, expect, it } from 'vitest';
import { escapeHead } from '../../src/webhooks/delivery/responseHead.ts';
import { browserAbsent } from '../support/browser.ts';
import { heading, useDemoPages } from '../support/demoPages.ts';

const SKIPPED = 'webhooks in a browser (skipped without a build or Chromium)';

const REPLY = `<script>alert("it's")</script> &amp; more`;
const HOOK = {
  ...{ webhook_id: 'wh_1', url: 'https://example.com/hook', label: 'hook' },
  ...{ tiers: ['logical'], tickers: null, state: 'paused', failing: true, consecutive_failures: 10 },
  ...{ created_at: '2026-11-01T00:00:00.000+00:00', paused_at: '2026-11-01T13:00:00.000+00:00' },
  ...{ previous_secret_until: null, format: 'signed', events: ['opportunity'] },
};
const SUMMARY = {
  ...{ since: '2026-10-25T00:00:00.000+00:00', delivered: 30, undelivered: 10, success_rate: 0.75 },
  ...{ latency_ms_median: 21, latency_ms_p95: 180 },
  ...{ failing_since: '2026-11-01T12:00:00.000+00:00', undelivered_since_failing: 10 },
};
const ATTEMPTS = [
  ...[{ at: '2026-11-01T12:00:01.000+00:00', status: null, latency_ms: 2, error: 'ECONNREFUSED' }],
  ...[{ at: '2026-11-01T12:00:02.000+00:00', status: 500, latency_ms: 31, error: 'status 500' }],
].map((attempt) => ({
  ...attempt,
  response_head: attempt.status === null ? '' : escapeHead(Buffer.from(REPLY)),
}));

function deliveryOf(day: number, attempt_log: typeof ATTEMPTS) {
  const time = `2026-11-0${day}T12:00:00.000+00:00`;
  return {
    ...{ delivery_id: `dl_${day}`, state: 'failed', tier: 'logical', ticker: 'BTC', market_id: '0x1' },
    ...{ event: 'opportunity', test: day === 2, detected_at: time, created_at: time, expires_at: time },
    ...{ attempts: attempt_log.length, next_attempt_at: null, attempt_log },
  };
}

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const dashboard = useDemoPages({ UNDERROUND_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' });

  it('a webhook is registered with a secret shown once, edited, tested, paused, rotated and deleted', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.getByRole('link', { name: 'Webhooks' }).click();
    const url = page.getByRole('textbox', { name: 'URL' });
    await url.fill('https://10.0.0.1/hook');
    await page.getByRole('textbox', { name: 'Label' }).fill('mine');
    watched.refusals.add('422 /app/webhooks');
    await page.getByRole('button', { name: 'Register webhook' }).click();
    const refusal = page.getByText(/10\.0\.0\.1 is private/);
    await refusal.waitFor();
    // The message disappears as soon as its field changes. No server listens on this port.
    await url.fill('https://127.0.0.1:9/hook');
    expect([await refusal.count(), await page.getByRole('alert').count()]).toEqual([0, 0]);
    await page.getByRole('button', { name: 'Register webhook' }).click();
    const secret = await page.getByLabel('webhook secret', { exact: true }).textContent();
    expect(secret).toMatch(/^whsec_/);
    await watched.inspect('webhooks');
    await page.getByRole('link', { name: 'mine' }).click();
    await heading(page, 'mine');
    await page.getByText('logical, endgame · all underlyings').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('New label').fill('');
    await page.getByLabel('BTC').uncheck();
    await page.getByLabel('endgame').uncheck();
    await page.getByLabel('logical').uncheck();
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await page.getByLabel('logical').check();
    await page.getByLabel('New label').fill('ours');
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'ours');
    await page.getByText('logical · ETH, SOL').waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('test', { exact: true }).first().waitFor();
    await page.getByText('Nothing listens at this address and port').first().waitFor();
    // Opportunities of the stand-in venue may have been delivered meanwhile.
    const tested = page.getByRole('row').filter({ has: page.getByText('test', { exact: true }) });
    await tested.getByRole('button', { name: 'Show delivery of' }).click();
    const payload = JSON.parse((await page.getByLabel('Payload').textContent()) ?? '');
    expect(payload).toMatchObject({ polymarket_slug: 'test-event', tier: 'logical' });
    const headers = (await page.getByLabel('Headers').textContent()) ?? '';
    expect(headers).toMatch(/^webhook-id: dl_[0-9a-f]+$/m);
    expect(headers).toContain('webhook-signature: (made from the secret)');
    await watched.inspect('webhook');
    await page.getByRole('button', { name: 'Replace secret of ours' }).click();
    await page.getByText('Requests are signed with both secrets for 24 hours').waitFor();
    await page.getByRole('button', { name: 'Replace secret of ours for good' }).click();
    await page.getByLabel('new webhook secret', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByRole('button', { name: 'Delete ours' }).click();
    await page.getByRole('button', { name: 'Delete ours for good' }).click();
    await page.getByText('No webhooks yet').waitFor();
  });

  it('the webhooks of a user who lost the tier continue, and the lock is shown instead of the form', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    const { user } = await (await page.request.get('/app/me')).json();
    const data = { url: 'https://127.0.0.1:9/hook', label: 'kept' };
    expect((await page.request.post('/app/webhooks', { data })).status()).toBe(201);
    const setTier = async (tier: string) =>
      expect((await page.request.patch(`/app/users/${user.user_id}`, { data: { tier } })).status()).toBe(200);
    // Leave the page Live: its stream ends with the tier.
    await page.goto('/webhooks');
    await page.getByRole('link', { name: 'kept' }).waitFor();
    await setTier('plus');
    await page.reload();
    await page.getByText('Webhooks are not in tier plus').waitFor();
    await page.getByText('continue until you pause or delete them').waitFor();
    expect(await page.getByRole('button', { name: /Register webhook|New webhook/ }).count()).toBe(0);
    await watched.inspect('webhooks-downgraded');
    await page.getByRole('link', { name: 'kept' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete kept' }).click();
    await page.getByRole('button', { name: 'Delete kept for good' }).click();
    await page.getByText('No webhooks yet').waitFor();
    await setTier('premium');
  });

  it('each attempt is explained with its reply as text, and everything since it began failing is sent again', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.route('**/app/webhooks/wh_1', (route) => route.fulfill({ json: HOOK }));
    await page.route('**/app/webhooks/wh_1/summary', (route) => route.fulfill({ json: SUMMARY }));
    await page.route('**/app/webhooks/wh_1/deliveries?**', (route) => {
      const query = new URL(route.request().url()).searchParams;
      const isOlder = query.get('cursor') === 'older';
      const deliveries = [isOlder ? deliveryOf(2, []) : deliveryOf(1, ATTEMPTS)];
      return route.fulfill({ json: { count: 1, deliveries, next_cursor: isOlder ? null : 'older' } });
    });
    const details = { headers: [{ name: 'webhook-id', value: 'dl_1' }], payload: '{"tier":"logical"}' };
    await page.route('**/app/webhooks/wh_1/deliveries/dl_1', (route) =>
      route.fulfill({ json: { ...deliveryOf(1, ATTEMPTS), ...details } }),
    );
    const asked: unknown[] = [];
    await page.route('**/app/webhooks/wh_1/redeliver', (route) => {
      asked.push(route.request().postDataJSON());
      return route.fulfill({ status: 202, json: { count: 10 } });
    });
    await page.route('**/app/webhooks/wh_1/resume', (route) => {
      asked.push('resume');
      return route.fulfill({ json: { ...HOOK, state: 'active', failing: false, consecutive_failures: 0 } });
    });
    await page.goto('/webhooks/wh_1');
    await page.getByText('Failing, paused').waitFor();
    await page.getByText('75.0').waitFor();
    await page.getByText('21 ms').waitFor();
    await page.getByText('10 events were not delivered since 01 Nov, 12:00:00').waitFor();
    await page.getByRole('button', { name: 'Resume and redeliver everything since then' }).click();
    await page.getByText('10 queued for redelivery').waitFor();
    expect(asked).toEqual(['resume', { state: 'undelivered', start: SUMMARY.failing_since }]);
    await page.getByRole('button', { name: 'Show delivery of 01 Nov' }).click();
    const attempts = page.getByRole('list', { name: /^Attempts of/ }).getByRole('listitem');
    expect(await attempts.allTextContents()).toEqual([
      expect.stringMatching(
        /12:00:02 UTC: 500 after 31 ms.*The receiver failed while it handled.*\(status 500\)/,
      ),
      expect.stringMatching(/12:00:01 UTC: no answer after 2 ms.*Nothing listens.*\(ECONNREFUSED\)/),
    ]);
    expect(
      await attempts
        .first()
        .getByLabel(/^Reply at/)
        .textContent(),
    ).toBe(REPLY);
    await watched.inspect('webhook-failures');
    await page.getByRole('button', { name: 'Show older' }).click();
    await page.getByRole('button', { name: 'Show delivery of 02 Nov' }).waitFor();
    await page.getByRole('button', { name: 'Redeliver all failed' }).click();
    await expect.poll(() => asked.at(-1)).toEqual({ state: 'failed' });
    await page.getByText('Python', { exact: true }).click();
    expect(await page.getByLabel('verification in Python', { exact: true }).textContent()).toContain(
      'def is_signed',
    );
  });
});
