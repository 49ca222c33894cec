import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { heading, useDemoPages } from '../support/demoPages.ts';
import { WAIT_MS_MAX } from '../support/waitLimit.ts';

const SKIPPED = 'pages while the store is behind (skipped without a build or Chromium)';
const LATE = 'late_feed polymarket.clob 7.2 s';
const BEHIND = {
  ...{ as_of: '2026-11-20T12:00:00.000+00:00', store_lag_seconds: 42.3, ready: false, history: null },
  ...{ reasons: ['the store is 42 s behind'], degraded: [LATE] },
};

/** Replaces the worker with the stream's socket, because the browser's request rules do not reach it. */
const LOST_STREAM = `globalThis.Worker = class {
  set onmessage(listener) {
    const state = { connection: 'lost', reason: 'too slow', markets: {}, tickers: {}, unreadable: 0, received: 0 };
    queueMicrotask(() => listener({ data: { kind: 'state', state } }));
  }
  postMessage() {}
  terminate() {}
};`;

const showState = (page: Page, state: object) =>
  page.route('**/app/state', (request) => request.fulfill({ json: state }));
const noticesOn = (page: Page) => page.getByRole('region', { name: 'State of the service' });
const top = async (place: Locator) => (await place.boundingBox())?.y ?? Number.NaN;

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const dashboard = useDemoPages();

  it('show no notice without problems', async () => {
    const { page } = await dashboard.signedIn();
    await showState(page, { ...BEHIND, store_lag_seconds: 1.2, ready: true, reasons: [], degraded: [] });
    const answered = page.waitForResponse('**/app/state');
    await page.reload();
    await answered;
    await page.getByRole('region', { name: 'BTC 5 min' }).getByText('proven').waitFor();
    expect(await noticesOn(page).count()).toBe(0);
  });

  it('Live shows the lag first, and every open window from memory', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    // Data from the store would arrive too late.
    await page.route('**/app/markets*', (request) => request.abort());
    await showState(page, BEHIND);
    await page.reload();
    const notices = noticesOn(page);
    await notices.getByText('Stored data is 42 s behind; live prices are not affected').waitFor();
    await notices.getByText('The service is not ready: the store is 42 s behind').waitFor();
    await notices.getByText(`Late or missing: ${LATE}`).waitFor();
    const cards = page.getByRole('region', { name: /^BTC / });
    await expect.poll(() => cards.count(), { timeout: WAIT_MS_MAX }).toBe(5);
    expect(await top(notices)).toBeLessThan(
      await top(page.getByRole('group', { name: 'State of the feeds' })),
    );
    await watched.inspect('live-behind');
  });

  it('the operator sees the lag first too, then late feeds', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await showState(page, BEHIND);
    await page.goto('/operator');
    await heading(page, 'Operator');
    const notices = noticesOn(page);
    await notices.getByText('Stored data is 42 s behind; this page is current').waitFor();
    await notices.getByText(LATE).waitFor();
    const figure = page.getByText('42 s behind', { exact: true });
    await figure.waitFor();
    expect(await top(notices)).toBeLessThan(await top(figure));
    await watched.inspect('operator-behind');
  });

  it('a window without a stream shows polled prices, and without an answer is not proven', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.addInitScript(LOST_STREAM);
    await page.reload();
    await page.getByText('polled', { exact: true }).waitFor();
    await page.getByText('The stream is reconnecting: too slow.').waitFor();
    await page.getByText(/^Meanwhile prices are polled every 5 s; these are \d+ s old\.$/).waitFor();
    const card = page.getByRole('region', { name: 'BTC 1 hour' });
    await card.getByText('proven', { exact: true }).waitFor();
    await expect
      .poll(() => card.getByText('¢').first().textContent(), { timeout: WAIT_MS_MAX })
      .toMatch(/\d¢/);
    await watched.inspect('live-unpushed');
    await page.route('**/app/live', (request) => request.fulfill({ status: 502, json: { detail: 'away' } }));
    watched.refusals.add('502 /app/live');
    await card.getByText('stale', { exact: true }).waitFor();
    expect(await page.getByText('proven', { exact: true }).count()).toBe(0);
    await watched.inspect('live-stale');
    await page.unroute('**/app/live');
    await card.getByText('proven', { exact: true }).waitFor();
  });

  it('a stopped service is not shown as healthy', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.route('**/app/state', (request) => request.fulfill({ status: 502, json: { detail: 'away' } }));
    watched.refusals.add('502 /app/state');
    await page.reload();
    await noticesOn(page).getByText('This page may be out of date. away').waitFor();
  });
});
