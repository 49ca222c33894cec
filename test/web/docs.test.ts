import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserAbsent, WatchedPage } from '../support/browser.ts';
import { openBrowser } from '../support/chromium.ts';
import { listeningApi } from '../support/listeningApi.ts';
import { stubStore } from '../support/stubStore.ts';

/** An element of the page, whose types are not those of Node. */
interface Box {
  getBoundingClientRect(): { readonly top: number; readonly bottom: number };
}

describe.skipIf(browserAbsent)('the documentation (skipped without a browser or a build)', () => {
  let browser: Browser;
  let watched: WatchedPage;
  let api: Awaited<ReturnType<typeof listeningApi>>;
  beforeAll(async () => {
    api = await listeningApi({ store: stubStore({ asked: [] }) });
    browser = await openBrowser();
    watched = await WatchedPage.open(browser, api.url);
  });
  afterAll(async () => {
    await watched?.close();
    await browser?.close();
    await api?.close();
  });

  it.each([
    ['docs-home', '/docs'],
    ['docs-concepts', '/docs/concepts'],
    ['docs-exports', '/docs/exports'],
  ])('%s is accessible, in light and dark, and fits a phone', async (name, path) => {
    await watched.page.goto(path);
    await watched.inspect(name);
  });

  it('finds a section and opens it', async () => {
    const { page } = watched;
    await page.goto('/docs');
    await page.getByLabel('Search the documentation').fill('two clocks');
    await page.getByRole('link', { name: /Concepts: Two clocks/ }).click();
    await page.waitForURL('**/docs/concepts#two-clocks');
  });

  it('has the copy button above the code on a phone, not over it', async () => {
    const { page } = watched;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto('/docs/quick-start');
    const bottoms = page
      .locator('.block .copy')
      .evaluateAll((all) => (all as unknown as Box[]).map((one) => one.getBoundingClientRect().bottom));
    const tops = page
      .locator('.block code')
      .evaluateAll((all) => (all as unknown as Box[]).map((one) => one.getBoundingClientRect().top));
    const [below, above] = [await bottoms, await tops];
    expect(below.length).toBeGreaterThan(3);
    expect(above.filter((top, index) => top < (below[index] ?? 0))).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 720 });
  });

  it('shows every picture', async () => {
    const { page } = watched;
    await page.goto('/docs/concepts');
    const widths = await page.locator('main img').evaluateAll(async (images) =>
      Promise.all(
        (images as unknown as { decode(): Promise<void>; naturalWidth: number; loading: string }[]).map(
          async (image) => {
            image.loading = 'eager';
            await image.decode();
            return image.naturalWidth;
          },
        ),
      ),
    );
    expect(widths.length).toBe(4);
    expect(Math.min(...widths)).toBeGreaterThan(100);
  });

  it('sends a call from the reference, which fits a phone, and shows its answer', async () => {
    const { page } = watched;
    await page.goto('/docs/reference');
    await page.setViewportSize({ width: 390, height: 844 });
    expect(
      await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'),
    ).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    const call = page.locator('#getTrades');
    await call.getByRole('button', { name: 'Try it' }).click();
    await call.getByLabel('API key').fill(api.key);
    await call.getByLabel('market_id *').fill('0xaa');
    await call.getByRole('button', { name: 'Send GET' }).click();
    await call.getByText(/^200 OK, /).waitFor();
    await call.locator('.try pre').getByText('"market_id": "0xaa"').waitFor();
  });

  it('copies an example', async () => {
    const { page } = watched;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const call = page.locator('#getHealth');
    await call.getByRole('button', { name: 'Copy' }).first().click();
    await call.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('curl -s "$BASE/health"');
  });
});
