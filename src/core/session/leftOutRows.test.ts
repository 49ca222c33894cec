import { expect, test } from 'vitest';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { randomTape, START_MS } from '../../../test/support/tapes.ts';
import type { Strategy } from '../../schema/strategy.ts';
import { Ledger } from '../ledger.ts';
import { compileStrategy } from '../strategies/compile.ts';
import { prepareMarket } from './prepare.ts';
import { replayMarket } from './replay.ts';
import { MarketSession, type SessionTerms } from './session.ts';
import type { SessionEvent } from './sessionEvents.ts';

const RESOLUTION = { payoutYes: 1, resolvedTimeMs: START_MS + 400_000 };

/** Without crossings, so that rows may be skipped; several trades per market, in and out of gaps. */
const LEAVING_OUT: Readonly<Record<string, Strategy>> = {
  'conditions on the price': {
    ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 100 },
    entry: [{ metric: 'token_price', operator: 'below', value: 0.5 }],
    take_profit: [{ metric: 'token_price', operator: 'above', value: 0.5 }],
    stop_loss: [{ metric: 'token_price', operator: 'below', value: 0.46 }],
  },
  'conditions on several things': {
    ...{ type: 'condition_based', side: 'buy_no', max_trades_per_market: 3 },
    entry: [
      { metric: 'spread', operator: 'below', value: 0.06 },
      { metric: 'model_probability', operator: 'above', value: 0.3 },
    ],
    take_profit: [{ metric: 'imbalance', operator: 'above', value: 0.1 }],
    stop_loss: [{ metric: 'seconds_to_end', operator: 'below', value: 30 }],
  },
};

const ALL = Object.entries({ ...STRATEGIES, ...LEAVING_OUT });
const PARAMS = [
  { fill_mode: 'walk_book', latency_ms: 50, max_fill_price: 0.985, max_slippage: 0.02 },
  { fill_mode: 'walk_book', latency_ms: 3_000, max_fill_price: 0.6, max_slippage: null },
  { fill_mode: 'mid', latency_ms: 0, max_fill_price: 0.985, max_slippage: 0.005 },
] as const;

test.each(ALL)('skipping rows changes nothing: %s', (_name, strategy) => {
  let [orders, taken, missed] = [0, 0, 0];
  for (let seed = 0; seed < 8; seed++) {
    const compiled = compileStrategy(strategy);
    const tape = randomTape(`left out ${seed}`, { books: 300, levels: 3, gaps: seed % 2 === 0 });
    const prepared = prepareMarket(tape, compiled.needs);
    for (const params of PARAMS) {
      const terms: SessionTerms = { strategy: compiled, size: 40_000_000, params };
      const told: SessionEvent[] = [];
      const ledger = new Ledger();
      const listener = (event: SessionEvent) => told.push(event);
      const replayed = replayMarket(prepared, terms, { resolution: RESOLUTION, ledger, listener });
      const each = everyRow(prepared, terms);
      expect(told, `seed ${seed}`).toEqual(each.told);
      expect(replayed.trades).toEqual(each.trades);
      expect(replayed.orders).toEqual(each.orders);
      expect([ledger.cash, ledger.fees, ledger.won]).toEqual(each.money);
      orders += told.filter(({ kind }) => kind === 'order').length;
      taken += told.filter(({ kind }) => kind === 'taken_back').length;
      missed += told.filter(({ kind }) => kind === 'miss').length;
    }
  }
  expect(orders).toBeGreaterThan(5);
  if (strategy === LEAVING_OUT['conditions on the price']) expect([taken, missed].includes(0)).toBe(false);
});

function everyRow(prepared: ReturnType<typeof prepareMarket>, terms: SessionTerms) {
  const told: SessionEvent[] = [];
  const ledger = new Ledger();
  // Without columns each row runs the tests of `condition.ts`, as in a live market.
  const { market, rows, ladders, rules } = prepared;
  const session = new MarketSession(
    { market, rows, ladders, rules },
    { terms, ledger, listener: (event) => told.push(event) },
  );
  for (let row = 0; row < prepared.rows.count; row++) session.step(row);
  session.settle(RESOLUTION);
  const { orders } = session;
  return { told, trades: session.trades(), orders, money: [ledger.cash, ledger.fees, ledger.won] };
}

test('a strategy without crossings skips most rows', () => {
  const compiled = compileStrategy(LEAVING_OUT['conditions on the price'] as Strategy);
  const prepared = prepareMarket(
    randomTape('left out', { books: 300, levels: 3, gaps: false }),
    compiled.needs,
  );
  const terms: SessionTerms = { strategy: compiled, size: 40_000_000, params: PARAMS[0] };
  const session = new MarketSession(prepared, { terms, ledger: new Ledger() });
  let steps = 0;
  for (let row = 0; row < prepared.rows.count; row = session.next()) {
    session.step(row);
    steps++;
  }
  expect(steps).toBeLessThan(prepared.rows.count / 2);
});
