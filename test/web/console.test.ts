import type { Page, Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { recordingAbsent, useRecordedPages } from '../support/recordedPages.ts';
import { eventually } from '../support/runningService.ts';

const SKIPPED = 'the console on recorded answers (skipped without a build, Chromium or a recording)';
const SINCE = '2026-11-01T12:00:00.000+00:00';

function userOf(name: string, columns: object = {}) {
  return {
    ...{ user_id: `usr_${name}`, email: `${name}@example.com`, tier: 'premium', operator: false },
    ...{ suspended: false, created_at: SINCE, ...columns },
  };
}

/** Presses its keys until it opens: a page that was just painted listens to keys a moment later. */
async function openPalette(page: Page, isOpening: () => Promise<boolean>): Promise<void> {
  await eventually('the palette', async () => {
    if (await isOpening()) return true;
    await page.keyboard.press('Control+k');
    return await isOpening();
  });
}

/**
 * Serves users that can be searched and changed.
 * @param beforeAnswer Each change is answered when this resolves.
 * @returns The requested changes.
 */
async function serveUsers(page: Page, beforeAnswer?: Promise<void>): Promise<unknown[]> {
  let users = [userOf('op', { operator: true }), userOf('ann'), userOf('ben', { suspended: true })];
  const changes: unknown[] = [];
  await page.route('**/app/users?**', (route) => {
    const search = new URL(route.request().url()).searchParams.get('search') ?? '';
    const found = users.filter(({ email }) => email.includes(search));
    return route.fulfill({
      json: {
        users: found,
        count: found.length,
        total: found.length,
        limit: 25,
        offset: 0,
        next_cursor: null,
      },
    });
  });
  await page.route('**/app/users/*', async (route: Route) => {
    const change = route.request().postDataJSON();
    changes.push(change);
    await beforeAnswer;
    const id = new URL(route.request().url()).pathname.split('/').at(-1);
    users = users.map((user) => (user.user_id === id ? { ...user, ...change } : user));
    return route.fulfill({ json: users.find(({ user_id }) => user_id === id) });
  });
  return changes;
}

describe.skipIf(recordingAbsent)(SKIPPED, () => {
  const pages = useRecordedPages();

  it('the operator finds a user by address, and each change of access says what it does first', async () => {
    let changes: unknown[] = [];
    const page = await pages.open('operator', async (opened) => {
      changes = await serveUsers(opened);
    });
    const row = (email: string) => page.getByRole('row', { name: email });
    await row('ben@example.com').getByText('suspended', { exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Search users' }).fill('ann');
    await page.getByText('1 user found').waitFor();
    expect(await row('ben@example.com').count()).toBe(0);
    await page.getByLabel('Tier of ann@example.com').selectOption('free');
    await page.getByText('all their keys get the limits of free at once').waitFor();
    expect(changes).toEqual([]);
    await page.getByRole('button', { name: 'Keep' }).click();
    expect(await page.getByLabel('Tier of ann@example.com').inputValue()).toBe('premium');
    await page.getByLabel('Tier of ann@example.com').selectOption('free');
    await page.getByRole('button', { name: 'Change ann@example.com to free' }).click();
    await expect.poll(() => changes).toEqual([{ tier: 'free' }]);
    await page.getByRole('button', { name: 'Suspend ann@example.com' }).click();
    await page.getByText('All sessions of ann@example.com end at once').waitFor();
    await page.getByRole('button', { name: 'Suspend ann@example.com now' }).click();
    await row('ann@example.com').getByText('suspended', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Lift suspension of ann@example.com' }).click();
    await page.getByText('can sign in again').waitFor();
    await page.getByRole('button', { name: 'Lift suspension of ann@example.com now' }).click();
    await row('ann@example.com').getByText('suspended', { exact: true }).waitFor({ state: 'detached' });
    expect(changes).toEqual([{ tier: 'free' }, { suspended: true }, { suspended: false }]);
    await page.context().close();
  });

  it('an open confirmation stays when another change of the same user arrives', async () => {
    let answer = () => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const page = await pages.open('operator', async (opened) => void (await serveUsers(opened, answered)));
    const tier = page.getByLabel('Tier of ann@example.com');
    await tier.selectOption('free');
    await page.getByRole('button', { name: 'Change ann@example.com to free' }).click();
    await page.getByRole('button', { name: 'Suspend ann@example.com' }).click();
    const consequence = page.getByText('All sessions of ann@example.com end at once');
    await consequence.waitFor();
    answer();
    await page.getByRole('button', { name: 'Change ann@example.com to free' }).waitFor({ state: 'detached' });
    expect(await tier.inputValue()).toBe('free');
    expect(await consequence.count()).toBe(1);
    await page.context().close();
  });

  it('maintenance says what it does before it starts', async () => {
    const state = { on: false, retry_after_seconds: null, message: null, since: null };
    const asked: unknown[] = [];
    const page = await pages.open('operator', (opened) =>
      opened.route('**/app/maintenance', (route) => {
        if (route.request().method() === 'GET') return route.fulfill({ json: state });
        asked.push(route.request().postDataJSON());
        return route.fulfill({ json: { ...state, on: true, since: SINCE } });
      }),
    );
    await page.getByRole('button', { name: 'Start maintenance' }).click();
    await page.getByText('Every request of other users is answered with 503').waitFor();
    expect(asked).toEqual([]);
    await page.getByRole('button', { name: 'Start maintenance now' }).click();
    await expect.poll(() => asked).toEqual([{ on: true, message: null, retry_after_seconds: 600 }]);
    await page.context().close();
  });

  it('one line of the operator has lag, rows a second, disk, feeds and gaps', async () => {
    let rows = 1_000;
    const page = await pages.open('operator', (opened) =>
      opened.route('**/app/operator/summary', (route) => {
        rows += 300;
        const as_of = new Date(Date.parse(SINCE) + rows * 10).toISOString();
        const disk = { disk_free_bytes: 73.2e9, growth_bytes_per_day: 1.5e9, disk_full_at: SINCE };
        const json = { as_of, store_lag_seconds: 1, rows_inserted: rows, stored_bytes: 4.2e9, ...disk };
        return route.fulfill({ json });
      }),
    );
    // 300 rows in 3 s.
    await page.getByText('100 / s').waitFor();
    for (const text of ['73.2 GB', '4.2 GB', '+1.5 GB a day, full on 2026-11-01'])
      await page.getByText(text).waitFor();
    await page.getByText(/^\d+ of \d+$/).waitFor();
    await page.context().close();
  });

  it('Ctrl-K finds a page by some letters, and arrows choose', async () => {
    const page = await pages.open('keys');
    const field = page.getByRole('combobox', { name: 'Find a page, a market or an action' });
    await openPalette(page, async () => (await field.count()) > 0);
    await field.fill('calib');
    expect(await page.getByRole('option').allTextContents()).toEqual(['Calibrationpage']);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Calibration' }).waitFor();
    await page.keyboard.press('Control+k');
    await field.fill('colours');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const scheme = () => page.evaluate('document.documentElement.dataset.mantineColorScheme');
    await expect.poll(scheme).toBe('dark');
    await page.keyboard.press('Control+k');
    await field.fill('no such thing');
    await page.getByText('Nothing matches “no such thing”.').waitFor();
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('letters typed while the palette loads are in its field, and select no table row', async () => {
    const page = await pages.open('markets');
    let isAsked = false;
    let load: () => void = () => undefined;
    const loading = new Promise<void>((resolve) => {
      load = resolve;
    });
    await page.route('**/CommandPalette*', async (route) => {
      isAsked = true;
      await loading;
      await route.continue();
    });
    await openPalette(page, async () => isAsked);
    await page.keyboard.type('jcalibx');
    await page.keyboard.press('Backspace');
    load();
    const field = page.getByRole('combobox', { name: 'Find a page, a market or an action' });
    await field.waitFor();
    expect(await field.inputValue()).toBe('jcalib');
    expect(await page.evaluate("document.querySelector('tbody :focus')")).toBeNull();
    await page.context().close();
  });

  it('j and k move through the markets, and Enter opens one', async () => {
    const page = await pages.open('markets');
    const links = page.locator('#main tbody tr a');
    await links.first().waitFor();
    const focused = () => page.evaluate<string | null>("document.activeElement.getAttribute('href')");
    const hrefs = await links.evaluateAll((all) =>
      all.map((link) => (link as unknown as { getAttribute(name: string): string }).getAttribute('href')),
    );
    await page.keyboard.press('j');
    expect(await focused()).toBe(hrefs[0]);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    expect(await focused()).toBe(hrefs[1]);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${hrefs[1]}*`);
    await page.context().close();
  });

  it('the menu in the header opens account and keys, and signs out', async () => {
    const page = await pages.open('keys');
    let isOut = false;
    await page.route('**/app/sign-out', (route) => {
      isOut = true;
      return route.fulfill({ status: 204 });
    });
    const menu = page.getByRole('button', { name: /^Account of / });
    await menu.click();
    await page.getByRole('menuitem', { name: 'Account' }).click();
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    await menu.click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    expect(isOut).toBe(true);
    await page.context().close();
  });

  it('a table becomes cards on a phone, with the title of each value before it', async () => {
    const page = await pages.open('keys');
    const cell = page.locator('td[data-title="Last used"]').first();
    await cell.waitFor();
    const shown = `getComputedStyle(document.querySelector('td[data-title="Last used"]'), '::before').content`;
    const before = () => page.evaluate<string>(shown);
    expect(await before()).toBe('none');
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(before).toBe('"Last used"');
    await expect
      .poll(() => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth'))
      .toBeLessThanOrEqual(0);
    await page.context().close();
  });

  it('an error message disappears when its field changes, and no other', async () => {
    const page = await pages.open('account', (opened) =>
      opened.route('**/app/password', (route) => {
        const errors = ['current_password', 'new_password'].map((name) => {
          return { type: 'value_error', loc: ['body', name], msg: `Value error, ${name} is wrong` };
        });
        return route.fulfill({ status: 422, json: { detail: errors } });
      }),
    );
    const field = (name: string) => page.getByRole('textbox', { name });
    await field('Current password').fill('a');
    await field('New password').fill('12345678');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Current_password is wrong').waitFor();
    await field('Current password').fill('ab');
    await page.getByText('Current_password is wrong').waitFor({ state: 'detached' });
    await page.getByText('New_password is wrong').waitFor();
    await field('New password').fill('123456789');
    await page.getByText('New_password is wrong').waitFor({ state: 'detached' });
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.context().close();
  });
});
