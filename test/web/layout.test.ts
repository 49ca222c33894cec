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

/** Texts of table cells on one line that are wider than their cell: they touch the next one. */
const FIND_SPILLED = `() =>
  [...document.querySelectorAll('td')].flatMap((cell) => {
    if (cell.children.length > 0 || cell.textContent === '' || !cell.checkVisibility()) return [];
    const range = document.createRange();
    range.selectNodeContents(cell);
    const [text, box] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
    return text.left < box.left - 1 || text.right > box.right + 1 ? [cell.textContent] : [];
  })`;

const spilledCells = (page: Page) => page.evaluate<string[]>(`(${FIND_SPILLED})()`);

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

  it.each(['markets', 'calibration', 'market', 'perpetuals', 'account', 'keys'])(
    '%s: nothing is cut off on a narrow phone and on a desktop',
    async (name) => {
      const page = await pages.open(name);
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 3_000 });
        await steadyShot(page);
        expect(await cutWithin(page, 'main'), `${width} px`).toEqual([]);
        expect(await spilledCells(page), `${width} px`).toEqual([]);
      }
      await page.context().close();
    },
  );

  it.each([390, 768])('the prices of a perpetual have room in their columns at %i px', async (width) => {
    const page = await pages.open('perpetuals');
    await page.setViewportSize({ width, height: 3_000 });
    await steadyShot(page);
    expect(await spilledCells(page)).toEqual([]);
    const figures = await page
      .getByRole('table', { name: 'BTC perpetual' })
      .locator('td.up')
      .allTextContents();
    expect(figures.every((text) => /^\$\d\d,\d{3}\.\d+$/.test(text))).toBe(true);
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

  it('says in the blank half of a book why it is blank', async () => {
    const page = await pages.open('market');
    const book = page.getByRole('table', { name: 'Order book of Up' });
    const reason = book.getByText('no asks: nobody sells Up, so the market implies no price');
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 3_000 });
      await steadyShot(page);
      const [box, around] = [await reason.boundingBox(), await book.boundingBox()];
      if (box === null || around === null) throw new TypeError('the book is not shown');
      expect(box.x).toBeGreaterThan(around.x + around.width / 2);
      expect(box.x + box.width).toBeLessThanOrEqual(around.x + around.width);
    }
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
