import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { recordingAbsent, useRecordedPages } from '../support/recordedPages.ts';

const SKIPPED = 'the errors of a form (skipped without a build, Chromium or a recording)';

/** Answers every change of a resource with this refusal. */
const refuse = (page: Page, path: string, refusal: { status: number; detail: unknown }) =>
  page.route(`**${path}`, (route) =>
    route.request().method() === 'GET'
      ? route.fallback()
      : route.fulfill({ status: refusal.status, json: { detail: refusal.detail } }),
  );
const fieldErrors = (errors: Readonly<Record<string, string>>) => ({
  status: 422,
  detail: Object.entries(errors).map(([field, msg]) => ({ loc: ['body', ...field.split('.')], msg })),
});

describe.skipIf(recordingAbsent)(SKIPPED, () => {
  const pages = useRecordedPages();

  it('of a paper strategy disappear one by one as its fields change', async () => {
    const page = await pages.open('papers');
    const refusal = fieldErrors({
      ...{ name: 'Taken', size_usd: 'Too much', 'universe.ticker': 'Closed' },
      'strategy.threshold_entry.threshold': 'Too high',
    });
    await refuse(page, '/app/paper/strategies', refusal);
    await page.getByRole('button', { name: 'New paper strategy' }).click();
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('mine');
    await page.getByRole('button', { name: 'Start paper trading' }).click();
    await page.getByText('Taken').waitFor();
    const shown = async () => {
      const all = ['Taken', 'Too high', 'Closed', 'Too much', 'Correct the marked fields'];
      const counts = await Promise.all(all.map((text) => page.getByText(text, { exact: true }).count()));
      return all.filter((_, index) => counts[index] !== 0);
    };
    expect(await shown()).toEqual(['Taken', 'Too high', 'Closed', 'Too much', 'Correct the marked fields']);
    await page.getByRole('textbox', { name: 'Size per trade ($)' }).fill('5');
    expect(await shown()).toEqual(['Taken', 'Too high', 'Closed', 'Correct the marked fields']);
    await page.getByRole('textbox', { name: 'Threshold, 0 to 1' }).fill('0.2');
    await page.getByLabel('Underlying').selectOption('ETH');
    expect(await shown()).toEqual(['Taken', 'Correct the marked fields']);
    await name.fill('mine too');
    expect(await shown()).toEqual([]);
    await page.context().close();
  });

  it('of a new name disappear when the name changes', async () => {
    const page = await pages.open('paper');
    await refuse(page, '/app/paper/strategies/*', { status: 409, detail: 'This name exists already' });
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    const refusal = page.getByText('This name exists already');
    await refusal.waitFor();
    await page.getByLabel('New name').fill('another');
    expect(await refusal.count()).toBe(0);
    await page.context().close();
  });

  it('of a webhook are beside its filters, and disappear with another choice', async () => {
    const page = await pages.open('webhooks');
    await refuse(page, '/app/webhooks', fieldErrors({ tiers: 'Not this kind', url: 'Not of this format' }));
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByRole('textbox', { name: 'URL' }).fill('https://example.com');
    await page.getByRole('textbox', { name: 'Label' }).fill('mine');
    await page.getByRole('button', { name: 'Register webhook' }).click();
    await page.getByRole('group', { name: 'Kinds' }).locator('..').getByText('Not this kind').waitFor();
    await page.getByRole('checkbox', { name: 'endgame' }).click();
    expect(await page.getByText('Not this kind').count()).toBe(0);
    await page.getByRole('combobox', { name: 'Format' }).click();
    await page.getByRole('option', { name: /Discord/ }).click();
    await expect.poll(() => page.getByText('Not of this format').count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.context().close();
  });

  it('of a request written as JSON disappear when its text changes', async () => {
    const page = await pages.open('backtests');
    await refuse(page, '/app/backtest', fieldErrors({ size_usd: 'Too much' }));
    await page.getByRole('button', { name: 'New backtest' }).click();
    await page.getByText('JSON', { exact: true }).click();
    const text = page.getByLabel('Request body');
    await page.getByRole('button', { name: 'Run backtest' }).click();
    await page.getByRole('alert').getByText('size_usd: Too much').waitFor();
    await text.fill('{');
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByText('Form', { exact: true }).click();
    const problem = page.getByText(/JSON at position/);
    await problem.waitFor();
    await text.fill('{}');
    expect(await problem.count()).toBe(0);
    await page.context().close();
  });

  it('of one-time codes disappear when the password changes', async () => {
    const state = { enabled: true, recovery_codes_left: 8 };
    const page = await pages.open('account', (one) =>
      one.route('**/app/second-factor', (route) => route.fulfill({ json: state })),
    );
    await refuse(page, '/app/second-factor/disable', { status: 403, detail: 'Wrong password or code' });
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill('one');
    await page.getByRole('textbox', { name: 'Code from the app' }).fill('123456');
    await page.getByRole('button', { name: 'Disable one-time codes' }).click();
    await page.getByRole('alert').getByText('Wrong password or code').waitFor();
    await page.getByRole('textbox', { name: 'Password', exact: true }).fill('another');
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.context().close();
  });
});
