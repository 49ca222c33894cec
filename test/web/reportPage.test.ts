import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reportPage } from '../../src/report/html/page.ts';
import { reportOf } from '../../src/report/runReport.ts';
import { browserAbsent, WatchedPage } from '../support/browser.ts';
import { openBrowser } from '../support/chromium.ts';
import { RUN_CONTEXT, randomRun } from '../support/runResults.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const NAME = `<script>document.title = 'run'</script>`;

let browser: Browser;
beforeAll(async () => {
  if (!browserAbsent) browser = await openBrowser();
});
afterAll(() => browser?.close());

async function openReport(): Promise<WatchedPage> {
  const file = join(temporaryDirectory(), 'report.html');
  const latencyCurve = [0, 50, 600].map((ms) => ({
    ...{ latency_ms: ms, total_pnl: 100 - ms, trades_total: 50, fill_rate: 0.5 },
  }));
  const report = reportOf(randomRun('browser', { markets: 250 }), {
    ...RUN_CONTEXT,
    name: NAME,
    latencyCurve,
  });
  writeFileSync(file, reportPage(report));
  const watched = await WatchedPage.open(browser, 'file://');
  await watched.page.goto(pathToFileURL(file).href);
  return watched;
}

describe.skipIf(browserAbsent)('a report opened from disk (skipped without a browser or a build)', () => {
  test('is readable in both themes and on a phone, and breaks no rule of its own', async () => {
    const watched = await openReport();
    expect(await watched.page.title()).toBe(`${NAME} – backtest report`);
    await watched.inspect('report');
    await watched.close();
  });

  test('sorts its trades by a heading, in both directions', async () => {
    const watched = await openReport();
    const { page } = watched;
    const results = () =>
      page.$$eval('table.trades tbody td:last-child', (cells) =>
        cells.map(({ dataset }) => Number(dataset.v)),
      );
    const sorted = [...(await results())].sort((a, b) => a - b);
    await page.getByRole('button', { name: 'P&L' }).click();
    expect(await results()).toEqual(sorted);
    await page.getByRole('button', { name: 'P&L' }).click();
    expect(await results()).toEqual(sorted.reverse());
    expect(await page.getByRole('columnheader', { name: 'P&L' }).last().getAttribute('aria-sort')).toBe(
      'descending',
    );
    await watched.close();
  });

  test('reads a value and its time off the curves', async () => {
    const watched = await openReport();
    await watched.page.locator('svg.equity').hover();
    await expect
      .poll(() => watched.page.locator('svg.underwater .mark text').textContent())
      .toMatch(/^(?:−?[\d.]+) % {2}2026-11-20 \d\d:\d\d:\d\d$/);
    await watched.close();
  });
});
