/** Results of runs made by hand, and by a seed, for the tests of reports. */
import { Random } from '../../src/core/random.ts';
import type {
  EquityPoint,
  RunFill,
  RunMarket,
  RunOrder,
  RunResult,
  RunTrade,
} from '../../src/core/run/result.ts';
import type { RunContext } from '../../src/report/runReport.ts';

export const RUN_START_MS = Date.UTC(2026, 10, 20);
const WINDOW_MS = 300_000;
const MICRO = 1_000_000;

export const RUN_CONTEXT: RunContext = {
  name: 'endgame',
  params: { edge: 0.02, side: 'both' },
  terms: {
    seed: 1,
    orderLatency: { kind: 'constant', ms: 50 },
    queueModel: 'proportional',
    cashUsd: 1_000,
    exposure: { perMarketUsd: 100, perTickerUsd: null, totalUsd: 500 },
    redemptionDelayMs: 7_200_000,
  },
  receipt: { data_hash: 'd'.repeat(64), venue_rules: '2026-11-20', code_version: '0.1.0-abc', seed: 1 },
  outcomes: new Map(),
  latencyCurve: null,
  queueModels: null,
  trialsBefore: null,
  heldOut: null,
};

export function runMarket(at: number, changed: Partial<RunMarket> = {}): RunMarket {
  const startTimeMs = RUN_START_MS + at * WINDOW_MS;
  return {
    marketId: `0x${at.toString(16).padStart(64, '0')}`,
    ...{ ticker: 'BTC', eventType: '5m', startTimeMs, endTimeMs: startTimeMs + WINDOW_MS },
    ...{ skipped: null, coverage: 1 },
    ...changed,
  };
}

/** 100 shares at a price, held to the payout of 1 or 0; fees of 1 USD. */
export function runTrade(
  { marketId, endTimeMs }: RunMarket,
  { price, won, ...changed }: { price: number; won: boolean } & Partial<RunTrade>,
): RunTrade {
  const principal = Math.round(100 * price * MICRO);
  const decidedMs = endTimeMs - 60_000;
  return {
    ...{ token: 'yes', decidedMs, openedMs: decidedMs + 200, closedMs: endTimeMs + 60_000 },
    ...{ size: 100 * MICRO, entryPrice: price, exitPrice: won ? 1 : 0, exitReason: 'resolved' },
    ...{ principal, fees: MICRO, decisionPrice: price - 0.01, entrySlippage: 0.01 },
    ...{ exitSlippage: null, entryLevels: 1, exitLevels: null },
    pnl: (won ? 100 * MICRO : 0) - principal - MICRO,
    ...{ marketId, ticker: 'BTC', eventType: '5m', liquidity: 'taker' },
    atEntry: { secondsToEnd: 60, volatility: 0.5, modelProbability: 0.9 },
    ...changed,
  };
}

export function runOrder(
  orderId: number,
  { marketId, endTimeMs }: RunMarket,
  changed: Partial<RunOrder>,
): RunOrder {
  const decidedMs = endTimeMs - 60_000;
  return {
    ...{ orderId, marketId, decidedMs, dueMs: decidedMs + 200, endedMs: decidedMs + 200 },
    terms: {
      ...{ token: 'yes', action: 'buy', limitPrice: 6_000, size: 100 * MICRO, budget: null },
      ...{ timeInForce: 'fak', expiresMs: null, postOnly: false },
    },
    ...{ outcome: 'filled', reason: null, filledSize: 100 * MICRO },
    ...changed,
  };
}

export function runFill(
  orderId: number,
  { marketId, endTimeMs }: RunMarket,
  changed: Partial<RunFill>,
): RunFill {
  return {
    ...{ orderId, marketId, timeMs: endTimeMs - 59_800, liquidity: 'taker' },
    ...{ price: 5_000, size: 100 * MICRO, fee: MICRO },
    ...changed,
  };
}

export const EMPTY_RUN: RunResult = {
  orders: [],
  fills: [],
  trades: [],
  equity: [],
  markets: [],
  log: [],
  logLinesLeftOut: 0,
};

/** A run that trades once in most of its markets, at random prices with a small edge. */
export function randomRun(seed: string, { markets: count = 200, edge = 0.05 } = {}): RunResult {
  const random = new Random(`run ${seed}`);
  const markets = Array.from({ length: count }, (_, at) => {
    const skipped = random.chance(0.03) ? 'gap' : null;
    return runMarket(at, { skipped, coverage: skipped === null ? random.uniform(0.97, 1) : 0 });
  });
  const trades: RunTrade[] = [];
  const orders: RunOrder[] = [];
  const fills: RunFill[] = [];
  const equity: EquityPoint[] = [];
  let cash = 1_000 * MICRO;
  for (const market of markets.filter(({ skipped }) => skipped === null)) {
    const outcome = random.next();
    const orderId = orders.length + 1;
    if (outcome > 0.75) {
      const refused = outcome > 0.9;
      const change = refused
        ? ({ outcome: 'refused', reason: 'post_only_would_trade' } as const)
        : ({ outcome: 'missed', reason: 'price' } as const);
      orders.push(runOrder(orderId, market, { ...change, filledSize: 0 }));
      continue;
    }
    const liquidity = random.chance(0.4) ? ('maker' as const) : ('taker' as const);
    const price = Math.round(random.uniform(3, 97)) / 100;
    const won = random.chance(Math.min(0.99, price + edge));
    const secondsToEnd = Math.round(random.uniform(2, 290));
    const decidedMs = market.endTimeMs - secondsToEnd * 1_000;
    const atEntry = { secondsToEnd, volatility: random.lognormal(0.5, 0.4), modelProbability: price + edge };
    const fees = liquidity === 'taker' ? MICRO : -200_000;
    const base = runTrade(market, { price, won });
    const pnl = (won ? 100 * MICRO : 0) - base.principal - fees;
    trades.push({ ...base, pnl, fees, liquidity, atEntry, decidedMs, openedMs: decidedMs + 200 });
    orders.push(runOrder(orderId, market, { decidedMs }));
    fills.push(
      runFill(orderId, market, { liquidity, price: price * 10_000, fee: fees, timeMs: decidedMs + 200 }),
    );
    cash -= base.principal + fees;
    equity.push({
      timeMs: decidedMs + 200,
      cash,
      reserved: 0,
      locked: 0,
      marked: Math.round(base.principal * 0.98),
    });
    cash += won ? 100 * MICRO : 0;
    equity.push({ timeMs: market.endTimeMs + 60_000, cash, reserved: 0, locked: 0, marked: 0 });
  }
  equity.sort((a, b) => a.timeMs - b.timeMs);
  return { orders, fills, trades, equity, markets, log: [], logLinesLeftOut: 0 };
}
