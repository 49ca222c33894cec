import type { ApiDependencies } from '../../src/api/createApi.ts';
import type { PaperStrategy } from '../../src/trading/paper/strategies.ts';

/** The only paper strategy of the stub. */
export const STUB_STRATEGY = 'ps_stub';

const NOW = Date.UTC(2026, 10, 20, 12);
const STRATEGY: PaperStrategy = {
  ...{ strategyId: STUB_STRATEGY, userId: 'usr_1', name: 'cheap', sizeUsd: 10, createdMs: NOW },
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  universe: { ticker: 'BTC', event_type: '5m' },
  ...{ activeFromMs: NOW + 1_000, entriesUntilMs: null, netPnl: 0, openPositions: 0, closedPositions: 0 },
  ...{ baselineId: 'bt_stub', windowBacktestId: null },
};
const RUN = {
  ...{ backtest_id: null, status: 'live' as const, trades: 0, win_rate: null, net_pnl: 0, fees: 0 },
  ...{ avg_pnl_per_trade: null, avg_slippage: null },
};

/** Strategies of a user who has one, which never dealt; every new one is that one again. */
export const stubPaper: ApiDependencies['paper'] = {
  create: async () => STRATEGY,
  change: async (strategyId) => (strategyId === STUB_STRATEGY ? STRATEGY : 'not_found'),
  delete: async (strategyId) => strategyId === STUB_STRATEGY,
  replayWindow: async () => 'bt_stub',
  divergence: async () => ({
    ...{ fromMs: NOW, toMs: NOW, live: RUN, baseline: RUN, window: null, same: null, differing: [] },
  }),
  strategies: {
    find: async (strategyId) => (strategyId === STUB_STRATEGY ? STRATEGY : null),
    list: async () => [STRATEGY],
  },
  positions: { list: async () => [], count: async () => 0, closed: async () => [] },
};
