import { execFileSync } from 'node:child_process';
import type { Page } from 'playwright-core';
import { encode } from 'uqr';
import { describe, expect, it, onTestFinished } from 'vitest';
import { totpCode, totpStep } from '../../src/accounts/users/totp.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { fromBase32 } from '../support/base32.ts';
import { browserAbsent, WatchedPage } from '../support/browser.ts';
import { openBrowser } from '../support/chromium.ts';
import { heading } from '../support/demoPages.ts';
import { eventually, setupTokenOf, startCommand } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';

/** The QR code has the link's text, and is black on white. */
async function inspectCode(page: Page): Promise<void> {
  const uri = (await page.getByRole('link', { name: 'this link' }).getAttribute('href')) ?? '';
  const code = page.getByRole('img', { name: 'QR code for the app' });
  const drawn = (await code.locator('path').getAttribute('d')) ?? '';
  const { data } = encode(uri, { border: 4 });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`${x} ${y}`] : [])));
  expect(drawn.match(/\d+ \d+/g)).toEqual(dark);
  const fills = ['rect', 'path'].map((name) => code.locator(name).getAttribute('fill'));
  expect(await Promise.all(fills)).toEqual(['#ffffff', '#000000']);
}

/** From the operator's page to a sign-in that takes a recovery code. */
async function enableOneTimeCodes(watched: WatchedPage): Promise<void> {
  const { page } = watched;
  watched.refusals.add('401 /app/sign-in').add('403 /app/second-factor/confirm');
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Operator' }).click();
  await page.getByRole('link', { name: 'Enable one-time codes' }).click();
  await page.getByRole('button', { name: 'Set up one-time codes' }).click();
  const secret = fromBase32((await page.getByLabel('authenticator key').textContent()) ?? '');
  await inspectCode(page);
  await watched.inspect('one-time-codes');
  await page.getByRole('textbox', { name: 'Password', exact: true }).fill('correct horse battery');
  const recovery = page.getByLabel('recovery codes');
  // Retries with a newer code if the page was slower than a code's validity.
  const enable = async () => {
    await page.getByLabel('Code from the app').fill(totpCode(secret, totpStep(systemClock.now())));
    await page.getByRole('button', { name: 'Enable one-time codes' }).click();
    await page.getByText(/One-time codes are enabled|The code is wrong/).waitFor();
    return await recovery.isVisible();
  };
  await eventually('one-time codes', enable);
  const [code = ''] = ((await recovery.textContent()) ?? '').split('\n');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await heading(page, 'Sign in');
  // After a sign-out the address has no return page: neither the first of this visit nor the last.
  expect(page.url()).toMatch(/\/sign-in$/);
  await page.getByLabel('E-mail address').fill('ann@example.com');
  await page.getByRole('textbox', { name: 'Password' }).fill('correct horse battery');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('textbox', { name: 'Code' }).fill(code);
  await watched.inspect('sign-in-code');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await heading(page, 'Live');
  await page.getByRole('link', { name: 'Operator' }).click();
  await page.getByRole('table', { name: 'Account events' }).getByText('enable totp').waitFor();
}

describe.skipIf(browserAbsent)('a first run (skipped without a build or Chromium)', () => {
  it('leads to a sign-up, a key and a first curl; later visitors sign in', async () => {
    const environment = { UNDERROUND_DATA_DIR: temporaryDirectory(), ...VENUES_OFF };
    const service = await startCommand(['serve'], environment);
    const { url } = service;
    const browser = await openBrowser();
    onTestFinished(() => browser.close());
    const first = await WatchedPage.open(browser, url);
    const { page } = first;
    await page.goto('/');
    await heading(page, 'Sign up');
    await page.getByText('This service has no operator yet').waitFor();
    await first.inspect('sign-up-first');
    await page.goto(`/sign-up?setup=${await setupTokenOf(service)}`);
    await first.inspect('sign-up');
    await page.getByLabel('E-mail address').fill('ann@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill('correct horse battery');
    await page.getByRole('button', { name: 'Create account' }).click();
    await heading(page, 'Welcome');
    await page.getByText('you are the operator').waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    const line = await page.getByLabel('first request', { exact: true }).textContent();
    const answer = JSON.parse(execFileSync('sh', ['-c', line ?? ''], { encoding: 'utf8' }));
    expect(answer).toMatchObject({ markets: [], count: 0 });
    await enableOneTimeCodes(first);
    await first.close();
    const second = await WatchedPage.open(browser, url);
    await second.page.goto('/');
    await heading(second.page, 'Sign in');
    await second.page.goto(`/sign-up?setup=${await setupTokenOf(service)}`);
    await second.page.getByText('This setup link has been used').waitFor();
    await second.close();
  });
});
