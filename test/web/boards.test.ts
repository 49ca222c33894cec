import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WebSocketRoute } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { heading, useDemoPages } from '../support/demoPages.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const SKIPPED = 'the signals board and the operator’s view (skipped without a build or Chromium)';
const ROW = {
  ...{ type: 'opportunity', tier: 'logical', ticker: 'ETH', event_type: '15m', market_id: '0xab' },
  ...{
    polymarket_slug: 's',
    direction: 'BUY_BOTH',
    fill_price: 0.93,
    fill_spread: 0.07,
    confidence: 'stable',
  },
  ...{ expected_pnl_per_share: 0.045, est_fee_per_share: 0.02, tau_minutes: 3, model_yes_prob: 0.5 },
  ...{ detected_at: '2026-11-20T12:00:00.000+00:00', polymarket_url: 'https://x', question: 'q' },
  ...{ resolution_at: '2026-11-20T12:03:00.000+00:00', seconds_to_resolution: 180, underlying_now: 3000 },
  ...{ strike_price: 3000, log_diff: 0, sigma_annual: 0.5, sigma_tau: 0.001, market_yes_mid: 0.5 },
  ...{ mismatch_mid: 0, yes_bid: 0.4, yes_ask: 0.46, no_bid: 0.4, no_ask: 0.47, edge_per_share: 0.045 },
  available_size: 120,
};
const boardOf = (...rows: object[]) =>
  JSON.stringify({ type: 'board', as_of: '2026-11-20T12:00:01.000+00:00', opportunities: rows });

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const endings: (() => unknown)[] = [];
  const tiersFile = join(
    temporaryDirectory((end) => void endings.push(end)),
    'tiers.json',
  );
  writeFileSync(
    tiersFile,
    JSON.stringify({ pro: { webhooks: true, history_days: 77 }, free: { paper_strategies: 0 } }),
  );
  afterAll(() => endings.forEach((end) => void end()));
  const dashboard = useDemoPages({ UNDERROUND_TIERS_FILE: tiersFile });

  it('receives open opportunities by push, shows a lost connection, and reconnects', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    // The page Live has a board of its own.
    await page.goto('/keys');
    await heading(page, 'API keys');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const sockets: WebSocketRoute[] = [];
    await page.routeWebSocket(/\/app\/arb\/board$/, (socket) => {
      sockets.push(socket);
      if (sockets.length === 1) socket.connectToServer();
      else if (sockets.length > 2) {
        socket.send('{"type":"ready","tier":"premium"}');
        socket.send(boardOf(ROW));
      }
    });
    await page.getByRole('link', { name: 'Signals', exact: true }).click();
    const state = page.getByRole('group', { name: 'The board' });
    await state.getByText('live', { exact: true }).waitFor();
    await page.locator('tbody tr').or(page.getByText('No open opportunities')).first().waitFor();
    await sockets[0]?.close({ code: 1013, reason: 'too slow' });
    await state.getByText('reconnecting').waitFor();
    await state.getByText('too slow').waitFor();
    await state.getByText(/^as of /).waitFor();
    await watched.inspect('signals-lost');
    await expect.poll(() => sockets.length).toBeGreaterThan(1);
    // The page asks over HTTP why a connection ended before `ready`.
    watched.refusals.add('426 /app/arb/board');
    await sockets[1]?.close({ code: 1001, reason: 'service is stopping' });
    await state.getByText('live', { exact: true }).waitFor();
    const row = page.locator('tbody tr').filter({ hasText: 'ETH 15 min' });
    await row.getByText('buy both').waitFor();
    expect(await row.textContent()).toContain('4.5¢');
    const edge = page.getByRole('slider', { name: 'Minimum edge in cents' });
    await edge.focus();
    await page.keyboard.press('ArrowRight');
    await page.getByText('Edge of at least 4.5¢').waitFor();
    expect(await row.count()).toBe(1);
    await page.keyboard.press('ArrowRight');
    await page.getByText('No open opportunities').waitFor();
    await page.keyboard.press('Home');
    await row.waitFor();
    sockets.at(-1)?.send(boardOf());
    await page.getByText('No open opportunities').waitFor();
    expect(asked).not.toContain('/app/arb/live');
  });

  it('shows the reason of a refused connection', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.routeWebSocket(/\/app\/arb\/board$/, (socket) => void socket.close({ code: 1006 }));
    await page.route('**/app/arb/board', (request) =>
      request.fulfill({
        status: 429,
        json: { detail: 'Tier free permits 4 connections to this stream at once' },
      }),
    );
    watched.refusals.add('429 /app/arb/board');
    await page.goto('/signals');
    await page.getByRole('alert').getByText('Tier free permits 4 connections').waitFor();
  });

  it('shows the operator each feed and socket with its last message, and the open gaps', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.getByRole('link', { name: 'Operator' }).click();
    const feeds = page.getByRole('table', { name: 'Feeds' });
    const row = (name: string) => feeds.locator('tbody tr').filter({ hasText: name });
    const fiveMinutes = () => row('polymarket.clob BTC-5m').textContent();
    await expect.poll(fiveMinutes).toMatch(/2 connected\d+\.?\d* s ago/);
    await row('polymarket.rtds').getByText('connected', { exact: true }).waitFor();
    await row('binance').first().getByText('connected', { exact: true }).waitFor();
    await row('bybit.rest').getByText('answers').waitFor();
    await page.getByText('No drift seen').waitFor();
    await row('polymarket.polybolt').getByText('connected', { exact: true }).waitFor();
    await page
      .getByText('Strikes of windows of 5 min, 15 min and 4 hours come from PolyBolt and RTDS.')
      .waitFor();
    const sources = page.getByRole('table', { name: 'Price sources' }).locator('tbody tr');
    await sources
      .filter({ hasText: 'crypto-price' })
      .getByText(/^(?:ready|not needed yet)$/)
      .waitFor();
    await page.getByText(/^No gap is open|^Open gap since/).waitFor();
    await watched.inspect('operator');
  });

  it('shows the perpetual book of the chosen venue', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.getByRole('link', { name: 'Perpetuals' }).click();
    await heading(page, 'Perpetuals');
    await page.getByText('50 bids, 50 asks').waitFor();
    await page.getByRole('combobox', { name: 'Venue' }).click();
    await page.getByRole('option', { name: 'Hyperliquid' }).click();
    await page.getByText('20 bids, 20 asks').waitFor();
    expect(new URL(page.url()).searchParams.get('venue')).toBe('hyperliquid');
    await page.getByText('ETH', { exact: true }).click();
    await page.getByRole('table', { name: 'ETH perpetual' }).waitFor();
    await watched.inspect('perpetuals');
  });

  it('warns the operator of a protocol version that this release does not know', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    const last_at = '2026-11-20T12:00:00.000+00:00';
    const unknown = { where: 'frame', version: 'v3', markets: 2, newest_market: '0x02', last_at };
    const status = { as_of: last_at, feeds: [], gaps: [], unknown_versions: [unknown], price_sources: [] };
    await page.route('**/app/feeds', (request) => request.fulfill({ json: status }));
    await page.getByRole('link', { name: 'Operator' }).click();
    const warning = page.getByRole('region', { name: 'Unknown protocol version' });
    await warning.getByText('v3 in frames of the market channel: 2 markets, newest 0x02').waitFor();
    await watched.inspect('operator-version');
  });

  it('says on a page that the tier does not include it', async () => {
    const watched = await dashboard.open();
    const { page } = watched;
    await page.goto('/sign-up');
    await page.getByLabel('E-mail address').fill('ann@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill('correct horse battery');
    await page.getByRole('button', { name: 'Create account' }).click();
    await heading(page, 'Welcome');
    watched.refusals.add('403 /app/paper/strategies');
    await page.getByRole('link', { name: 'Paper' }).click();
    await page.getByRole('heading', { name: 'Not in your tier' }).waitFor();
    await watched.inspect('paper-refused');
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page
      .getByText('Tiers that include them: pro, premium. The operator of this service sets your tier.')
      .waitFor();
  });

  it('shows the contents of each tier of this service, as configured', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.getByRole('link', { name: 'Account' }).click();
    const cells = (what: string) =>
      page.locator('tbody tr').filter({ hasText: what }).locator('td').allTextContents();
    await page.getByRole('cell', { name: 'Webhooks', exact: true }).waitFor();
    expect(await cells('History')).toEqual(['History', '31 days', '77 days', '60 days', 'all']);
    expect(await cells('Webhooks')).toEqual(['Webhooks', 'no', 'yes', 'no', 'yes']);
    await watched.inspect('account');
  });
});
