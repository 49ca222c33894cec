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

  it.each([
    {
      ...{ place: 'America/New_York', choice: 'Local (UTC−4)' },
      ...{ begins: '1 Nov, 01:30:00 UTC−4', ends: '1 Nov, 01:30:00 UTC−5', gap: '1 Nov, 01:50:00 UTC−4' },
      zones: ['UTC−4', 'UTC−5'],
      ...{ middle: '1 Nov, 01:10:00 UTC−5', head: 'UTC−5', rows: ['01:09:51', '01:57:10 UTC−4'] },
      change: 'last change 01:09:57 UTC−5',
    },
    {
      ...{ place: 'Asia/Kolkata', choice: 'Local (UTC+5:30)' },
      ...{ begins: '1 Nov, 11:00:00 UTC+5:30', ends: '1 Nov, 12:00:00 UTC+5:30' },
      ...{ gap: '1 Nov, 11:20:00 UTC+5:30', zones: ['UTC+5:30'] },
      ...{ middle: '1 Nov, 11:40:00 UTC+5:30', head: 'UTC+5:30', rows: ['11:39:51', '11:27:10'] },
      change: 'last change 11:39:57 UTC+5:30',
    },
  ])(
    'and every time on the page are on the clock of $place, before and after it is set back',
    async (told) => {
      const { page } = await pages.open(told.place);
      await recordChartTexts(page);
      await page.addInitScript("localStorage.setItem('underround.time-zone', 'local')");
      // At 06:00 UTC the clocks of New York are set back from 2:00 to 1:00.
      const recorded = recordedMarket('1h', '2026-11-01T05:30:00.000Z');
      const gap = {
        ...{ gap_id: 'g1', start: '2026-11-01T05:50:00.000+00:00', end: '2026-11-01T05:50:20.000+00:00' },
        ...{ start_received: '2026-11-01T05:50:00.000+00:00', end_received: '2026-11-01T05:50:20.000+00:00' },
        ...{ feed: 'polymarket.clob', repaired_by: 'snapshot' },
        cause: 'disconnected',
      } as const;
      await page.goto(`${pages.add({ ...recorded, gaps: [gap] })}?at=${Date.parse('2026-11-01T05:59:00Z')}`);
      await page.locator('.uplot canvas').nth(3).waitFor();
      const choice = page.getByRole('radiogroup', { name: 'Time zone' });
      await choice.getByText(told.choice, { exact: true }).waitFor();
      const fact = (name: string) =>
        page.locator('dt').filter({ hasText: name }).locator('..').locator('dd').textContent();
      expect([await fact('Begins'), await fact('Ends')]).toEqual([told.begins, told.ends]);
      await page.getByRole('cell', { name: told.gap }).waitFor();
      const isTime = ({ text }: { text: string }) => /^\d\d:\d\d$/.test(text);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const fits = () =>
          page.evaluate<boolean>(
            `[...document.querySelectorAll('.chart')].every((chart) =>
            chart.querySelector('.uplot')?.clientWidth === Math.round(chart.clientWidth))`,
          );
        await expect.poll(fits, { message: `charts follow a width of ${width}` }).toBe(true);
        const texts = await chartTexts(page);
        expect(overlaps(texts), `${width} px`).toEqual([]);
        const axis = texts.filter(({ chart }) => chart === 3);
        const named = axis.flatMap(({ text }) => /UTC.*/.exec(text) ?? []);
        expect(named).toEqual(told.zones);
        // As far apart after the change as before it.
        const places = axis.filter(isTime).map(({ left, right }) => (left + right) / 2);
        const steps = places.slice(1).map((place, index) => place - (places[index] as number));
        expect(Math.max(...steps) - Math.min(...steps)).toBeLessThan(3);
      }
      await page.goto(`${pages.add(recorded)}?at=${Date.parse('2026-11-01T06:10:00Z')}`);
      await page.getByText(told.middle, { exact: true }).waitFor();
      await page.getByText(told.change, { exact: true }).waitFor();
      const tape = page.getByRole('region', { name: 'Tape' });
      expect(await tape.getByRole('columnheader').first().textContent()).toBe(told.head);
      const rows = await tape.getByRole('button').allTextContents();
      expect([rows[0], rows[13]]).toEqual(told.rows);
      const cursor = page.getByRole('slider', { name: /^Cursor: Price of BTC/ });
      expect(await cursor.getAttribute('aria-valuetext')).toContain(`${told.middle}, `);
    },
  );

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
