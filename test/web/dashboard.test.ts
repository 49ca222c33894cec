import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { heading, useDemoPages } from '../support/demoPages.ts';

const SKIPPED = 'the dashboard (skipped without a build or Chromium)';
const OTHER = { email: 'ann@example.com', password: 'correct horse battery' };

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const dashboard = useDemoPages();

  it('leads from `/` to a sign-up, a key and a first curl that works', async () => {
    const watched = await dashboard.open();
    const { page } = watched;
    await page.goto('/');
    await heading(page, 'Sign in');
    await watched.inspect('sign-in');
    await page.getByRole('link', { name: 'Sign up' }).click();
    await heading(page, 'Sign up');
    await page.getByLabel('E-mail address').fill(OTHER.email);
    await page.getByRole('textbox', { name: 'Password' }).fill(OTHER.password);
    await page.getByRole('button', { name: 'Create account' }).click();
    await heading(page, 'Welcome');
    await page.getByRole('button', { name: 'Create key' }).click();
    const line = await page.getByLabel('first request', { exact: true }).textContent();
    await watched.inspect('welcome');
    const answer = JSON.parse(execFileSync('sh', ['-c', line ?? ''], { encoding: 'utf8' }));
    expect(answer.markets).toHaveLength(3);
    await page.getByRole('link', { name: 'API keys' }).click();
    const revoke = page.getByRole('button', { name: 'Revoke my first key', exact: true });
    await revoke.focus();
    await page.keyboard.press('Enter');
    // The focus is on the button that cancels, and then back in place.
    await page.keyboard.press('Enter');
    const focused = () => page.evaluate("document.activeElement.getAttribute('aria-label')");
    await expect.poll(focused).toBe('Revoke my first key');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Revoke my first key for good' }).click();
    await page.getByText('revoked', { exact: true }).waitFor();
    await watched.inspect('keys');
    const refused = execFileSync('sh', ['-c', line ?? ''], { encoding: 'utf8' });
    expect(JSON.parse(refused)).toHaveProperty('detail');
  });

  it('shows the error of a sign-in, and returns to the requested page', async () => {
    const watched = await dashboard.open();
    const { page } = watched;
    watched.refusals.add('401 /app/sign-in');
    await page.goto('/markets?ticker=ETH');
    await page.getByLabel('E-mail address').fill(dashboard.owner.email);
    await page.getByRole('textbox', { name: 'Password' }).fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('Wrong e-mail address or password').waitFor();
    await page.getByRole('textbox', { name: 'Password' }).fill(dashboard.owner.password);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await heading(page, 'Markets');
    expect(new URL(page.url()).searchParams.get('ticker')).toBe('ETH');
  });

  it('uses a session begun in another tab, and requests no user without a session', async () => {
    const watched = await dashboard.open();
    const { page } = watched;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto('/webhooks');
    await heading(page, 'Sign in');
    expect(asked).not.toContain('/app/me');
    const { owner } = dashboard;
    expect((await page.request.post('/app/sign-in', { data: owner })).status()).toBe(200);
    await page.goto('/webhooks');
    await heading(page, 'Webhooks');
  });

  it('sends requests although the browser reports no network', async () => {
    const { page } = await dashboard.signedIn();
    await page.goto('/keys');
    await page.getByLabel('What the key is for').fill('offline');
    // The state of a browser without a network, with a service on the same machine.
    await page.evaluate(`
      Object.defineProperty(navigator, 'onLine', { get: () => false });
      dispatchEvent(new Event('offline'));`);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('API key', { exact: true }).waitFor();
    await page.getByRole('cell', { name: 'offline', exact: true }).waitFor();
  });

  it('shows every open window live', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByText(/^[1-9][\d,]* books in the last 5 minutes$/).waitFor();
    const cards = page.getByRole('region', { name: /^BTC / });
    await expect.poll(() => cards.count()).toBe(5);
    const count = async () =>
      Number(((await page.getByText('book changes since').textContent()) ?? '').replaceAll(/\D/g, ''));
    await expect.poll(count).toBeGreaterThan(30);
    await cards.first().getByText('proven').waitFor();
    await watched.inspect('live');
    await page.getByText('SOL', { exact: true }).click();
    await page.getByRole('region', { name: /^SOL / }).first().waitFor();
    expect(new URL(page.url()).searchParams.get('ticker')).toBe('SOL');
  });

  it('filters markets by address, and shows the recording of one', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.goto('/markets?status=resolved&event_type=5m');
    await page.locator('tbody a').nth(3).waitFor();
    await watched.inspect('markets');
    await page.locator('tbody a').nth(3).click();
    await page.locator('.uplot canvas').nth(1).waitFor();
    await page.getByRole('img', { name: /^Depth over time/ }).waitFor();
    await watched.inspect('market');
    const moment = page.getByRole('slider', { name: 'Moment of the book' });
    await moment.focus();
    for (let step = 0; step < 5; step++) await page.keyboard.press('ArrowLeft');
    await expect.poll(() => new URL(page.url()).searchParams.has('at')).toBe(true);
    await page.getByText(/last change/).waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: /as CSV/ }).click();
    const saved = readFileSync(await (await saving).path(), 'utf8');
    expect(saved.split('\n')[0]).toBe('ts,mid_yes,spread_yes,underlying_price');
    expect(saved.split('\n').length).toBeGreaterThan(50);
    const whole = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Every trade as CSV' }).click();
    const file = await whole;
    expect(file.suggestedFilename()).toMatch(/^trades-[a-z]+-updown-5m-\d+-\d{8}T\d{6}Z-\d{8}T\d{6}Z\.csv$/);
    expect(readFileSync(await file.path(), 'utf8').split('\n').length).toBeGreaterThan(2);
    expect(await page.getByRole('link', { name: 'Every book as CSV' }).getAttribute('href')).toMatch(
      /^\/app\/export\?dataset=snapshots&market_id=0x\w+&format=csv$/,
    );
  });

  it('says that a market is unknown', async () => {
    const watched = await dashboard.signedIn();
    watched.refusals.add('404 /app/markets/0xnone');
    await watched.page.goto('/markets/0xnone');
    await watched.page.getByText('Market not found').waitFor();
    await heading(watched.page, 'Market');
    expect(await watched.page.title()).toBe('Market · Underround');
    await watched.inspect('market-unknown');
  });

  it('shows the calibration of prices', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.getByRole('link', { name: 'Calibration' }).click();
    await page.getByRole('img', { name: /^Reliability diagram/ }).waitFor();
    await watched.inspect('calibration');
    // No market has a price from a day before its start, at any time of day.
    await page.goto('/calibration?event_type=5m&minutes_before=1440');
    await page.getByText('No resolved market matches').waitFor();
    await page.goto('/calibration?minutes_before=120&buckets=1');
    await page.getByText('Price 2 h before the end').waitFor();
    const asked = () => new URL(page.url()).searchParams;
    expect(asked().get('minutes_before')).toBe('120');
    expect(asked().get('buckets')).not.toBe('1');
    await page.getByRole('slider', { name: 'Time before the end' }).press('End');
    await expect.poll(() => asked().get('minutes_before')).toBe('1440');
    await page.getByText('Price 24 h before the end').waitFor();
  });

  it('shows open opportunities, their history and realised P&L', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.getByRole('link', { name: 'Signals', exact: true }).click();
    await page.getByRole('slider', { name: 'Minimum edge in cents' }).focus();
    await page.keyboard.press('Home');
    await page.getByText('Edge of at least 0¢').waitFor();
    await watched.inspect('signals');
    await page.getByRole('tab', { name: 'History' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('view')).toBe('history');
    await page.getByText(/Realised per share|No signals yet/).waitFor();
    await watched.inspect('signals-history');
    await page.getByRole('tab', { name: 'Audit' }).click();
    await page.getByText(/By kind|Nothing detected in this time/).waitFor();
    await watched.inspect('signals-audit');
  });

  it('sends far fewer requests after a sign-in than the lowest tier allows', async () => {
    const watched = await dashboard.open();
    const { page } = watched;
    const asked: { address: string; timeMs: number }[] = [];
    page.on('requestfinished', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (!pathname.startsWith('/app/') || request.method() !== 'GET') return;
      searchParams.delete('start');
      asked.push({ address: `${pathname}?${searchParams}`, timeMs: request.timing().startTime });
    });
    await watched.signIn(OTHER.email, OTHER.password);
    await page.getByText('live', { exact: true }).waitFor();
    await page.getByRole('region', { name: /^BTC / }).first().waitFor();
    await expect
      .poll(() => new Set(asked.map(({ address }) => address)))
      .toEqual(
        new Set([
          '/app/live?',
          '/app/arb/audit?window=1h&limit=100',
          '/app/state?',
          '/app/underlying?ticker=BTC&source=binance_spot&order=desc&limit=10000',
        ]),
      );
    const inSecondOf = (at: number) =>
      asked.filter(({ timeMs }) => timeMs >= at && timeMs < at + 1000).length;
    // Each of them once, and the windows again when one of them begins or ends in this second.
    expect(Math.max(...asked.map(({ timeMs }) => inSecondOf(timeMs)))).toBeLessThanOrEqual(5);
  });

  it('repeats a request refused for its rate after `Retry-After`', async () => {
    const watched = await dashboard.signedIn(OTHER);
    const { page } = watched;
    watched.refusals.add('429 /app/me').add('429 /app/keys');
    let refused = 0;
    await page.route(/\/app\/(?:me|keys)$/, (route) => {
      // The first request of each: the session, the list of keys, the new key.
      if (refused === 3 || (route.request().method() === 'GET' && refused === 2)) return route.continue();
      refused++;
      return route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: { detail: 'too many' } });
    });
    await page.goto('/keys');
    await page.getByLabel('What the key is for').fill('sent twice');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('API key', { exact: true }).waitFor();
    await page.getByRole('cell', { name: 'sent twice', exact: true }).waitFor();
    expect(refused).toBe(3);
  });

  it('names features that a tier does not include, and the next step', async () => {
    const watched = await dashboard.signedIn(OTHER);
    const { page } = watched;
    await page.goto('/webhooks');
    await page.getByText('Webhooks are not in tier free').waitFor();
    await watched.inspect('webhooks-free');
    await page.goto('/markets?status=resolved');
    await page.locator('tbody a').first().click();
    await page
      .getByText(
        /^Tier free does not include files of whole recordings. Tiers that include them: pro, plus, premium/,
      )
      .waitFor();
    await page.getByRole('link', { name: 'Backtests' }).click();
    await page.getByText(/^Tier free: up to [\d,]+ markets in a backtest, no sweeps/).waitFor();
    await page.getByText('Sweeps are not in tier free.').waitFor();
    expect(await page.getByRole('button', { name: 'Sweep a parameter' }).isDisabled()).toBe(true);
    await page.getByRole('link', { name: 'Paper' }).click();
    await page.getByLabel('Name').fill('the first');
    await page.getByRole('button', { name: 'Start paper trading' }).click();
    await heading(page, 'the first');
    await page.goto('/paper');
    await page.getByRole('button', { name: 'New paper strategy' }).click();
    await page.getByLabel('Name').fill('one too many');
    watched.refusals.add('403 /app/paper/strategies');
    await page.getByRole('button', { name: 'Start paper trading' }).click();
    await page.getByText('Your tier allows one active paper strategy').waitFor();
  });

  it('lets a user change the password, end sessions and sign out', async () => {
    const watched = await dashboard.signedIn(OTHER);
    const { page } = watched;
    await page.goto('/account');
    await page.getByRole('button', { name: 'End' }).first().waitFor();
    await watched.inspect('account');
    await page.getByRole('textbox', { name: 'Current password' }).fill(OTHER.password);
    await page.getByRole('textbox', { name: 'New password' }).fill(`${OTHER.password} 2`);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Your password was changed').waitFor();
    OTHER.password += ' 2';
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading(page, 'Sign in');
    await page.goto('/account');
    await heading(page, 'Sign in');
  });

  it('shows the operator’s page only to the operator', async () => {
    const { page } = await dashboard.signedIn(OTHER);
    await page.goto('/operator');
    await page.getByText('Only the operator sees this page').waitFor();
    expect(await page.getByRole('link', { name: 'Operator' }).count()).toBe(0);
  });
});
