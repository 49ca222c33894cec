import { describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { chartTexts, overlaps, recordChartTexts } from '../support/chartLabels.ts';
import { recordedMarket } from '../support/recordedMarket.ts';
import { useStubbedPages } from '../support/stubbedPages.ts';

const SKIPPED = 'charts (skipped without a build or Chromium)';
const WIDTHS = [1440, 1024, 390] as const;

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const pages = useStubbedPages();

  it.each(['5m', '15m', '1h', '4h', 'daily_up_down'] as const)(
    'never overlap their labels in a %s window, at three widths, in UTC and local time',
    async (eventType) => {
      const { page } = await pages.open();
      await recordChartTexts(page);
      const path = pages.add(recordedMarket(eventType, '2026-11-20T23:55:00.000Z'));
      for (const zone of ['UTC', 'local']) {
        await page.addInitScript(`localStorage.setItem('underround.time-zone', '${zone}')`);
        await page.setViewportSize({ width: WIDTHS[0], height: 900 });
        await page.goto(path);
        await page.locator('.uplot canvas').nth(3).waitFor();
        await page.getByRole('img', { name: /^Cumulative depth/ }).waitFor();
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          const fits = () =>
            page.evaluate<boolean>(
              `[...document.querySelectorAll('.chart')].length === 4 && [...document.querySelectorAll('.chart')]
                .every((chart) => chart.querySelector('.uplot')?.clientWidth === Math.round(chart.clientWidth))`,
            );
          await expect.poll(fits, { message: `charts follow a width of ${width}` }).toBe(true);
          const texts = await chartTexts(page);
          // Values at the left of four charts, times below two of them, the strike, the window's start and end.
          expect(new Set(texts.map(({ chart }) => chart)).size).toBe(5);
          expect(texts.map(({ text }) => text)).toContain('window starts');
          expect(texts.filter(({ text }) => /^\d\d:\d\d/.test(text)).length).toBeGreaterThanOrEqual(4);
          expect(overlaps(texts), `${zone}, ${width} px`).toEqual([]);
        }
      }
    },
  );

  it('show the reader’s clock, which the browser keeps', async () => {
    const { page } = await pages.open();
    await recordChartTexts(page);
    await page.goto(pages.add(recordedMarket('5m', '2026-11-20T12:00:00.000Z')));
    const days = async () =>
      (await chartTexts(page)).map(({ text }) => text).filter((text) => /^\d+ \w{3}, /.test(text));
    await expect.poll(days).toEqual(['20 Nov, UTC', '20 Nov, UTC']);
    await page
      .getByRole('radiogroup', { name: 'Time zone' })
      .getByText(/^Local/)
      .click();
    expect(await page.evaluate("localStorage.getItem('underround.time-zone')")).toBe('local');
    await page.reload();
    await page.locator('.uplot canvas').nth(3).waitFor();
    expect(await page.getByRole('radio', { name: /^Local/ }).isChecked()).toBe(true);
  });

  it('are drawn from the state in force at their left edge', async () => {
    const { page } = await pages.open();
    const whole = recordedMarket('5m', '2026-11-20T12:00:00.000Z');
    // The only book is from before the chart: it is in force over all of it.
    const [book] = whole.books;
    const early = { ...book, ts: '2026-11-20T11:30:00.000+00:00' } as (typeof whole.books)[number];
    await page.goto(pages.add({ ...whole, books: [early], trades: [] }));
    const chart = page.getByRole('slider', { name: 'Cursor: Implied and model probability of Up over time' });
    await chart.press('Home');
    await expect
      .poll(() => chart.getAttribute('aria-valuetext'))
      .toMatch(/^20 Nov, 11:55:00 UTC, Implied, Up [\d.]+¢/);
  });
});
