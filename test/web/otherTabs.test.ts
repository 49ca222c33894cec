import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { useStubbedPages } from '../support/stubbedPages.ts';

const SKIPPED = 'a session that another tab changes (skipped without a build or Chromium)';
const MARK = 'underround.signed-in';
const BOB = { user_id: 'u2', email: 'bob@example.com', tier: 'premium', operator: false };

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const pages = useStubbedPages();

  /** A page of Ann's with the secret of a key, and a tab of the same browser. */
  async function withSecret(): Promise<{ page: Page; tab: Page; setOwner: (name: string) => void }> {
    const { page } = await pages.open();
    let owner = 'ann';
    await page.route('**/app/keys', (route) => {
      const [key_id, label, prefix] = ['k1', `key of ${owner}`, 'ur_abc'];
      const created_at = '2026-11-20T12:00:00+00:00';
      const key = {
        key_id,
        label,
        prefix,
        created_at,
        last_used_at: null,
        revoked_at: null,
        requests_30d: 0,
      };
      const isNew = route.request().method() === 'POST';
      return route.fulfill({ json: isNew ? { key_id, label, key: 'ur_secret' } : { keys: [key] } });
    });
    await page.goto('/keys');
    await page.getByLabel('What the key is for').fill('laptop');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('API key', { exact: true }).waitFor();
    await page.getByRole('table', { name: 'API keys' }).getByText('key of ann').waitFor();
    const tab = await page.context().newPage();
    await tab.goto('/favicon.svg');
    return { page, tab, setOwner: (name) => (owner = name) };
  }

  it('to another user shows that user alone', async () => {
    const { page, tab, setOwner } = await withSecret();
    setOwner('bob');
    await page.route('**/app/me', (route) => route.fulfill({ json: { user: BOB } }));
    await tab.evaluate(`localStorage.setItem('${MARK}', 'u2')`);
    await page.getByRole('button', { name: 'Account of bob@example.com' }).waitFor();
    await page.getByRole('table', { name: 'API keys' }).getByText('key of bob').waitFor();
    const text = await page.locator('body').textContent();
    expect([text?.includes('ur_secret'), text?.includes('key of ann')]).toEqual([false, false]);
  });

  it('to none leaves the page', async () => {
    const { page, tab } = await withSecret();
    await tab.evaluate(`localStorage.setItem('${MARK}', 'u1')`);
    await tab.evaluate(`localStorage.removeItem('${MARK}')`);
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  });
});
