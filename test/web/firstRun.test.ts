import { execFileSync } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { browserAbsent, openBrowser, WatchedPage } from '../support/browser.ts';
import { heading } from '../support/demoPages.ts';
import { startCommand } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';

describe.skipIf(browserAbsent)('a first run (skipped without a build or Chromium)', () => {
  it('leads to a sign-up, a key and a first curl; who comes later signs in', async () => {
    const environment = { UNDERROUND_DATA_DIR: temporaryDirectory(), ...VENUES_OFF };
    const { url } = await startCommand(['serve'], environment);
    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const first = await WatchedPage.open(browser, url);
    const { page } = first;
    await page.goto('/');
    await heading(page, 'Sign up');
    await first.inspect('sign-up');
    await page.getByLabel('E-mail address').fill('ann@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill('correct horse battery');
    await page.getByRole('button', { name: 'Make an account' }).click();
    await heading(page, 'Welcome');
    await page.getByText('you are the operator').waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    const line = await page.getByLabel('first request', { exact: true }).textContent();
    const answer = JSON.parse(execFileSync('sh', ['-c', line ?? ''], { encoding: 'utf8' }));
    expect(answer).toMatchObject({ markets: [], count: 0 });
    await first.close();
    const second = await WatchedPage.open(browser, url);
    await second.page.goto('/');
    await heading(second.page, 'Sign in');
    await second.close();
  });
});
