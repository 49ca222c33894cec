import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { browserAbsent, openContext, WatchedPage } from '../support/browser.ts';
import { openBrowser } from '../support/chromium.ts';
import { heading, historyRecorded } from '../support/demoPages.ts';
import { startCommand } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

describe.skipIf(browserAbsent)(
  'the demo while it records history (skipped without a build or Chromium)',
  () => {
    it('signs in by its link, shows live markets, and a progress bar until all is recorded', async () => {
      const environment = { UNDERROUND_DATA_DIR: path.join(temporaryDirectory(), 'data') };
      const demo = await startCommand(['demo', '--hours', '0.5'], environment);
      const link = /http\S+\/sign-in\?link=\S+/.exec(demo.out())?.[0] ?? '';
      const browser = await openBrowser();
      onTestFinished(() => browser.close());
      const watched = await WatchedPage.open(browser, demo.url);
      const { page } = watched;
      // Delayed until the test has checked: the history may be complete before the page loads.
      const progress = { share: 0.424, hours: 0.33, failure: null };
      await page.route('**/app/state', async (request) => {
        const answer = await request.fetch();
        await request.fulfill({ json: { ...(await answer.json()), history: progress } });
      });
      await page.goto(link);
      await heading(page, 'Live');
      expect(page.url()).not.toContain('link=');
      await page.getByText('simulated', { exact: true }).waitFor();
      const bar = page.getByRole('region', { name: 'Simulated history' });
      await bar.getByText('Recording simulated history: 42 % of 0.33 h').waitFor();
      expect(await bar.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('42');
      await page.getByRole('region', { name: 'BTC 5 min' }).waitFor();
      await watched.inspect('history-filling');
      await page.getByRole('link', { name: 'Calibration' }).click();
      await bar.getByText('Figures for past times are incomplete').waitFor();
      await historyRecorded(demo.url);
      // Handlers under way still answer.
      await page.unrouteAll({ behavior: 'wait' });
      await bar.waitFor({ state: 'detached' });
      await watched.close();
      const second = await WatchedPage.open(browser, demo.url);
      second.refusals.add('403 /app/sign-in-link');
      await second.page.goto(link);
      await second.page.getByText('This sign-in link was used or is too old').waitFor();
      await second.page.getByRole('button', { name: 'Sign in' }).waitFor();
      await second.close();
    });

    it('shows the badge of simulated data before the first request', async () => {
      const environment = { UNDERROUND_DATA_DIR: path.join(temporaryDirectory(), 'data') };
      const demo = await startCommand(['demo', '--hours', '0'], environment);
      const browser = await openBrowser();
      onTestFinished(() => browser.close());
      const { page, close } = await badgePage(browser, demo.url);
      await page.getByText('simulated', { exact: true }).waitFor();
      await close();
    });
  },
);

/** The sign-in page of a service that answers only requests for the page's own files. */
async function badgePage(browser: Awaited<ReturnType<typeof openBrowser>>, url: string) {
  const context = await openContext(browser, url);
  const page = await context.newPage();
  await page.route(/\/(?:livez|health|app\/)/, () => {});
  await page.goto('/sign-in');
  return { page, close: () => context.close() };
}
