import { describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { heading, useDemoPages } from '../support/demoPages.ts';

const SKIPPED = 'backtests and paper trading in a browser (skipped without a build or Chromium)';

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const dashboard = useDemoPages();

  it('runs a backtest, and shows an error beside its field', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.goto('/backtests');
    await page.getByText('No backtests yet').waitFor();
    const threshold = page.getByRole('textbox', { name: 'Threshold, 0 to 1' });
    await threshold.fill('7');
    await page.getByRole('textbox', { name: 'Latency (ms)' }).fill('');
    watched.refusals.add('422 /app/backtest');
    await page.getByRole('button', { name: 'Run backtest' }).click();
    await page.getByRole('alert').getByText('Correct the marked fields').waitFor();
    const saysOf = async (field: typeof threshold) =>
      page.locator(`#${await field.getAttribute('aria-describedby')}`).textContent();
    expect(await saysOf(threshold)).toBe('Input should be less than or equal to 1');
    expect(await saysOf(page.getByRole('textbox', { name: 'Latency (ms)' }))).toContain('valid integer');
    await watched.inspect('backtests-refused');
    await threshold.fill('0.4');
    await page.getByRole('textbox', { name: 'Latency (ms)' }).fill('120');
    await page.getByRole('button', { name: 'Run backtest' }).click();
    await page.getByText('P&L after fees').waitFor();
    await page.getByText('Details', { exact: true }).click();
    await page.getByText('P&L / max drawdown', { exact: true }).waitFor();
    await page
      .getByText(/^95.%: .* to |^too few markets for an interval$/)
      .first()
      .waitFor();
    await page.locator('.uplot canvas').nth(2).waitFor();
    await watched.inspect('backtest');
    expect(JSON.parse((await page.getByLabel('The request').textContent()) ?? '')).toMatchObject({
      params: { latency_ms: 120 },
    });
  });

  it('draws the trades of a backtest on the chart of their market', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.goto('/backtests');
    await page.getByRole('table', { name: 'Backtests' }).getByRole('link').first().click();
    const market = page.getByLabel('Market', { exact: true });
    await market.waitFor();
    const second = (await market.locator('option').nth(1).getAttribute('value')) ?? '';
    await market.selectOption(second);
    await page
      .getByRole('img', {
        name: /^Implied and model probability of Up over time, with (one trade|\d+ trades)$/,
      })
      .waitFor();
    expect(new URL(page.url()).searchParams.get('market')).toBe(second);
    await page.getByRole('region', { name: 'Trades', exact: true }).locator('tbody a').first().click();
    await page.getByText(/^Drawn: (one trade|\d+ trades), /).waitFor();
    await page.getByRole('img', { name: /with (one trade|\d+ trades)$/ }).waitFor();
    await watched.inspect('market-trades');
    await page.getByRole('link', { name: 'Hide trades' }).click();
    await page
      .getByRole('img', { name: /over time$/ })
      .first()
      .waitFor();
    await expect.poll(() => [...new URL(page.url()).searchParams.keys()]).toEqual(['at']);
  });

  it('builds a sweep over two axes by form, and shows its request as JSON', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.goto('/backtests');
    await page.getByRole('button', { name: 'New backtest' }).click();
    await page.getByLabel('Strategy', { exact: true }).selectOption('condition_based');
    await page.getByText('JSON', { exact: true }).click();
    const json = page.getByLabel('Request body');
    expect(JSON.parse(await json.inputValue())).toMatchObject({ strategy: { type: 'condition_based' } });
    await page.getByText('Form', { exact: true }).click();
    const ofEntry = (what: string) => page.getByLabel(`Buy when all are true: ${what}`);
    await ofEntry('what').selectOption('token_volatility');
    await ofEntry('token').selectOption('no');
    await ofEntry('seconds').fill('30');
    await ofEntry('how').selectOption('>=');
    await page.getByRole('button', { name: 'Buy when all are true: add an alternative' }).click();
    await watched.inspect('backtests');
    await page.getByText('JSON', { exact: true }).click();
    expect(JSON.parse(await json.inputValue()).strategy.entry).toEqual([
      {
        any: [
          { metric: 'token_volatility', operator: '>=', value: 0.6, token: 'no', window_s: 30 },
          { metric: 'token_price', operator: 'below', value: 0.5 },
        ],
      },
    ]);
    await page.getByText('Form', { exact: true }).click();
    await page.getByLabel('Strategy', { exact: true }).selectOption('mean_reversion');
    await page.getByRole('button', { name: 'Sweep a parameter' }).click();
    await page.getByRole('button', { name: 'Add a second axis' }).click();
    const [first, second] = [
      page.getByRole('group', { name: 'First axis' }),
      page.getByRole('group', { name: 'Second axis' }),
    ];
    await first.getByLabel('Steps').fill('3');
    await second.getByLabel('Vary').selectOption('latency_ms');
    await second.getByLabel('Steps').fill('');
    watched.refusals.add('422 /app/backtest/sweep');
    await page.getByRole('button', { name: 'Run sweep' }).click();
    await second.getByText(/valid integer/).waitFor();
    await second.getByLabel('Steps').fill('2');
    await page.getByText('6 cells').waitFor();
    await page.getByText('JSON', { exact: true }).click();
    expect(JSON.parse(await json.inputValue())).toMatchObject({
      x_axis: { param: 'lookback', steps: 3 },
      y_axis: { param: 'latency_ms', start: 0, end: 1000, steps: 2 },
    });
    await page.getByRole('button', { name: 'Run sweep' }).click();
    await page.getByText('Details', { exact: true }).click();
    await page.getByText('Deflated Sharpe', { exact: true }).waitFor();
    await page.getByText(/\d+ earlier trials? on this series$/).waitFor();
    expect(await page.getByRole('table').locator('td').count()).toBe(6);
    await page.getByText('P&L by lookback (s) and latency (ms)').waitFor();
    await watched.inspect('sweep');
    const request = JSON.parse((await page.getByLabel('The request').textContent()) ?? '');
    await page.getByRole('link', { name: 'Change and run again' }).click();
    await page.getByText('6 cells').waitFor();
    await page.getByText('JSON', { exact: true }).click();
    const { start, ...asked } = request;
    expect([start, JSON.parse(await json.inputValue())]).toEqual([null, asked]);
    // Its end has milliseconds, which the form must send unchanged.
    await page.getByText('Form', { exact: true }).click();
    await page.getByRole('button', { name: 'Run sweep' }).click();
    await page.getByRole('region', { name: 'Verdict' }).waitFor();
    expect(JSON.parse((await page.getByLabel('The request').textContent()) ?? '')).toEqual(request);
  });

  it('trades on paper, compares with the baseline, and pauses, renames and deletes the strategy', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.getByRole('link', { name: 'Paper' }).click();
    await page.getByText('No paper strategies yet').waitFor();
    await watched.inspect('paper-none');
    // Buys at any price and sells at any price: positions close within seconds.
    await page.getByLabel('Name').fill('in and out');
    await page.getByLabel('Strategy', { exact: true }).selectOption('condition_based');
    await page.getByRole('textbox', { name: 'Max trades per market' }).fill('20');
    const line = (title: string, what: string) => page.getByLabel(`${title}: ${what}`);
    await line('Buy when all are true', 'what').selectOption('token_price');
    await line('Buy when all are true', 'how').selectOption('below');
    await line('Buy when all are true', 'value').fill('1');
    await line('Take profit when any is true', 'value').fill('');
    watched.refusals.add('422 /app/paper/strategies');
    await page.getByRole('button', { name: 'Start paper trading' }).click();
    await page.getByText(/valid number/).waitFor();
    await line('Take profit when any is true', 'value').fill('0');
    // Too many requests: `Retry-After` is longer than the page's own retries.
    const busy = 'Rate limit of tier premium exceeded';
    const refused = { status: 429, headers: { 'retry-after': '60' }, json: { detail: busy } };
    await page.route('**/app/paper/strategies', (asked) => asked.fulfill(refused), { times: 1 });
    watched.refusals.add('429 /app/paper/strategies');
    await page.getByRole('button', { name: 'Start paper trading' }).click();
    await page.getByRole('alert').getByText(busy).waitFor();
    await page.getByRole('button', { name: 'Start paper trading' }).click();
    await heading(page, 'in and out');
    await page.getByRole('img', { name: /^P&L by number of closed positions/ }).waitFor();
    await page.getByRole('region', { name: 'Positions' }).locator('tbody a').first().waitFor();
    await page.getByRole('button', { name: 'Replay the same windows' }).click();
    await page.getByText('The same windows, replayed').waitFor();
    await page.getByRole('button', { name: 'Replay them again' }).waitFor();
    await watched.inspect('paper');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByLabel('New name').fill('out and in');
    await page.getByRole('button', { name: 'Save' }).click();
    await heading(page, 'out and in');
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('trading', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Positions' }).locator('tbody a').first().click();
    await page.getByText(/^Drawn: (one trade|\d+ trades), /).waitFor();
    await page.getByRole('link', { name: 'Paper', exact: true }).click();
    await page.getByRole('link', { name: 'out and in' }).waitFor();
    await watched.inspect('papers');
    await page.getByRole('link', { name: 'out and in' }).click();
    await page.getByRole('button', { name: 'Delete out and in' }).click();
    await page.getByRole('button', { name: / for good$/ }).click();
    await page.getByText('No paper strategies yet').waitFor();
  });

  it('paper-trades the strategy of a backtest, with that backtest as its baseline', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    await page.goto('/backtests');
    await page
      .getByRole('table', { name: 'Backtests' })
      .getByRole('link', { name: 'Price threshold', exact: true })
      .last()
      .click();
    await page.getByRole('link', { name: 'Paper-trade this' }).click();
    expect(await page.getByRole('textbox', { name: 'Threshold, 0 to 1' }).inputValue()).toBe('0.4');
    expect(await page.getByLabel('Compared with').inputValue()).toMatch(/^bt_/);
    await page.getByRole('button', { name: 'Start paper trading' }).click();
    await heading(page, 'BTC 5 min: Price threshold');
    await page.getByText('Baseline, earlier windows').waitFor();
    await page.goto('/paper');
    await page.getByRole('button', { name: 'New paper strategy' }).click();
    await page.getByLabel('Name').fill('BTC 5 min: Price threshold');
    watched.refusals.add('409 /app/paper/strategies');
    await page.getByRole('button', { name: 'Start paper trading' }).click();
    await page.getByText('A paper strategy of this name exists already').waitFor();
  });

  it('names each figure that differs in a replay of the same windows', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    const trade = {
      ...{ market_id: '0xa', side: 'buy_yes', opened_at: '2026-11-20T12:01:00.000+00:00', entry_price: 0.4 },
      ...{
        closed_at: '2026-11-20T12:05:31.000+00:00',
        exit_price: 1,
        shares: 25,
        size_usd: 10,
        fees_usd: 0.4,
      },
      ...{ slippage: 0, net_pnl: 14.6, outcome: 'Up', exit_reason: 'resolved' },
    };
    const run = {
      ...{ backtest_id: 'bt_w', status: 'complete', trades: 5, win_rate: 0.5, net_pnl: 1, fees: 0.4 },
      ...{ avg_pnl_per_trade: 0.2, avg_slippage: 0 },
    };
    const differing = (['both', 'live', 'backtest'] as const).map((found_in, at) => ({
      ...{ market_id: '0xa', opened_at: `2026-11-20T12:0${at + 1}:00.000+00:00`, found_in },
      ...{ live_net_pnl: found_in === 'backtest' ? null : 14.6, backtest_net_pnl: null },
    }));
    const report = {
      ...{ paper_strategy_id: 'ps_1', from: trade.opened_at, to: trade.closed_at, same: 4, differing },
      ...{ live: { ...run, backtest_id: null, status: 'live' }, baseline: run, window: run },
    };
    await page.goto('/paper');
    await page.route('**/app/paper/strategies/*/divergence', (asked) => asked.fulfill({ json: report }));
    await page.route('**/app/paper/strategies/*/positions?*', (asked) =>
      asked.fulfill({
        json: { count: 1, positions: [{ position_id: 'pos_1', ...trade }], next_cursor: null },
      }),
    );
    const replayed = { ...trade, entry_price: 0.41, exit_reason: null };
    await page.route('**/app/backtest/bt_w', (asked) =>
      asked.fulfill({ json: { status: 'complete', result: { trades: [replayed] } } }),
    );
    await page.locator('tbody a').first().click();
    await page.getByText('4 positions are alike in every figure, 3 differ.').waitFor();
    const rows = page.getByRole('region', { name: 'Live against a backtest' }).locator('tbody tr');
    await rows.getByText('entry price 0.4 / 0.41, exit reason resolved / –').waitFor();
    expect(await rows.nth(4).textContent()).toMatch(/14\.60–bought only live$/);
    expect(await rows.nth(5).textContent()).toMatch(/––bought only in the replay$/);
    await watched.inspect('paper-divergence');
  });

  it('says that a paper strategy or a backtest is unknown', async () => {
    const watched = await dashboard.signedIn();
    const { page } = watched;
    watched.refusals.add('404 /app/paper/strategies/ps_none');
    await page.goto('/paper/ps_none');
    await page.getByText('Paper strategy not found').waitFor();
    await heading(page, 'Paper strategy');
    watched.refusals.add('404 /app/backtest/bt_none');
    await page.goto('/backtests/bt_none');
    await heading(page, 'Backtest');
    expect(await page.title()).toBe('Backtest · Underround');
  });
});
