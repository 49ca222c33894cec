import { describe, expect, it } from 'vitest';
import { axeFindings } from '../support/browser.ts';
import { recordingAbsent, useRecordedPages } from '../support/recordedPages.ts';

const SKIPPED = 'recorded pages (skipped without a build, Chromium or a recording)';
describe.skipIf(recordingAbsent)(SKIPPED, () => {
  const pages = useRecordedPages();

  it('a sweep on a phone says that columns are cut, until they are reached, and shows every figure', async () => {
    const page = await pages.open('sweep');
    await page.setViewportSize({ width: 390, height: 844 });
    const hint = page.getByText('More columns on the right', { exact: false });
    await hint.waitFor();
    for (const figure of await page.getByRole('radiogroup').locator('label').all()) {
      const box = await figure.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0), await figure.innerText()).toBeLessThanOrEqual(390);
    }
    await page.getByRole('button', { name: '−$9.62' }).last().scrollIntoViewIfNeeded();
    await hint.waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(await hint.count()).toBe(0);
    expect(await page.getByText('best P&L').count()).toBe(1);
    await page.context().close();
  });

  it('a webhook with a test under way has reasons for its missing figures, and nothing to redeliver', async () => {
    const page = await pages.open('webhook');
    await page.getByText('failing', { exact: true }).waitFor();
    await page.getByText('the last 3 attempts failed').waitFor();
    await page
      .getByText('All of these figures are of the last 7 days, without tests', { exact: false })
      .waitFor();
    expect(await page.getByText('no delivery ended').count()).toBe(1);
    expect(await page.getByText('nothing delivered').count()).toBe(2);
    await page.getByText('Nothing is failed, so there is nothing to redeliver.').waitFor();
    expect(await page.getByRole('button', { name: 'Redeliver all failed' }).isDisabled()).toBe(true);
    await page.context().close();
  });

  it('the state of a webhook is whole on a phone', async () => {
    const page = await pages.open('webhooks');
    await page.setViewportSize({ width: 390, height: 844 });
    const label = page.getByText('failing', { exact: true });
    await label.waitFor();
    const isWhole = `[...document.querySelectorAll('.mantine-Badge-label')]
      .filter((one) => one.textContent === 'failing')
      .every((one) => one.scrollWidth <= one.clientWidth)`;
    expect(await page.evaluate<boolean>(isWhole)).toBe(true);
    await page.context().close();
  });

  it.each([
    { name: 'markets', requests: '**/app/markets?**' },
    { name: 'signals', requests: '**/app/arb/audit?**' },
  ])('the list of $name is requested again, and says when the service does not answer', async (list) => {
    let asked = 0;
    const page = await pages.open(list.name, async (opened) => {
      await opened.clock.install();
      await opened.route(list.requests, (route) => {
        asked += 1;
        return asked > 1 ? route.abort() : route.fallback();
      });
    });
    const rows = page.getByRole('row');
    await rows.nth(1).waitFor();
    const count = await rows.count();
    await page.clock.runFor(15_000);
    await expect.poll(() => asked).toBeGreaterThan(1);
    await page.clock.runFor(15_000);
    await page.getByRole('alert').getByText('The service does not answer', { exact: false }).waitFor();
    expect(await rows.count()).toBe(count);
    await page.context().close();
  });

  it('the list of backtests is readable in the dark, and says why a sweep is not compared', async () => {
    const page = await pages.open('backtests');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.getByText('best of 20').waitFor();
    await page.getByRole('cell', { name: 'backtests only' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.context().close();
  });

  it('a paper strategy without a closed position says why it has no line, and counts are dashes too', async () => {
    const page = await pages.open('paper');
    await page.getByText('No position is closed on paper yet', { exact: false }).waitFor();
    const legend = page.locator('.u-legend').first();
    await expect.poll(() => legend.textContent()).toBe('closed positions–baseline–');
    await page.context().close();
  });
});
