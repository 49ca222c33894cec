import { describe, expect, it } from 'vitest';
import { clockAheadMs, clockText } from '../../web/src/live/clockDifference.ts';
import { browserAbsent } from '../support/browser.ts';
import { liveWindow } from '../support/liveWindow.ts';
import { recordedMarket } from '../support/recordedMarket.ts';
import { sourceFiles } from '../support/sourceFiles.ts';
import { useStubbedPages } from '../support/stubbedPages.ts';

const SKIPPED = 'pages on a machine with a wrong clock (skipped without a build or Chromium)';
const NOW = Date.UTC(2026, 10, 20, 12);
const AS_OF = '2026-11-20T12:00:00.000+00:00';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('the difference between the clocks of service and reader', () => {
  it.each([
    ['a quick answer', 20, 0],
    ['a slow answer', 5_000, 0],
    ['a clock that is a little behind', -5_000, 0],
    ['a clock that is ahead', 5_001, -5_001],
    ['a clock that is behind', -3 * MINUTE_MS, 3 * MINUTE_MS],
  ])('%s', (_what, readerAheadMs, ahead) => {
    expect(clockAheadMs(AS_OF, NOW + readerAheadMs)).toBe(ahead);
  });

  it('is described in one sentence', () => {
    expect(clockText(0)).toBeNull();
    expect(clockText(3 * MINUTE_MS)).toBe(
      'The clock of this machine is 3 min behind the service’s. This page goes by the service’s.',
    );
    expect(clockText(-7_000)).toContain('is 7.0 s ahead of');
  });
});

it('a page that reads the clock of this machine knows the difference', () => {
  const readers = sourceFiles('web/src/pages').filter(({ text }) => /\bDate\.now\(|\buseNow\(/.test(text));
  const ignorant = readers.filter(({ text }) => !/\b(?:useClockAhead|clockAheadMs)\(/.test(text));
  // The text of a program that a reader copies.
  expect(ignorant.map(({ path }) => path)).toEqual(['web/src/pages/webhooks/snippets.ts']);
});

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const pages = useStubbedPages();

  it('show the window in play and its time left by the service’s clock', async () => {
    const { page } = await pages.open();
    await page.addInitScript('window.Worker = class { postMessage() {} terminate() {} }');
    const json = { as_of: AS_OF, windows: [liveWindow(NOW)] };
    await page.route('**/app/live', (route) => route.fulfill({ json }));
    await page.routeWebSocket('**/app/arb/board', () => undefined);
    const none = { rows: [], count: 0, next_cursor: null };
    await page.route('**/app/arb/audit?**', (route) => route.fulfill({ json: none }));
    await page.clock.setFixedTime(NOW + 10 * MINUTE_MS);
    await page.goto('/live');
    const card = page.getByRole('region', { name: 'BTC 5 min' });
    await card.getByText('3:00 left').waitFor();
    await card.getByText('proven', { exact: true }).waitFor();
    await page.getByText('The clock of this machine is 10 min ahead of the service’s.').waitFor();
  });

  it('show the newest book of a perpetual by the service’s clock', async () => {
    const { page } = await pages.open();
    pages.clockAheadMs = -5 * HOUR_MS;
    pages.perpBooks.push({
      ...{ timestamp: AS_OF, update_id: 7, n_bids: 1, n_asks: 1, best_bid: 100_000, best_ask: 100_001 },
      ...{ bids: [[100_000, 1]], asks: [[100_001, 2]] },
    });
    await page.clock.setFixedTime(NOW + 5 * HOUR_MS);
    await page.goto('/perpetuals');
    await page.getByRole('table', { name: 'BTC perpetual' }).waitFor();
  });

  it('show an open market until now by the service’s clock', async () => {
    const { page } = await pages.open();
    pages.clockAheadMs = 5 * HOUR_MS;
    const recording = recordedMarket('5m', '2026-11-20T11:58:00.000Z');
    const books = recording.books.filter(({ ts }) => Date.parse(ts) < NOW);
    const market = { ...recording.market, status: 'open', outcome: null } as const;
    await page.clock.install({ time: NOW - 5 * HOUR_MS });
    await page.goto(pages.add({ ...recording, market, books }));
    const moment = page.getByRole('slider', { name: 'Moment of the book' });
    await expect
      .poll(async () => Number(await moment.getAttribute('aria-valuenow')))
      .toBeGreaterThanOrEqual(NOW);
    await page.getByRole('table', { name: 'Order book of Up' }).waitFor();
    await page.getByText('open', { exact: true }).waitFor();
  });
});
