import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { useDemoPages } from '../support/demoPages.ts';

const SKIPPED = 'the page of a market (skipped without a build or Chromium)';

interface Found {
  readonly market_id: string;
  readonly start_time: string;
  readonly end_time: string;
}

const shownAt = (page: Page) => Number(new URL(page.url()).searchParams.get('at') ?? Number.NaN);
const tapeCount = async (page: Page) => {
  const text = await page.getByRole('region', { name: 'Tape' }).locator('caption').textContent();
  return Number(/^Trades, ([\d,]+) of/.exec(text ?? '')?.[1]?.replaceAll(',', ''));
};

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const dashboard = useDemoPages();

  async function marketOf(page: Page, query: string, isWanted: (market: Found) => boolean): Promise<Found> {
    const { markets } = await (await page.request.get(`/app/markets?ticker=BTC&limit=50&${query}`)).json();
    const found = (markets as Found[]).find(isWanted);
    if (found === undefined) throw new Error(`no market of ${query}`);
    return found;
  }

  const endsBefore = (market: Found) => Date.parse(market.end_time) < Date.now();

  /** Opens a window that was recorded to its end, two minutes into it. */
  async function openRecorded(page: Page): Promise<{ market: Found; atMs: number }> {
    const market = await marketOf(page, 'event_type=5m&status=resolved', endsBefore);
    const atMs = Date.parse(market.start_time) + 120_000;
    await page.goto(`/markets/${market.market_id}?at=${atMs}`);
    await page.getByRole('table', { name: 'Order book of Up' }).waitFor();
    await page.locator('.uplot canvas').nth(3).waitFor();
    return { market, atMs };
  }

  it('shows one book, its cumulative depth, and the trades until the chosen time', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    const { market } = await openRecorded(page);
    expect(await page.getByRole('table', { name: /^Order book/ }).count()).toBe(1);
    await page
      .getByRole('img', { name: /^Cumulative depth of Up: .* shares bid, .* shares offered$/ })
      .waitFor();
    await page.getByText('Shares at a price (log scale)').waitFor();
    const early = await tapeCount(page);
    await page.goto(`/markets/${market.market_id}`);
    await expect.poll(() => tapeCount(page)).toBeGreaterThan(early);
    await watched.inspect('market-recorded');
    await page.getByRole('radiogroup', { name: 'Chart type' }).getByText('Candles').click();
    await watched.inspect('market-candles');
    const last = page.getByRole('region', { name: 'Tape' }).getByRole('button').nth(2);
    await last.click();
    await expect.poll(() => shownAt(page)).toBeLessThan(Date.parse(market.end_time));
  });

  it('steps to the next recorded change and back by the arrow keys', async () => {
    const { page } = await dashboard.signedIn();
    const { market, atMs } = await openRecorded(page);
    const query = `market_id=${market.market_id}&depth=1&limit=1`;
    const bookAt = async (range: string): Promise<number> => {
      const { snapshots } = await (await page.request.get(`/app/snapshots?${query}&${range}`)).json();
      return Date.parse(snapshots[0].ts);
    };
    const next = await bookAt(`start=${new Date(atMs + 1).toISOString()}`);
    await page.locator('body').press('ArrowRight');
    await expect.poll(() => shownAt(page)).toBe(next);
    const before = await bookAt(`end=${new Date(next).toISOString()}&order=desc`);
    await page.locator('body').press('ArrowLeft');
    await expect.poll(() => shownAt(page)).toBe(before);
  });

  it('plays and pauses by the space bar; tape and address follow', async () => {
    const { page } = await dashboard.signedIn();
    const { market, atMs } = await openRecorded(page);
    const trades = await tapeCount(page);
    await page
      .getByRole('textbox', { name: 'Playback speed' })
      .or(page.getByLabel('Playback speed'))
      .first()
      .click();
    await page.getByRole('option', { name: '300×' }).click();
    await page.getByRole('button', { name: 'Play (space)' }).click();
    await page.getByRole('button', { name: /^(Pause|Play) \(space\)$/ }).blur();
    // At the end of the recording it pauses on its own.
    await page.getByRole('button', { name: 'Play (space)' }).waitFor();
    await expect.poll(() => shownAt(page)).toBe(Date.parse(market.end_time));
    expect(shownAt(page)).toBeGreaterThan(atMs);
    await expect.poll(() => tapeCount(page)).toBeGreaterThanOrEqual(trades);
    await page.locator('body').press(' ');
    await page.getByRole('button', { name: 'Pause (space)' }).waitFor();
    await page.locator('body').press(' ');
    await page.getByRole('button', { name: 'Play (space)' }).waitFor();
  });

  it('zooms all charts together by keyboard, and reads the values at the cursor', async () => {
    const { page } = await dashboard.signedIn();
    await openRecorded(page);
    const chart = page.getByRole('slider', { name: 'Cursor: Implied and model probability of Up over time' });
    await chart.focus();
    expect(await chart.getAttribute('aria-valuetext')).toMatch(
      /^\d+ \w{3}, \d\d:\d\d:\d\d UTC, Implied, Up [\d.]+¢|–, Model, Up/,
    );
    const all = page.getByRole('button', { name: 'Show all' });
    expect(await all.count()).toBe(0);
    await chart.press('+');
    await expect.poll(() => all.count()).toBe(4);
    await chart.press('Escape');
    await expect.poll(() => all.count()).toBe(0);
    const before = await chart.getAttribute('aria-valuenow');
    await chart.press('ArrowRight');
    await expect.poll(() => chart.getAttribute('aria-valuenow')).not.toBe(before);
  });

  it('shows no coverage of a window that has not begun', async () => {
    const { page } = await dashboard.signedIn();
    const market = await marketOf(
      page,
      'event_type=1h&status=open',
      ({ start_time }) => Date.parse(start_time) > Date.now(),
    );
    await page.goto(`/markets/${market.market_id}`);
    await page.getByText('not begun', { exact: true }).waitFor();
  });

  it('shows depth, basis and spread of a perpetual', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.goto('/perpetuals');
    await page.getByRole('table', { name: 'BTC perpetual' }).waitFor();
    await page.getByRole('img', { name: 'Basis of the BTC perpetual over time, in basis points' }).waitFor();
    await page.getByRole('img', { name: 'Spread of the BTC perpetual over time' }).waitFor();
    await page.getByRole('img', { name: /^Cumulative depth of the BTC perpetual/ }).waitFor();
    await watched.inspect('perpetuals-basis');
  });
});
