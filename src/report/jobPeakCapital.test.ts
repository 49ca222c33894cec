import { expect, test } from 'vitest';
import { marketOf } from '../../test/support/paperRig.ts';
import { buyAndSell } from '../../test/support/strategies.ts';
import { END_MS, TapeWriter } from '../../test/support/tapes.ts';
import { replayOne } from '../backtest/marketReplay.ts';
import { backtestResult } from '../backtest/report.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { BacktestSpec } from '../schema/backtest.ts';
import { reportOfJob } from './jobReport.ts';

const strategy = buyAndSell({ below: 0.3, above: 0.5, tradesMax: 1 });
const RESOLVED = { payoutYes: 1, outcome: 'Up', resolvedTimeMs: END_MS + 60_000 } as const;

/** Buys 40 shares at 0.25; ten of them are sold ten seconds later, the others in the end. */
function market(marketId: string, openedAt: number) {
  const tape = new TapeWriter({ marketId })
    .book({ at: openedAt, bids: [[0.2, 100]], asks: [[0.25, 100]] })
    .book({ at: openedAt + 1_000, bids: [[0.2, 100]], asks: [[0.7, 100]] })
    .book({ at: openedAt + 10_000, bids: [[0.6, 5]], asks: [[0.7, 100]] })
    .book({ at: openedAt + 11_000, bids: [[0.4, 5]], asks: [[0.7, 101]] })
    .book({ at: 100_000, bids: [[0.6, 200]], asks: [[0.7, 100]] })
    .book({ at: 101_000, bids: [[0.6, 201]], asks: [[0.7, 100]] })
    .tape();
  const outcome = replayOne(tape, RESOLVED, { strategy, params: DEFAULT_PARAMS, sizeUsd: 10 });
  return { ...outcome, market: marketOf(tape, { ...RESOLVED, status: 'resolved' }) };
}

function resultOf(markets: readonly ReturnType<typeof market>[]) {
  const range = { startMs: END_MS, endMs: END_MS + 1, marketLimit: 10 };
  const universe = { ticker: 'BTC', event_type: '5m' } as const;
  const spec: BacktestSpec = {
    ...{ kind: 'backtest', strategy, universe, sizeUsd: 10, params: DEFAULT_PARAMS },
    ...range,
  };
  const receipt = { data_hash: '', venue_rules: '', code_version: '', seed: 1 };
  return backtestResult(markets, { spec, receipt });
}

function reportOf(markets: readonly ReturnType<typeof market>[]) {
  return reportOfJob(resultOf(markets), {
    ...{ name: 'peak', markets: markets.map((own) => own.market), latencyCurve: null },
    ...{ trialsBefore: 0, heldOut: null },
    request: { size_usd: 10 } as never,
  });
}

test('the peak capital of a job does not count shares that were already sold', () => {
  const together = reportOf([market('0x1', 10_000), market('0x2', 30_000)]);
  expect(together.trades.map(({ size_usd: usd }) => usd)).toEqual([10, 10]);
  // Ten of the first 40 shares were sold before the second purchase.
  expect(together.portfolio.peak_capital_used).toBe(17.5);
  expect(together.portfolio.return_on_peak_capital).toBe(together.total_pnl / 17.5);
  expect(reportOf([market('0x1', 10_000), market('0x2', 15_000)]).portfolio.peak_capital_used).toBe(20);
});

test('the report of a job has every member of the result, with the same figures', () => {
  const markets = [market('0x1', 10_000), market('0x2', 30_000)];
  const result = resultOf(markets);
  expect(result.peak_cost).toBe(17.5);
  // The report adds members to `orders` and to each trade.
  expect(reportOf(markets)).toMatchObject(result);
});
