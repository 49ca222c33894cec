import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Bus } from '../../src/bus/bus.ts';
import type { MarketTape } from '../../src/core/session/tape.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { Strategy } from '../../src/schema/strategy.ts';
import { storedRecording } from '../../src/trading/catchUp/recording.ts';
import { type PaperTrading, startPaper } from '../../src/trading/paper/service.ts';
import { EventClock } from '../paper/tradedMarket.ts';
import { testApi } from '../support/api.ts';
import { marketIdOf, WINDOW_MS } from '../support/backtestData.ts';
import { type BacktestRig, openBacktestRig } from '../support/backtestRig.ts';
import { marketOf, recordedEventsOf, recordedFirst } from '../support/paperRig.ts';
import { eventually } from '../support/runningService.ts';
import { laterTape, randomTape, START_MS } from '../support/tapes.ts';

/** OVER has ended when the strategy is created, in the middle of BEGUN; the recorder missed a part of MISSED. */
const [OVER, BEGUN, MISSED, LAST] = [0, 1, 3, 4];
const DEALER: Strategy = {
  ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 20 },
  entry: [{ metric: 'token_price', operator: 'below', value: 0.6 }],
  take_profit: [{ metric: 'token_price', operator: 'above', value: 0.3 }],
  stop_loss: [{ metric: 'seconds_to_end', operator: 'below', value: 30 }],
};
const PATH = '/v1/paper/strategies';

const clock = new EventClock();
const bus = new Bus({ log: silentLogger, metrics: new Metrics() });
let rig: BacktestRig;
let trading: PaperTrading;
let app: ReturnType<typeof testApi>;
let key: { authorization: string };

beforeAll(async () => {
  rig = await openBacktestRig(() => undefined, { clock });
  const { store } = rig.store;
  const parts = {
    recording: storedRecording(store, { stored: () => store.writer.flush() }),
    markets: () => [],
    bus,
    backtests: rig.backtests.control,
  };
  const { database } = rig.accounts;
  const observed = { log: silentLogger, metrics: new Metrics() };
  trading = await startPaper({ ...parts, database, clock, randomBytes, ...observed });
  const { access } = rig.accounts;
  app = testApi({
    ...{ store, accounts: access, control: rig.accounts, backtests: rig.backtests.control },
    ...{ paper: trading.paperStrategies, clock },
  });
  key = await rig.key('premium');
});
afterAll(async () => {
  await app.close();
  await trading.close();
  await rig.dispose();
});

async function ask(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) {
  const payload = body === undefined ? {} : { payload: body };
  const response = await app.inject({ method, url: path, headers: key, ...payload });
  return response.json();
}

/** Consecutive windows, each published after the previous one has ended. */
function tapes(): MarketTape[] {
  let afterSeq = 0;
  return Array.from({ length: LAST + 1 }, (_, at) => {
    // Prices of the ticker would reach the next market too, and its own time would come earlier.
    const drawn = { ...randomTape(`window ${at}`, { books: 600, levels: 6, gaps: false }), prices: null };
    const laterMs = at * WINDOW_MS;
    const tape = laterTape(drawn, { marketId: marketIdOf(at), laterMs, afterSeq });
    afterSeq = Math.max(...[tape.quotes, tape.books, tape.prices].map((rows) => rows?.seq.at(-1) ?? 0));
    return tape;
  });
}

/** @param recordedFrom Share of the tape that was published without being recorded. */
async function tell(tape: MarketTape, { from = 0, to = 1, recordedFrom = 0 } = {}): Promise<void> {
  const sink = recordedFirst(rig.store.store.writer, bus);
  const told = recordedEventsOf(tape);
  const at = (share: number) => Math.floor(share * told.length);
  for (let n = at(from); n < at(to); n++) {
    clock.nowMs = Math.max(clock.nowMs, told[n]!.atMs);
    told[n]!.publish(n < at(recordedFrom) ? bus : sink);
  }
  const resolvedTimeMs = tape.market.endTimeMs + 60_000;
  const resolved = { status: 'resolved', outcome: 'Up', payoutYes: 1, resolvedTimeMs } as const;
  const market = marketOf(tape, { slug: tape.market.marketId, ...(to === 1 ? resolved : {}) });
  sink.publish('market', { ...market, seq: 0 });
  await Promise.all([trading.settled(), rig.store.store.writer.flush()]);
}

test('compares paper trading with its baseline and the recording, position by position', async () => {
  const all = tapes();
  await tell(all[OVER]!);
  clock.nowMs = START_MS + WINDOW_MS;
  await tell(all[BEGUN]!, { to: 0.4 });
  const universe = { ticker: 'BTC', event_type: '5m' };
  const made = await ask('POST', PATH, { name: 'dealer', strategy: DEALER, universe });
  const id = made.paper_strategy_id;
  const baseline = await eventually('the baseline', async () => {
    const job = await ask('GET', `/v1/backtest/${made.baseline_backtest_id}`);
    return job.status === 'complete' && job.result;
  });
  expect(baseline.markets_total).toBe(1);
  for (const tape of all) bus.publish('market', { ...marketOf(tape), seq: 0 });
  await tell(all[BEGUN]!, { from: 0.4 });
  for (const [at, tape] of all.entries()) {
    if (at > BEGUN) await tell(tape, at === MISSED ? { recordedFrom: 0.5 } : {});
  }

  const positions: { market_id: string; net_pnl: number; opened_at: string; closed_at: string }[] = [];
  for (let cursor = ''; ; ) {
    const page = await ask('GET', `${PATH}/${id}/positions?limit=3${cursor}`);
    positions.push(...page.positions);
    if (page.next_cursor === null) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  const inMarket = (at: number) => positions.filter(({ market_id }) => market_id === marketIdOf(at));
  const dealt = [BEGUN, BEGUN + 1, MISSED, LAST].map((at) => inMarket(at).length);
  expect(Math.min(...dealt)).toBeGreaterThan(0);

  const before = await ask('GET', `${PATH}/${id}/divergence`);
  expect(before).toMatchObject({ window: null, same: null, differing: [], baseline: { status: 'complete' } });
  expect([before.live.trades, before.baseline.trades]).toEqual([positions.length, baseline.trades_total]);
  expect(before.baseline.net_pnl).toBe(baseline.total_pnl);

  await ask('POST', `${PATH}/${id}/divergence`);
  const report = await eventually('the replay of its windows', async () => {
    const now = await ask('GET', `${PATH}/${id}/divergence`);
    return now.window.status === 'complete' && now;
  });
  const { result } = await ask('GET', `/v1/backtest/${report.window.backtest_id}`);
  // Without the window in which the strategy started midway.
  expect(result.markets_total).toBe(3);
  expect(report.live.trades).toBe(positions.length - inMarket(BEGUN).length);
  expect(report.same).toBe(inMarket(BEGUN + 1).length + inMarket(LAST).length);
  const replayed = result.trades.filter(
    (trade: { market_id: string }) => trade.market_id === marketIdOf(MISSED),
  );
  const key = ({ opened_at }: { opened_at: string }) => opened_at;
  const openings = [...new Set([...inMarket(MISSED), ...replayed].map(key))].sort();
  expect(openings.length).toBeGreaterThan(inMarket(MISSED).length);
  expect(report.differing).toEqual(
    openings.map((opened_at) => {
      const live = inMarket(MISSED).find((position) => key(position) === opened_at) ?? null;
      const other = replayed.find((trade: { opened_at: string }) => key(trade) === opened_at) ?? null;
      return {
        ...{ market_id: marketIdOf(MISSED), opened_at },
        found_in: live === null ? 'backtest' : other === null ? 'live' : 'both',
        ...{ live_net_pnl: live?.net_pnl ?? null, backtest_net_pnl: other?.net_pnl ?? null },
      };
    }),
  );
});
