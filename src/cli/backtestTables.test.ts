import { expect, test } from 'vitest';
import type { BacktestResultBody } from '../schema/api/backtests.ts';
import { printBacktest } from './backtestTables.ts';

/** A result with so many trades, each in a market of its own. */
function resultWith(trades: number): BacktestResultBody {
  const trade = (at: number) => ({
    ...{ market_id: `0x${String(at).padStart(8, '0')}ff`, side: 'buy_yes', opened_at: 'now' },
    ...{ entry_price: 0.5, exit_price: 1, shares: 10, fees_usd: 0.1, net_pnl: 4.9, exit_reason: 'outcome' },
  });
  return {
    ...{ markets_total: 30, markets_traded: trades, markets_skipped: [], coverage: 0.5 },
    ...{ trades_total: trades, trades_won: 1, win_rate: null, intervals: null, total_pnl: 1.5 },
    ...{ largest_trade_share: null, total_fees: 0.25, avg_pnl_per_trade: null, avg_slippage: null },
    orders: { placed: 3, filled: 2, missed: { no_liquidity: 1 }, taken_back: 0 },
    ...{ profit_factor: null, sharpe_per_market: null, sharpe_ratio: null, sortino_ratio: null },
    ...{ calmar_ratio: null, max_drawdown: null, receipt: { data_hash: 'a'.repeat(64) } },
    trades: Array.from({ length: trades }, (_, at) => trade(at)),
  } as unknown as BacktestResultBody;
}

const marketsIn = (text: string) => text.match(/0x\d{8}/g) ?? [];

test('of many trades the last twenty are shown', () => {
  const text = printBacktest(resultWith(21));
  expect(marketsIn(text)).toEqual(
    Array.from({ length: 20 }, (_, at) => `0x${String(at + 1).padStart(8, '0')}`),
  );
  expect(text.endsWith('\n(the last 20 of 21 trades)')).toBe(true);
});

test('of few trades all are shown, and of none the reason', () => {
  const few = printBacktest(resultWith(20));
  expect([marketsIn(few).length, few.includes('the last')]).toEqual([20, false]);
  expect(printBacktest(resultWith(0))).toContain('No trades: ');
});

test('figures that do not exist are shown as such, and never as 0', () => {
  const lines = printBacktest(resultWith(1)).split('\n');
  const of = (name: string) =>
    lines
      .find((line) => line.startsWith(name))
      ?.slice(name.length)
      .trim();
  expect([of('win rate'), of('max drawdown'), of('total P&L'), of('not filled')]).toEqual([
    ...['-', '-', '1.50 USD', '1 no_liquidity'],
  ]);
});
