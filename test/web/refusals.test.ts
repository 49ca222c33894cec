import { describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { recordedMarket } from '../support/recordedMarket.ts';
import { useStubbedPages } from '../support/stubbedPages.ts';

const SKIPPED = 'refused requests (skipped without a build or Chromium)';
const NOTHING = { status: 404, json: { detail: 'Nothing has this id' } };
/** Longer than the interval of every poll. */
const LATER_MS = 60_000;
/** How long the dashboard waits for an answer. */
const ANSWER_MS_MAX = 90_000;

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const pages = useStubbedPages();

  it.each([
    { path: '/markets/0xdead', request: '/app/markets/0xdead' },
    { path: '/backtests/none', request: '/app/backtest/none' },
    { path: '/paper/none', request: '/app/paper/strategies/none' },
    { path: '/webhooks/none', request: '/app/webhooks/none' },
  ])('$path stays on its error page: what does not exist is not requested again', async (address) => {
    const watched = await pages.open();
    const { page } = watched;
    let asked = 0;
    await page.route(`**${address.request}`, (route) => {
      asked += 1;
      return route.fulfill(NOTHING);
    });
    watched.refusals.add(`404 ${address.request}`);
    await page.clock.install();
    await page.goto(address.path);
    const failure = page.getByRole('alert').filter({ hasText: 'Not found' });
    await failure.getByText('Nothing has this id').waitFor();
    await failure.getByText('It may have been removed, or the address is mistyped.').waitFor();
    await page.clock.runFor(LATER_MS);
    expect([asked, await failure.count()]).toEqual([1, 1]);
    await failure.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => asked).toBe(2);
    await failure.waitFor();
  });

  it('does not request a perpetual again that the service refused', async () => {
    const watched = await pages.open();
    const { page } = watched;
    await page.route('**/app/perp/depth?**', (route) => route.fulfill(NOTHING));
    watched.refusals.add('404 /app/perp/depth');
    await page.goto('/perpetuals');
    await expect.poll(() => page.getByRole('alert').filter({ hasText: 'Not found' }).count()).toBe(2);
    expect(await page.getByLabel('Loading', { exact: true }).count()).toBe(0);
  });

  it('gives up a request that the service never answers, and can ask again', async () => {
    const { page } = await pages.open();
    let asked = 0;
    await page.route('**/app/markets/0xdead', () => {
      asked += 1;
    });
    await page.clock.install();
    await page.goto('/markets/0xdead');
    await expect.poll(() => asked).toBe(1);
    await page.clock.runFor(ANSWER_MS_MAX);
    const failure = page.getByRole('alert').filter({ hasText: 'has not answered for 90 s' });
    await failure.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => asked).toBe(2);
  });

  it('says which part of a market cannot be loaded: its trades, its gaps, its points', async () => {
    const watched = await pages.open();
    const { page } = watched;
    const path = pages.add(recordedMarket('5m', '2026-11-20T12:00:00.000Z'));
    const id = path.split('/').at(-1);
    for (const part of ['/app/trades', '/app/gaps', `/app/markets/${id}/timeseries`]) {
      await page.route(`**${part}?**`, (route) => route.fulfill(NOTHING));
      watched.refusals.add(`404 ${part}`);
    }
    await page.goto(path);
    await page.getByRole('table', { name: 'Order book of Up' }).waitFor();
    const gaps = page.getByRole('region', { name: 'Gaps in the recording' });
    await gaps.getByRole('alert').getByText('Nothing has this id').waitFor();
    expect(await gaps.textContent()).not.toContain('No gaps');
    const recording = page.getByRole('region', { name: 'Recording', exact: true });
    await expect.poll(() => recording.getByRole('button', { name: 'Try again' }).count()).toBe(2);
    expect(await page.getByLabel('Loading', { exact: true }).count()).toBe(0);
    await page.unroute('**/app/trades?**');
    await recording.getByRole('button', { name: 'Try again' }).last().click();
    await page.getByRole('region', { name: 'Tape' }).waitFor();
  });
});
