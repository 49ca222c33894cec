import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserAbsent, type WatchedPage } from '../support/browser.ts';
import { recordedMarket } from '../support/recordedMarket.ts';
import { useStubbedPages } from '../support/stubbedPages.ts';

const SKIPPED = 'polls that fail (skipped without a build or Chromium)';
const NOW = new Date('2026-11-20T12:00:00.000Z');
const FAILED = { detail: 'The store does not answer' };
/** Longer than the interval of a poll with the waits of all its tries. */
const POLLED_MS = 20_000;
/** Longer than the user of a session is used before it is requested again. */
const SESSION_MS = 61_000;

const HOOK = {
  ...{
    webhook_id: 'wh_1',
    url: 'https://example.com/hook',
    label: 'hook',
    tiers: ['logical'],
    tickers: null,
  },
  ...{ state: 'active', failing: false, consecutive_failures: 0, created_at: '2026-11-20T10:00:00+00:00' },
  ...{ paused_at: null, previous_secret_until: null, format: 'signed', events: ['opportunity'] },
};
const SUMMARY = {
  ...{ since: '2026-11-13T12:00:00+00:00', delivered: 3, undelivered: 0, success_rate: 1 },
  ...{ latency_ms_median: 20, latency_ms_p95: 30, failing_since: null, undelivered_since_failing: 0 },
};

/** Answers the requests to a path; the newest answer of a path counts. */
async function answer(page: Page, path: string, json: object, status = 200): Promise<void> {
  await page.route(`**/app/${path}`, (route) => route.fulfill({ status, json }));
}

/** Lets the polls of a path fail. @returns The page's alert about them. */
async function failPolls(watched: WatchedPage, path: string): Promise<Locator> {
  watched.refusals.add(`502 /app/${path.replace(/\?.*$/, '')}`);
  await answer(watched.page, path, FAILED, 502);
  await watched.page.clock.runFor(POLLED_MS);
  return watched.page.getByRole('alert').filter({ hasText: 'Not updated since' });
}

async function openWebhooks(watched: WatchedPage): Promise<Page> {
  const { page } = watched;
  await page.clock.install({ time: NOW });
  await answer(page, 'webhooks', { webhooks: [HOOK], count: 1 });
  await answer(page, 'webhooks/wh_1', HOOK);
  await answer(page, 'webhooks/wh_1/summary', SUMMARY);
  await answer(page, 'webhooks/wh_1/deliveries?**', { deliveries: [], next_cursor: null });
  return page;
}

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const pages = useStubbedPages();

  it('leave a secret that is shown once on the page of its webhook, and say that the page is not updated', async () => {
    const watched = await pages.open();
    const page = await openWebhooks(watched);
    const until = '2026-11-21T12:00:00+00:00';
    await answer(page, 'webhooks/wh_1/rotate', {
      ...HOOK,
      secret: 'whsec_new',
      previous_secret_until: until,
    });
    await page.goto('/webhooks/wh_1');
    await page.getByRole('button', { name: 'Replace secret of hook' }).click();
    await page.getByRole('button', { name: 'Replace secret of hook for good' }).click();
    await page.getByText('whsec_new').waitFor();
    const alert = (await failPolls(watched, 'webhooks/wh_1')).filter({
      hasText: 'Not updated since 20 Nov, 12:',
    });
    await alert.getByText('The store does not answer').waitFor();
    await page.getByText('whsec_new').waitFor();
    await answer(page, 'webhooks/wh_1', HOOK);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor({ state: 'detached' });
    await page.getByText('whsec_new').waitFor();
  });

  it('leave what a reader has typed for a new webhook', async () => {
    const watched = await pages.open();
    const page = await openWebhooks(watched);
    await page.goto('/webhooks');
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByLabel('Label').fill('the desk');
    await (await failPolls(watched, 'webhooks')).waitFor();
    expect(await page.getByLabel('Label').inputValue()).toBe('the desk');
    await page.getByRole('table', { name: 'Webhooks' }).waitFor();
  });

  it('leave what a reader has typed for a new paper strategy', async () => {
    const watched = await pages.open();
    const { page } = watched;
    await page.clock.install({ time: NOW });
    await answer(page, 'paper/strategies', { strategies: [], count: 0 });
    await answer(page, 'tiers', { tiers: { premium: { paper_strategies: 5 } } });
    await page.goto('/paper');
    await page.getByLabel('Name').fill('cheap');
    await (await failPolls(watched, 'paper/strategies')).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('cheap');
  });

  it('of the session leave a key that is shown once', async () => {
    const watched = await pages.open();
    const { page } = watched;
    await page.clock.install({ time: NOW });
    await page.route('**/app/keys', (route) =>
      route.fulfill({
        json:
          route.request().method() === 'POST'
            ? { key_id: 'k1', key: 'ur_secret', label: 'laptop', prefix: 'ur_sec' }
            : { keys: [] },
      }),
    );
    await page.goto('/keys');
    await page.getByLabel('What the key is for').fill('laptop');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('API key', { exact: true }).waitFor();
    watched.refusals.add('502 /app/me');
    let asked = 0;
    await page.route('**/app/me', (route) => {
      asked += 1;
      return route.fulfill({ status: 502, json: FAILED });
    });
    await page.clock.runFor(SESSION_MS);
    // The reader comes back from another tab.
    await page.evaluate("window.dispatchEvent(new Event('visibilitychange'))");
    await expect.poll(() => asked).toBeGreaterThan(0);
    await page.clock.runFor(POLLED_MS);
    await expect.poll(() => asked).toBe(4);
    await page.clock.runFor(1_000);
    await page.getByLabel('API key', { exact: true }).waitFor();
  });

  it('say since when the book of a perpetual is not updated', async () => {
    const watched = await pages.open();
    const { page } = watched;
    pages.perpBooks.push({
      ...{ timestamp: '2026-11-20T11:59:59.000+00:00', update_id: 7, n_bids: 1, n_asks: 1 },
      ...{ bids: [[100_000, 1]], asks: [[100_001, 2]], best_bid: 100_000, best_ask: 100_001 },
    });
    await page.clock.install({ time: NOW });
    await page.goto('/perpetuals');
    await page.getByRole('table', { name: 'BTC perpetual' }).waitFor();
    const alert = await failPolls(watched, 'perp/depth?**');
    await alert.filter({ hasText: 'Not updated since 20 Nov, 12:' }).waitFor();
    await page.getByRole('table', { name: 'BTC perpetual' }).waitFor();
  });

  it('leave the charts of a market', async () => {
    const watched = await pages.open();
    const { page } = watched;
    const recording = recordedMarket('5m', '2026-11-20T11:58:00.000Z');
    const market = { ...recording.market, status: 'open' } as const;
    await page.clock.install({ time: NOW });
    await page.goto(pages.add({ ...recording, market }));
    const chart = page.getByRole('img', { name: /^Implied and model probability of Up/ });
    const depth = page.getByRole('img', { name: /^Depth over time/ });
    await chart.waitFor();
    await depth.waitFor();
    const alerts = await failPolls(watched, `markets/${market.market_id}/timeseries?**`);
    await expect.poll(() => alerts.count()).toBe(1);
    await failPolls(watched, 'snapshots?**');
    await expect.poll(() => alerts.count()).toBe(2);
    await failPolls(watched, 'trades?**');
    await expect.poll(() => alerts.count()).toBe(3);
    expect(await chart.count()).toBe(1);
    expect(await depth.count()).toBe(1);
    await page.getByRole('region', { name: 'Tape' }).getByRole('table').waitFor();
  });

  it('say that the book at the left edge of the depth is missing', async () => {
    const watched = await pages.open();
    const { page } = watched;
    const recording = recordedMarket('5m', '2026-11-20T11:58:00.000Z');
    const address = pages.add({ ...recording, market: { ...recording.market, status: 'open' } });
    watched.refusals.add('502 /app/snapshots');
    const start = encodeURIComponent('2026-11-20T11:53:00.000Z');
    await page.route(`**/app/snapshots?*end=${start}*`, (route) =>
      route.fulfill({ status: 502, json: FAILED }),
    );
    await page.clock.install({ time: NOW });
    await page.goto(address);
    // The chart of the probability needs it too.
    const alerts = page.getByRole('alert').filter({ hasText: 'The store does not answer' });
    const shown = async () => {
      await page.clock.runFor(1_000);
      return alerts.count();
    };
    await expect.poll(shown).toBe(2);
    await page.getByRole('img', { name: /^Depth over time/ }).waitFor();
  });
});
