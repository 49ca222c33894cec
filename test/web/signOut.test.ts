import { describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { useStubbedPages } from '../support/stubbedPages.ts';

const SKIPPED = 'the sign-out (skipped without a build or Chromium)';

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const pages = useStubbedPages();

  it('shows an error if the service fails to end the session, and stays signed in', async () => {
    const watched = await pages.open();
    const { page } = watched;
    const refusal = { status: 500, json: { detail: 'Internal error' } };
    await page.route('**/app/sign-out', (route) => route.fulfill(refusal));
    watched.refusals.add('500 /app/sign-out');
    await page.goto('/welcome');
    await page.getByRole('button', { name: /^Account of / }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    const alert = page.getByRole('alert').filter({ hasText: 'You are still signed in' });
    await alert.getByText('Internal error').waitFor();
    expect(new URL(page.url()).pathname).toBe('/welcome');
    // The next one finds that the session has ended meanwhile.
    const ended = { status: 401, json: { detail: 'Sign in first' } };
    await page.route('**/app/sign-out', (route) => route.fulfill(ended));
    watched.refusals.add('401 /app/sign-out');
    await page.getByRole('button', { name: /^Account of / }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  });

  it('from the command palette, which closes before the answer, leaves the page', async () => {
    const { page } = await pages.open();
    await page.route('**/app/live', (route) => route.fulfill({ json: { windows: [] } }));
    await page.route('**/app/sign-out', (route) => route.fulfill({ status: 204 }));
    await page.goto('/welcome');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('combobox').fill('sign out');
    await page.getByRole('option', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  });
});
