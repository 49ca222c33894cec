import { describe, expect, it } from 'vitest';
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
});
