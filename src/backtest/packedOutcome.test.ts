import { expect, test } from 'vitest';
import { marketRecord } from '../../test/support/api.ts';
import type { Trade } from '../core/session/position.ts';
import { NO_ORDERS } from '../core/session/sessionEvents.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { BacktestSpec } from '../schema/backtest.ts';
import { printJson } from '../schema/moneyJson.ts';
import { packOutcome, reportBytes } from './packedOutcome.ts';
import { backtestResult, type ReplayedMarket } from './report.ts';

const RECEIPT = { data_hash: '', venue_rules: '', code_version: '', seed: 1 };
const SPEC: BacktestSpec = {
  ...{ universe: { ticker: 'BTC', event_type: '5m' }, sizeUsd: 10, params: DEFAULT_PARAMS },
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  ...{ startMs: null, endMs: 300_000, marketLimit: 50 },
};

test('a packed result is printed as money is, in memory that threads share', () => {
  const market = marketRecord({ marketId: '0x1', startTimeMs: 0, endTimeMs: 300_000 });
  const trade: Trade = {
    ...{ token: 'yes', decidedMs: 1, openedMs: 2, closedMs: 3, decisionPrice: 0.4, entryPrice: 0.1 + 0.2 },
    ...{ exitPrice: null, size: 1_000_000, principal: 300_000, fees: 0, entrySlippage: 0.1 + 0.2 - 0.4 },
    ...{ exitSlippage: null, entryLevels: 1, exitLevels: null, pnl: 100_000, exitReason: 'resolved' },
  };
  const replay = { skipped: null, trades: [trade], orders: NO_ORDERS, paidOutCost: 0, costChanges: [] };
  const outcome: ReplayedMarket = { market, replay, coverage: 1 };
  const packed = packOutcome(outcome);
  const bytes = reportBytes({ outcomes: [packed], spec: SPEC, receipt: RECEIPT } as never);
  expect([packed.buffer, bytes.buffer].map((memory) => memory instanceof SharedArrayBuffer)).toEqual([
    ...[true, true],
  ]);
  const expected = backtestResult([outcome], { spec: SPEC, receipt: RECEIPT });
  const printed = Buffer.from(bytes).toString();
  expect(printed).toBe(printJson(expected));
  expect(printed).not.toBe(JSON.stringify(expected));
});
