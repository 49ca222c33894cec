import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { LiveWindow } from '../../web/src/api/schema.ts';
import { browserAbsent } from '../support/browser.ts';
import { useDemoPages } from '../support/demoPages.ts';
import { liveWindow } from '../support/liveWindow.ts';

const SKIPPED = 'the cards of Live in a browser (skipped without a build or Chromium)';
/** The stream is read in a worker, where no script of a page runs: this one never says anything. */
const LOST_STREAM = 'window.Worker = class { postMessage() {} terminate() {} }';

/** One window in play, as the service answers from memory. */
function answered(part: Partial<LiveWindow>) {
  const now = Date.now();
  const time = (minutes: number) => new Date(now + minutes * 60_000).toISOString().replace('Z', '+00:00');
  const hour = {
    market_type: '1h',
    strike_source: 'official',
    start_time: time(-20),
    end_time: time(40),
  } as const;
  return { as_of: time(0), windows: [liveWindow(now, { ...hour, ...part })] };
}

async function show(page: Page, part: Partial<LiveWindow>): Promise<void> {
  await page.unroute('**/app/live');
  await page.route('**/app/live', (request) => request.fulfill({ json: answered(part) }));
  await page.reload();
}

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const dashboard = useDemoPages();

  it('are complete from memory, without the stream and the store', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.addInitScript(LOST_STREAM);
    // The store never answers.
    await page.route('**/app/underlying*', () => undefined);
    await show(page, {});
    const card = page.getByRole('region', { name: 'BTC 1 hour' });
    await card.getByText('+6.3¢').waitFor();
    const text = (await card.innerText()).replaceAll(/\s+/g, ' ');
    for (const part of ['51.0 %', '60.0 %', 'buy Up at 52.0¢', '$100,000.00', '+$100.00', '+1.20 σ']) {
      expect(text).toContain(part);
    }
    // Each answer's window ends 40 minutes after the answer.
    expect(text).toMatch(/\b(?:39:\d\d|40:0\d) left/);
    const levels = card.getByRole('table', { name: 'Best levels of Up' }).locator('tbody tr');
    expect(await levels.first().innerText()).toMatch(/10\.0\s+50\.0¢\s+52\.0¢\s+20\.0/);
    expect(await levels.count()).toBe(3);
  });

  it('have a reason for each missing figure, and say which lengths have no window', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.addInitScript(LOST_STREAM);
    await show(page, { strike_price: null, strike_source: null, book: null, model: null });
    const card = page.getByRole('region', { name: 'BTC 1 hour' });
    await card.getByText('start not recorded, not published yet').waitFor();
    await card.getByText('No book received yet.', { exact: false }).waitFor();
    expect(await card.getByText('needs the strike').count()).toBe(2);
    expect(await card.getByText('–', { exact: true }).count()).toBe(0);
    await page
      .getByRole('region', { name: 'BTC 5 min' })
      .getByText(/^No open window of this length/)
      .waitFor();
    await watched.inspect('live-reasons');
  });

  it('are followed by open opportunities and the signals of the last hour', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.getByRole('region', { name: 'Open opportunities' }).waitFor();
    const hour = page.getByRole('region', { name: 'Signals of the last hour' });
    await hour.getByText(/^The newest one is|^No signal was detected/).waitFor();
    await page.getByRole('region', { name: 'BTC Daily' }).getByText('Model, Up').waitFor();
    await watched.inspect('live');
  });
});
