import { describe, expect, it } from 'vitest';
import { browserAbsent } from '../support/browser.ts';
import { recordedMarket } from '../support/recordedMarket.ts';
import { useStubbedPages } from '../support/stubbedPages.ts';

const SKIPPED = 'a market with more rows than one answer has (skipped without a build or Chromium)';
const START = '2026-11-20T12:00:00.000Z';

describe.skipIf(browserAbsent)(SKIPPED, () => {
  const pages = useStubbedPages();

  it('shows the gaps of every answer', async () => {
    const { page } = await pages.open();
    const path = pages.add(recordedMarket('5m', START));
    const gapAt = (id: string, second: string) => ({
      ...{ gap_id: id, market_id: path.split('/').at(-1), feed: 'polymarket.clob', repaired_by: null },
      ...{ start: `2026-11-20T12:0${second}+00:00`, end: `2026-11-20T12:0${second}+00:00` },
      cause: id,
    });
    await page.route('**/app/gaps?**', (route) => {
      const isSecond = new URL(route.request().url()).searchParams.get('cursor') === 'more';
      const gaps = [isSecond ? gapAt('silent_feed', '2:00.000') : gapAt('disconnected', '1:00.000')];
      return route.fulfill({ json: { gaps, count: 1, next_cursor: isSecond ? null : 'more' } });
    });
    await page.goto(path);
    const table = page.getByRole('table', { name: 'Gaps' });
    await table.getByText('disconnected').waitFor();
    await table.getByText('silent feed').waitFor();
  });

  it('says of its tape that it has the newest trades, and not that there were none before', async () => {
    const { page } = await pages.open();
    const path = pages.add(recordedMarket('5m', START));
    const trade = {
      ...{ trade_id: 't1', ts: '2026-11-20T12:04:00.000+00:00', side: 'BUY_YES', price: 0.5, size: 10 },
    };
    const json = { trades: [trade], next_cursor: 'older' };
    await page.route('**/app/trades?**', (route) => route.fulfill({ json }));
    await page.goto(`${path}?at=${Date.parse('2026-11-20T12:04:30.000Z')}`);
    const tape = page.getByRole('region', { name: 'Tape' });
    await tape.getByText('Trades, 1 of the newest 1', { exact: true }).waitFor();
    await page.goto(`${path}?at=${Date.parse('2026-11-20T12:01:00.000Z')}`);
    await tape
      .getByText('The page has the newest 1 alone: the file of every trade has those before.')
      .waitFor();
    expect(await tape.textContent()).not.toContain('No trade');
  });
});
