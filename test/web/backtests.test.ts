import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { useDemoPages } from '../support/demoPages.ts';

const SKIPPED = 'runs, sweeps and comparisons in a browser (skipped without a build or Chromium)';

async function runBacktest(page: Page, threshold: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Threshold, 0 to 1' }).fill(threshold);
  await page.getByRole('button', { name: 'Run backtest' }).click();
  await page.getByRole('region', { name: 'Verdict' }).waitFor();
}

const requestOn = async (page: Page) =>
  JSON.parse((await page.getByLabel('The request').textContent()) ?? '') as object;

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const dashboard = useDemoPages();

  it('show the verdict, both curves, the histogram and the trades with a CSV', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.goto('/backtests');
    await page.getByText(/^Tier \w+: up to [\d,]+ markets in a backtest/).waitFor();
    await runBacktest(page, '0.6');
    await page.getByRole('img', { name: 'P&L over time' }).waitFor();
    await page.getByRole('img', { name: 'Drawdown over time' }).waitFor();
    await page.getByRole('img', { name: /^Trades by P&L: \d+ of \d+ gained$/ }).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download all as CSV' }).click();
    expect((await download).suggestedFilename()).toMatch(/^bt_\w+\.csv$/);
    await watched.inspect('run');
  });

  it('take execution, several series, stress, and give all of it back to be changed', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.goto('/backtests');
    await page.getByRole('button', { name: 'New backtest' }).click();
    await page.getByRole('textbox', { name: 'Threshold, 0 to 1' }).fill('0.55');
    await page.getByLabel('Purchases').selectOption('maker');
    await page.getByRole('textbox', { name: 'Price above best bid (¢)' }).fill('1');
    await page.getByRole('textbox', { name: 'Cancel after (s)' }).fill('20');
    await page.getByLabel('Cancelled orders were').selectOption('optimistic');
    await page.getByRole('group', { name: 'Underlyings' }).getByText('ETH').click();
    await page.getByText(/^Also under stress/).click();
    await page.getByRole('textbox', { name: 'Annulled share, 0 to 1' }).fill('0.1');
    await watched.inspect('backtest-form');
    await page.getByRole('button', { name: 'Run backtest' }).click();
    await page.getByRole('region', { name: 'Verdict' }).waitFor();
    const request = await requestOn(page);
    expect(request).toMatchObject({
      strategy: {
        execution: { entry: 'maker', offset: 0.01, timeout_s: 20, queue_model: 'optimistic' },
      },
      universe: { tickers: ['BTC', 'ETH'], event_types: ['5m'] },
      params: { stress: { void_share: 0.1 } },
    });
    await page.getByRole('link', { name: 'Change and run again' }).click();
    await page.getByText('JSON', { exact: true }).click();
    const given = JSON.parse(await page.getByLabel('Request body').inputValue()) as object;
    expect({ start: null, ...given }).toEqual(request);
  });

  it('are listed with figures that differ, and two are compared market by market', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.goto('/backtests');
    const rows = page.getByRole('table', { name: 'Backtests' }).locator('tbody tr');
    await rows.nth(1).waitFor();
    expect(await rows.nth(0).innerText()).toMatch(/buy Up below 55\.0¢, maker at bid \+1\.0¢ · \$10/);
    expect(await rows.nth(1).innerText()).toMatch(/buy Up below 60\.0¢ · \$10/);
    expect(await rows.nth(1).innerText()).toMatch(/[+−]?\$\d+\.\d\d/);
    await rows.nth(0).getByRole('checkbox').check();
    await rows.nth(1).getByRole('checkbox').check();
    await watched.inspect('backtest-list');
    await page.getByRole('link', { name: 'Compare the two chosen runs' }).click();
    const comparison = page.getByRole('region', { name: 'Comparison' });
    await comparison.getByText('p-value').waitFor();
    await comparison.getByText('Nothing can be concluded', { exact: false }).waitFor();
    await watched.inspect('comparison');
    await comparison.getByLabel('Other run').selectOption('');
    await expect.poll(() => new URL(page.url()).searchParams.has('with')).toBe(false);
  });

  it('of a sweep are a heat map with other figures; a cell opens as a backtest', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.goto('/backtests');
    await page.getByRole('button', { name: 'New backtest' }).click();
    await page.getByRole('button', { name: 'Sweep a parameter' }).click();
    await page.getByRole('group', { name: 'First axis' }).getByLabel('Steps').fill('3');
    await page.getByRole('button', { name: 'Run sweep' }).click();
    await page.getByRole('region', { name: 'Verdict' }).waitFor();
    await page.getByText('P&L by ', { exact: false }).waitFor();
    await page.getByRole('radiogroup', { name: 'Figure of the cells' }).getByText('Trades').click();
    await page.getByText('Trades by ', { exact: false }).waitFor();
    await page.getByRole('img', { name: /^Colours: 0 to \d+$/ }).waitFor();
    const cells = page.getByRole('table').locator('td button');
    expect(await cells.count()).toBe(3);
    await cells.nth(2).focus();
    await page.keyboard.press('Enter');
    await page
      .getByRole('region', { name: 'Opened cell' })
      .getByText(/ell: threshold 0.5$/)
      .waitFor();
    await watched.inspect('heat-map');
    await page.getByRole('button', { name: 'Run this cell as a backtest' }).click();
    // The page of the sweep has a verdict and a request too.
    await expect.poll(() => requestOn(page)).toMatchObject({ strategy: { threshold: 0.5 } });
  });

  it('under way show their progress in numbers with the time left', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.goto('/backtests');
    const first = page.getByRole('table', { name: 'Backtests' }).getByRole('link').first();
    await first.waitFor();
    await page.route('**/app/backtest/bt_*', async (request) => {
      const job = (await (await request.fetch()).json()) as object;
      const started = new Date(Date.now() - 30_000).toISOString().replace('Z', '+00:00');
      const running = { status: 'running', progress: 0.25, started_at: started, completed_at: null };
      await request.fulfill({ json: { ...job, ...running, result: null } });
    });
    await first.click();
    const progress = page.getByRole('region', { name: 'Progress' });
    await progress.getByText('25 %', { exact: true }).waitFor();
    await progress
      .getByText(/^3\d s so far, about (?:9\d|1\d\d) s left$|so far, about 2 min left$/)
      .waitFor();
    await progress.getByText(/^About \d+ of at most \d+ markets are replayed/).waitFor();
    await watched.inspect('backtest-running');
  });
});
