import { expect, test } from 'vitest';
import type { Trade } from '../core/session/position.ts';
import { tradeBody } from './tradeBody.ts';

const START_MS = Date.UTC(2026, 10, 20, 12);
const TRADE: Trade = {
  ...{ token: 'yes', decidedMs: START_MS, openedMs: START_MS + 250, closedMs: START_MS + 60_000 },
  ...{ decisionPrice: 0.41, entryPrice: 0.42, exitPrice: 0.5, size: 2_500_000, principal: 1_050_000 },
  ...{ fees: 20_000, entrySlippage: 0.01, exitSlippage: 0.02, entryLevels: 1, exitLevels: 3 },
  ...{ pnl: -180_000, exitReason: 'take_profit' },
} as Trade;

test('a position is returned in shares and USD, with each of its times, prices and levels', () => {
  expect(tradeBody({ marketId: '0x1', outcome: 'Up' }, TRADE)).toEqual({
    ...{ market_id: '0x1', side: 'buy_yes', decided_at: '2026-11-20T12:00:00.000+00:00' },
    ...{ opened_at: '2026-11-20T12:00:00.250+00:00', closed_at: '2026-11-20T12:01:00.000+00:00' },
    ...{ decision_price: 0.41, entry_price: 0.42, exit_price: 0.5, shares: 2.5, size_usd: 1.05 },
    ...{ fees_usd: 0.02, slippage: 0.01, entry_slippage: 0.01, exit_slippage: 0.02 },
    ...{ entry_levels: 1, exit_levels: 3, net_pnl: -0.18, outcome: 'Up', exit_reason: 'take_profit' },
  });
});

test('an open position has no profit, no exit and no outcome, instead of zeros', () => {
  const open = { closedMs: null, exitPrice: null, exitSlippage: null, exitLevels: null, pnl: null };
  const body = tradeBody({ marketId: '0x1', outcome: null }, { ...TRADE, ...open, token: 'no' } as Trade);
  expect(body).toMatchObject({
    ...{ side: 'buy_no', closed_at: null, exit_price: null, exit_slippage: null, exit_levels: null },
    ...{ net_pnl: null, outcome: null },
  });
});
