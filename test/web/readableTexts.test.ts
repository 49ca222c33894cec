import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { recordingAbsent, steadyShot, useRecordedPages } from '../support/recordedPages.ts';
import { PAGE_NAMES } from '../support/seededPages.ts';

/** Texts with a time but no time zone: neither in the text, nor beside it, nor in the heading of its column. */
const TIMES_WITHOUT_ZONE = `(() => {
  const TIME = /\\d\\d? [A-Z][a-z]{2}, \\d\\d:\\d\\d:\\d\\d/;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!TIME.test(node.textContent) || !parent.checkVisibility()) continue;
    const cell = parent.closest('td');
    const term = parent.closest('dd')?.previousElementSibling;
    const named = [parent.textContent, cell?.dataset.title, term?.textContent];
    if (!named.some((text) => text?.includes('UTC'))) found.push(node.textContent.trim());
  }
  return found;
})()`;

/** Texts of drawings that their frame cuts off, as \`text: pixels\`. */
const CUT_LABELS = `[...document.querySelectorAll('svg[viewBox] text')].flatMap((text) => {
  const { width, height } = text.ownerSVGElement.viewBox.baseVal;
  const { x, y, width: w, height: h } = text.getBBox();
  const beyond = text.hasAttribute('transform') ? 0 : Math.max(-x, -y, x + w - width, y + h - height);
  return beyond > 1 ? [text.textContent + ': ' + Math.round(beyond)] : [];
})`;

/** Choices whose text is wider than their field; the browser draws it a few pixels from the padding. */
const CUT_CHOICES = `(() => {
  const canvas = document.createElement('canvas').getContext('2d');
  return [...document.querySelectorAll('select')].flatMap((select) => {
    const { font, paddingLeft, paddingRight } = getComputedStyle(select);
    canvas.font = font;
    const room = select.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - 6;
    const texts = [...select.options].map((option) => option.text);
    return texts.filter((text) => canvas.measureText(text).width > room);
  });
})()`;

const SKIPPED = 'texts of the pages (skipped without a build, Chromium or a recording)';
describe.skipIf(recordingAbsent)(SKIPPED, () => {
  const pages = useRecordedPages();

  it.each(PAGE_NAMES)('%s names the clock of each time, and cuts no label of a drawing', async (name) => {
    const page = await pages.open(name);
    await steadyShot(page);
    expect(await page.evaluate(TIMES_WITHOUT_ZONE)).toEqual([]);
    expect(await page.evaluate(CUT_LABELS)).toEqual([]);
    await page.context().close();
  });

  it.each([
    ['backtests', 'New backtest'],
    ['papers', 'New paper strategy'],
  ])('the form of %s shows each choice whole, on a phone too', async (name, opener) => {
    const page = await pages.open(name);
    await page.getByRole('button', { name: opener }).click();
    await page.getByLabel('Purchases').waitFor();
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await page.evaluate(CUT_CHOICES), `${width} pixels`).toEqual([]);
      expect(await widthBeyond(page)).toBe(0);
    }
    await page.context().close();
  });

  it('a new key with the longest label can be copied', async () => {
    const label = 'W'.repeat(128);
    const made = {
      key_id: 'key_1',
      label,
      key: 'svc_live_x',
      prefix: 'svc_live',
      created_at: '2026-11-01T12:00:00Z',
    };
    const page = await pages.open('keys', (opened) =>
      opened.route('**/app/keys', (route) =>
        route.request().method() === 'POST' ? route.fulfill({ status: 201, json: made }) : route.fallback(),
      ),
    );
    await page.getByLabel('What the key is for').fill(label);
    await page.getByRole('button', { name: 'Create key' }).click();
    const copy = page.getByRole('button', { name: 'Copy API key' });
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 });
      const box = await copy.boundingBox();
      expect((box?.x ?? width) + (box?.width ?? 0), `${width} pixels`).toBeLessThan(width);
    }
    await page.context().close();
  });
});

function widthBeyond(page: Page): Promise<number> {
  return page.evaluate<number>('Math.max(0, document.documentElement.scrollWidth - innerWidth)');
}
