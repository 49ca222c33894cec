import { describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { chartTexts, overlaps, recordChartTexts } from '../support/chartLabels.ts';
import { useDemoPages } from '../support/demoPages.ts';

const SKIPPED = 'charts (skipped without a build or Chromium)';
const WINDOWS = ['5m', '15m', '1h', '4h', 'daily_up_down'] as const;
const WIDTHS = [1440, 1024, 390] as const;

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const dashboard = useDemoPages();

  it('never overlap their labels, at three widths, for windows of every length', async () => {
    const { page } = await dashboard.signedIn();
    await recordChartTexts(page);
    for (const window of WINDOWS) {
      const query = `ticker=BTC&event_type=${window}&limit=20`;
      const { markets } = await (await page.request.get(`/app/markets?${query}`)).json();
      const begun = markets.find(
        ({ start_time }: { start_time: string }) => Date.parse(start_time) < Date.now(),
      );
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        await page.goto(`/markets/${begun.market_id}`);
        await page.getByRole('img', { name: /^Depth over time/ }).waitFor();
        await page.locator('.uplot canvas').nth(3).waitFor();
        await page.getByRole('img', { name: /^Cumulative depth/ }).waitFor();
        const texts = () => chartTexts(page);
        // Three charts with values at the left, two of them with times below.
        await expect.poll(async () => (await texts()).length).toBeGreaterThan(12);
        expect(overlaps(await texts()), `${window} at ${width} px`).toEqual([]);
      }
    }
  });

  it('show the reader’s clock, which the browser keeps', async () => {
    const { page } = await dashboard.signedIn();
    await recordChartTexts(page);
    await page.goto('/markets?status=resolved&event_type=5m');
    await page.locator('tbody a').first().click();
    const zones = async () =>
      (await chartTexts(page)).map(({ text }) => text).filter((text) => /, UTC|^UTC/.test(text));
    await expect.poll(zones).toContainEqual(expect.stringMatching(/UTC$/));
    await page
      .getByRole('radiogroup', { name: 'Time zone' })
      .getByText(/^Local/)
      .click();
    expect(await page.evaluate("localStorage.getItem('underround.time-zone')")).toBe('local');
    await page.reload();
    await page.locator('.uplot canvas').nth(3).waitFor();
    await expect.poll(() => page.getByRole('radio', { name: /^Local/ }).isChecked()).toBe(true);
  });
});
