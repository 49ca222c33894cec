import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { Gap } from '../../web/src/api/schema.ts';
import { browserAbsent } from '../support/browser.ts';
import { recordedMarket } from '../support/recordedMarket.ts';
import { useStubbedPages } from '../support/stubbedPages.ts';

const SKIPPED = 'the page of a market (skipped without a build or Chromium)';
const RECORDING = recordedMarket('5m', '2026-11-20T12:00:00.000Z');
const END_MS = Date.parse(RECORDING.market.end_time);
/** Two minutes into the window. */
const AT_MS = Date.parse(RECORDING.market.start_time) + 120_000;
const CHANGES_MS = RECORDING.books.map(({ ts }) => Date.parse(ts));

const GAP: Gap = {
  ...{ gap_id: 'g1', cause: 'disconnected', feed: 'polymarket', repaired_by: null },
  ...{ start: '2026-11-20T12:02:00+00:00', end: '2026-11-20T12:02:01+00:00' },
  ...{ start_received: '2026-11-20T12:02:00+00:00', end_received: '2026-11-20T12:02:01+00:00' },
};
/** After it, an open window's page has asked again. */
const POLL_MS = 16_000;

const shownAt = (page: Page) => Number(new URL(page.url()).searchParams.get('at') ?? Number.NaN);
const tape = (page: Page) => page.getByRole('region', { name: 'Tape' });
const tapeCount = async (page: Page) => {
  const text = await tape(page).locator('caption').textContent();
  return Number(/^Trades, ([\d,]+) of/.exec(text ?? '')?.[1]?.replaceAll(',', ''));
};
const bestBid = (page: Page) =>
  page
    .getByRole('table', { name: 'Order book of Up' })
    .locator('tbody tr')
    .first()
    .locator('.up')
    .textContent();
/** As printed in the ladder. */
const bidAt = (timeMs: number) => {
  const book = RECORDING.books.findLast(({ ts }) => Date.parse(ts) <= timeMs);
  return `${Math.round((book?.yes_bids[0]?.price ?? 0) * 100)}¢`;
};

/**
 * Presses the mouse on a chart and moves it by a tenth of the chart's width.
 * @returns The width of the selection, in pixels; 0 if the chart moved away meanwhile, as it does while the page loads.
 */
async function dragAcross(page: Page, chart: Locator): Promise<number> {
  await page.mouse.up();
  const { x, y, width } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0 };
  await page.mouse.move(x + width * 0.5, y + 50);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.6, y + 60, { steps: 4 });
  // The chart marks the selection with its next frame.
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  return page.evaluate<number>("document.querySelector('.u-select').getBoundingClientRect().width");
}

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const pages = useStubbedPages();

  /** Opens the recorded window at a time. */
  async function open(atMs: number | null) {
    const watched = await pages.open();
    const path = pages.add(RECORDING);
    await watched.page.goto(atMs === null ? path : `${path}?at=${atMs}`);
    await watched.page.getByRole('table', { name: 'Order book of Up' }).waitFor();
    await watched.page.locator('.uplot canvas').nth(3).waitFor();
    await tape(watched.page).waitFor();
    return watched;
  }

  /** The rows before a time. */
  const rowsUntil = (untilMs: number) => {
    const before = <R extends { ts: string }>(rows: readonly R[]) =>
      rows.filter(({ ts }) => Date.parse(ts) < untilMs);
    return { books: before(RECORDING.books), trades: before(RECORDING.trades) };
  };

  /** From now on, the answers contain the rows before `untilMs`. */
  const record = (untilMs: number, status: 'open' | 'closed', gaps: readonly Gap[] = []) =>
    pages.add({ ...RECORDING, market: { ...RECORDING.market, status }, ...rowsUntil(untilMs), gaps });

  const pointCount = async (page: Page) => {
    const text = await page.getByRole('button', { name: /as CSV/ }).textContent();
    return Number(/(\d+) points/.exec(text ?? '')?.[1]);
  };

  it('shows one book, its cumulative depth, and the trades until the chosen time', async () => {
    const watched = await open(AT_MS);
    const { page } = watched;
    expect(await page.getByRole('table', { name: /^Order book/ }).count()).toBe(1);
    expect(await bestBid(page)).toBe(bidAt(AT_MS));
    await page
      .getByRole('img', { name: /^Cumulative depth of Up: .* shares bid, .* shares offered$/ })
      .waitFor();
    await page.getByText('Shares at a price (log scale)').waitFor();
    await page.getByRole('link', { name: 'First 10,000 points as JSON' }).waitFor();
    const passed = RECORDING.trades.filter(({ ts }) => Date.parse(ts) <= AT_MS).length;
    expect(await tapeCount(page)).toBe(passed);
    await watched.inspect('market-recorded');
    await page.getByRole('radiogroup', { name: 'Chart type' }).getByText('Candles').click();
    await watched.inspect('market-candles');
    await tape(page).getByRole('button').nth(2).click();
    await expect.poll(() => shownAt(page)).toBe(Date.parse(RECORDING.trades[passed - 3]?.ts ?? ''));
    await expect.poll(() => tapeCount(page)).toBe(passed - 2);
  });

  it('steps to the next recorded change and back by the arrow keys', async () => {
    const { page } = await open(AT_MS);
    const next = CHANGES_MS.find((time) => time > AT_MS) ?? 0;
    await page.locator('body').press('ArrowRight');
    await expect.poll(() => shownAt(page)).toBe(next);
    await expect.poll(() => bestBid(page)).toBe(bidAt(next));
    await page.locator('body').press('ArrowLeft');
    await expect.poll(() => shownAt(page)).toBe(CHANGES_MS.findLast((time) => time < next));
  });

  it('plays to the end and pauses by the space bar; book, tape and address follow', async () => {
    const { page } = await open(AT_MS);
    await page.getByLabel('Playback speed').first().click();
    await page.getByRole('option', { name: '300×' }).click();
    await page.getByRole('button', { name: 'Play (space)' }).click();
    await expect.poll(() => shownAt(page)).toBe(END_MS);
    await expect.poll(() => tapeCount(page)).toBe(RECORDING.trades.length);
    await expect.poll(() => bestBid(page)).toBe(bidAt(END_MS));
    await page.getByLabel('Playback speed').first().click();
    await page.getByRole('option', { name: '1×', exact: true }).click();
    await page.evaluate('document.activeElement.blur()');
    // At the end, playback begins again at the start.
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Pause (space)' }).waitFor();
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Play (space)' }).waitFor();
    await expect.poll(() => shownAt(page)).toBeLessThan(END_MS);
  });

  it('zooms all charts together by keyboard, and reads the values at the cursor', async () => {
    const { page } = await open(AT_MS);
    const chart = page.getByRole('slider', { name: 'Cursor: Implied and model probability of Up over time' });
    await chart.focus();
    expect(await chart.getAttribute('aria-valuetext')).toMatch(
      /^20 Nov, 12:02:00 UTC, Implied, Up [\d.]+¢, Model, Up [\d.]+.%$/,
    );
    const all = page.getByRole('button', { name: 'Show all' });
    expect(await all.count()).toBe(0);
    await chart.press('+');
    await expect.poll(() => all.count()).toBe(4);
    await chart.press('Escape');
    await expect.poll(() => all.count()).toBe(0);
    await chart.press('ArrowRight');
    const next = CHANGES_MS.find((time) => time > AT_MS) ?? 0;
    await expect.poll(async () => Number(await chart.getAttribute('aria-valuenow'))).toBe(next / 1000);
    await expect.poll(() => bestBid(page)).toBe(bidAt(next));
  });

  it('keeps its charts zoomed when new rows arrive, until “Show all” is clicked', async () => {
    const { page } = await pages.open();
    await page.clock.install({ time: END_MS - 20_000 });
    await page.goto(record(END_MS - 20_000, 'open'));
    const chart = page.locator('.u-over').first();
    await chart.waitFor();
    const all = page.getByRole('button', { name: 'Show all' });
    expect(await all.count()).toBe(0);
    const { width } = (await chart.boundingBox()) ?? { width: 0 };
    await expect.poll(() => dragAcross(page, chart)).toBeGreaterThan(width * 0.05);
    await page.mouse.up();
    await expect.poll(() => all.count()).toBe(4);
    expect(new URL(page.url()).searchParams.has('at')).toBe(false);
    record(END_MS - 5_000, 'open');
    await page.clock.runFor(POLL_MS);
    await expect.poll(() => pointCount(page)).toBe(rowsUntil(END_MS - 5_000).books.length);
    expect(await all.count()).toBe(4);
    await all.first().click();
    await expect.poll(() => all.count()).toBe(0);
  });

  it('adds new rows while its window is open, and the last ones after the window ended', async () => {
    const { page } = await pages.open();
    const heatColumns = async () => {
      const label = await page.getByRole('img', { name: /^Depth over time/ }).getAttribute('aria-label');
      return Number(/(\d+) books/.exec(label ?? '')?.[1]);
    };
    const shown = async () => [
      await pointCount(page),
      await tapeCount(page),
      await page.getByRole('table', { name: 'Gaps' }).locator('tbody tr').count(),
    ];
    const expected = (untilMs: number, gaps: number) => {
      const { books, trades } = rowsUntil(untilMs);
      return [books.length, trades.length, gaps];
    };
    await page.clock.install({ time: END_MS - 20_000 });
    await page.goto(record(END_MS - 20_000, 'open'));
    await page.getByText('No gaps: every change of this market’s book is recorded and proven.').waitFor();
    await expect.poll(shown).toEqual(expected(END_MS - 20_000, 0));
    const columns = await heatColumns();
    record(END_MS - 5_000, 'closed', [GAP]);
    await page.clock.runFor(POLL_MS);
    await expect.poll(shown).toEqual(expected(END_MS - 5_000, 1));
    await expect.poll(heatColumns).toBeGreaterThan(columns);
    record(END_MS, 'closed', [GAP]);
    await page.clock.runFor(POLL_MS);
    await expect.poll(shown).toEqual(expected(END_MS, 1));
  });

  it('requests a resolved market again until nothing of it changes any more', async () => {
    const { page } = await pages.open();
    const path = pages.add(RECORDING);
    let asked = 0;
    await page.route(`**/app${path}`, (route) => {
      asked += 1;
      return route.fallback();
    });
    await page.clock.install({ time: END_MS + 10 * 60_000 });
    await page.goto(path);
    await page.getByRole('table', { name: 'Order book of Up' }).waitFor();
    await page.clock.runFor(POLL_MS);
    await expect.poll(() => asked).toBeGreaterThan(1);
    await page.clock.runFor(11 * 60_000);
    const askedLater = async () => {
      const before = asked;
      await page.clock.runFor(4 * POLL_MS);
      await page.evaluate('document.title');
      return asked - before;
    };
    await expect.poll(askedLater).toBe(0);
  });

  it('shows no coverage of a window that has not begun', async () => {
    const { page } = await pages.open();
    const future = recordedMarket('1h', '2099-01-01T00:00:00.000Z');
    await page.goto(
      pages.add({
        ...future,
        market: { ...future.market, status: 'open', coverage: 0 },
        books: [],
        trades: [],
      }),
    );
    const recorded = page.getByRole('term').filter({ hasText: 'Coverage' }).locator('..');
    await recorded.getByText('not begun', { exact: true }).waitFor();
    expect(await recorded.textContent()).toBe('Coveragenot begun');
  });

  it('shows depth, basis and spread of a perpetual', async () => {
    const watched = await pages.open();
    const { page } = watched;
    const now = Date.now();
    const levels = (best: number, way: 1 | -1) =>
      Array.from({ length: 30 }, (_, level) => [best + way * level * 0.5, 0.1 + (level % 7) * 0.25]);
    pages.perpBooks.push(
      ...Array.from({ length: 120 }, (_, index) => {
        const mid = 90_000 + Math.round(100 * Math.sin(index / 9));
        return {
          ...{ timestamp: new Date(now - (120 - index) * 10_000).toISOString(), update_id: index },
          ...{ bids: levels(mid - 0.5, -1), asks: levels(mid + 0.5, 1), n_bids: 30, n_asks: 30 },
          ...{ best_bid: mid - 0.5, best_ask: mid + 0.5 },
        };
      }),
    );
    await page.goto('/perpetuals');
    await page.getByRole('table', { name: 'BTC perpetual' }).waitFor();
    await page.getByRole('img', { name: 'Basis of the BTC perpetual over time, in basis points' }).waitFor();
    await page.getByRole('img', { name: 'Spread of the BTC perpetual over time' }).waitFor();
    await page.getByRole('img', { name: /^Cumulative depth of the BTC perpetual/ }).waitFor();
    await watched.inspect('perpetuals-basis');
  });
});
