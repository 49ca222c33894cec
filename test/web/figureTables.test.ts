import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { recordingAbsent, useRecordedPages } from '../support/recordedPages.ts';

const SKIPPED = 'tables of figures (skipped without a build, Chromium or a recording)';
const PHONE = { width: 390, height: 844 };
const BUCKET = { total: 1_250, resolved: 2, avg_model_ev: 0.0452, avg_realized: -0.0031 };
const ROW = {
  ...{ audit_id: 'a', tier: 'logical', ticker: 'BTC', event_type: '5m', market_id: '0xa' },
  ...{ direction: 'BUY_BOTH', fill_price: 0.93, model_ev_per_share: 0.045, executable: [] },
  detected_at: '2026-11-20T12:00:00.000+00:00',
};
const RUN = { ...{ trades: 12, win_rate: 0.5, fees: 0.4, avg_slippage: 0.00051 }, status: 'complete' };

const tableTexts = async (page: Page, name: string) => {
  const table = page.getByRole('table', { name });
  await table.locator('tbody tr').first().waitFor();
  const rows = await table.locator('tr').all();
  return Promise.all(rows.map((row) => row.locator('th, td').allTextContents()));
};

/** On a phone each row is a card with its titles, and the page does not scroll sideways. */
async function expectCards(page: Page, name: string): Promise<void> {
  await page.setViewportSize(PHONE);
  const body = `document.querySelector('table[aria-label="${name}"] tbody')`;
  const beyond = () => page.evaluate<number>(`${body}.scrollWidth - ${body}.closest('div').clientWidth`);
  await expect.poll(beyond).toBeLessThanOrEqual(0);
  const title = `getComputedStyle(${body}.querySelector('td:nth-child(2)'), '::before').content`;
  expect(await page.evaluate<string>(title)).not.toBe('none');
}

describe.skipIf(recordingAbsent)(SKIPPED, () => {
  const pages = useRecordedPages();

  it('show the audit with signs, one number a column, and as cards on a phone', async () => {
    const page = await pages.open('signals', async (one) => {
      const sums = {
        ...{ window: 'all', overall: { ...BUCKET, total_realized: -0.1, first_detection: ROW.detected_at } },
        ...{ by_tier: [{ bucket: 'logical', ...BUCKET }], by_event_type: [{ bucket: '5m', ...BUCKET }] },
        by_ticker: [{ bucket: 'BTC', ...BUCKET, avg_model_ev: null, avg_realized: 0 }],
      };
      await one.route('**/app/arb/audit/aggregate?**', (route) => route.fulfill({ json: sums }));
      const rows = Array.from({ length: 30 }, (_, n) => ({
        ...{ ...ROW, market_id: `0x${n}`, realized_per_share: n % 2 === 0 ? -0.013 : 0.007 },
      }));
      await one.route('**/app/arb/audit?**', (route) =>
        route.fulfill({ json: { window: 'all', count: 30, rows, next_cursor: null } }),
      );
    });
    await page.getByText('Audit', { exact: true }).click();
    const heads = [
      'Detected',
      'Resolved',
      'Expected per share',
      'Realised per share',
      '95 % from',
      '95 % to',
    ];
    expect(await tableTexts(page, 'By kind')).toEqual([
      ['By kind', ...heads],
      ['logical', '1,250', '2', '+4.5¢', '−0.3¢', '−0.7¢', '+0.1¢'],
    ]);
    expect(await tableTexts(page, 'By underlying')).toEqual([
      ['By underlying', ...heads],
      ['BTC', '1,250', '2', '–', '0.0¢', '−0.7¢', '+0.1¢'],
    ]);
    await expectCards(page, 'By window');
    await page.context().close();
  });

  it('show a paper strategy beside its backtests with signs, and as cards on a phone', async () => {
    const page = await pages.open('paper', (one) =>
      one.route('**/app/paper/strategies/*/divergence', (route) => {
        const replay = { ...RUN, backtest_id: 'bt_w', net_pnl: -1.5, avg_pnl_per_trade: -0.125 };
        return route.fulfill({
          json: {
            ...{ paper_strategy_id: 'ps', from: ROW.detected_at, to: ROW.detected_at, same: 3 },
            live: { ...RUN, backtest_id: null, status: 'live', net_pnl: 2, avg_pnl_per_trade: 0.1667 },
            ...{ baseline: replay, window: replay },
            differing: [
              {
                ...{ market_id: '0xa', opened_at: ROW.detected_at, found_in: 'live' },
                ...{ live_net_pnl: -14.6, backtest_net_pnl: null },
              },
            ],
          },
        });
      }),
    );
    const figures = ['Closed', 'Won', 'P&L', 'Fees', 'P&L per trade', 'Slippage per share'];
    expect(await tableTexts(page, 'Runs')).toEqual([
      ['Run', 'State', ...figures],
      ['Live, on paper', 'live', '12', '50.0\u00a0%', '+$2.00', '$0.40', '+$0.167', '0.05¢'],
      ['Baseline, earlier windows', 'complete', '12', '50.0\u00a0%', '−$1.50', '$0.40', '−$0.125', '0.05¢'],
      ['The same windows, replayed', 'complete', '12', '50.0\u00a0%', '−$1.50', '$0.40', '−$0.125', '0.05¢'],
    ]);
    expect(await tableTexts(page, 'Differing positions')).toEqual([
      ['Opened, UTC', 'P&L live', 'P&L in the replay', 'Differences, live / replay'],
      ['20 Nov, 12:00:00', '−$14.60', '–', 'bought only live'],
    ]);
    await expectCards(page, 'Runs');
    await expectCards(page, 'Differing positions');
    await page.context().close();
  });
});
