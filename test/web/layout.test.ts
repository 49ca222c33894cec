import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { axeFindings } from '../support/browser.ts';
import { recordingAbsent, steadyShot, useRecordedPages } from '../support/recordedPages.ts';

const SKIPPED = 'the layout of the pages (skipped without a build, Chromium or a recording)';

/**
 * What a reader cannot see whole within an element: texts and controls that reach beyond the screen, and texts that their
 * own box cuts off. Texts for screen readers alone are one pixel wide.
 */
const FIND_CUT = `(selector) =>
  [...document.querySelectorAll(selector + ' *')].flatMap((element) => {
    const { left, right, width } = element.getBoundingClientRect();
    if (width <= 1 || !element.checkVisibility()) return [];
    const name = element.tagName + ' ' + element.textContent;
    if (left < 0 || right > innerWidth) return ['beyond the screen: ' + name];
    const isCut = getComputedStyle(element).overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1;
    return isCut ? ['cut: ' + name] : [];
  })`;

const cutWithin = (page: Page, selector: string) =>
  page.evaluate<string[]>(`(${FIND_CUT})(${JSON.stringify(selector)})`);

describe.skipIf(recordingAbsent)(SKIPPED, () => {
  const pages = useRecordedPages();

  it('shows all of the header from a narrow phone to a desktop', async () => {
    const page = await pages.open('keys');
    for (const width of [360, 390, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await steadyShot(page);
      expect(await cutWithin(page, 'header'), `${width} px`).toEqual([]);
      expect(await axeFindings(page), `${width} px`).toEqual([]);
      const header = page.locator('header');
      await header.getByText('simulated', { exact: true }).waitFor();
      expect(await header.getByText('Ctrl K').isVisible(), `${width} px`).toBe(width >= 768);
      await header.getByRole('button', { name: /^Find/ }).waitFor();
      await header.getByRole('button', { name: /^Account of / }).waitFor();
      await header.getByRole('link', { name: 'Underround' }).waitFor();
    }
    await page.setViewportSize({ width: 360, height: 800 });
    await page.getByRole('button', { name: /^Account of / }).click();
    await page.getByRole('menu').getByText('premium', { exact: true }).waitFor();
    await page.context().close();
  });

  it('compares the own tier with one other on a phone, and with all on a desktop', async () => {
    const page = await pages.open('account');
    const shown = () => page.getByRole('table').first().getByRole('columnheader').allTextContents();
    await expect.poll(shown).toEqual(['Includes', 'free', 'pro', 'plus', 'premium (yours)']);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await shown()).toEqual(['Includes', 'premium (yours)']);
    await page.getByRole('combobox', { name: 'Compare with' }).click();
    await page.getByRole('option', { name: 'plus' }).click();
    expect(await shown()).toEqual(['Includes', 'plus', 'premium (yours)']);
    await page.context().close();
  });

  it('has the state of a key in words, apart from the button that changes it', async () => {
    const page = await pages.open('keys');
    const row = page.getByRole('table', { name: 'API keys' }).getByRole('row').nth(1);
    await row.waitFor();
    const heads = await page.getByRole('columnheader').allTextContents();
    const cell = (title: string) => row.getByRole('cell').nth(heads.indexOf(title));
    expect(await cell('State').textContent()).toBe('valid');
    expect(await cell('Actions').textContent()).toBe('Revoke');
    await page.context().close();
  });
});
