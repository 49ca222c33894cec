/** A live trader driven by events alone, on markets made from tapes. */
import type { Publisher } from '../../src/bus/bus.ts';
import type { MarketTape } from '../../src/core/session/tape.ts';
import { compileStrategy } from '../../src/core/strategies/compile.ts';
import type { Market } from '../../src/schema/market.ts';
import type { Strategy } from '../../src/schema/strategy.ts';
import type { LiveStrategy } from '../../src/trading/live/paperSession.ts';
import { PaperTrader } from '../../src/trading/live/paperTrader.ts';
import type { TraderEffect } from '../../src/trading/live/traderEffects.ts';
import type { TraderEvent } from '../../src/trading/live/traderEvents.ts';
import { marketOf, recordedEventsOf } from './paperRig.ts';
import { END_MS, START_MS, TapeWriter } from './tapes.ts';

export const BEFORE_MS = START_MS - 3_600_000;
export const RESOLVED = {
  ...({ status: 'resolved', outcome: 'Up', payoutYes: 1 } as const),
  resolvedTimeMs: END_MS + 60_000,
};
/** Buys while the ask is below 0.5. */
export const BUYS = {
  ...({ type: 'threshold_entry', direction: 'below', side: 'buy_yes' } as const),
  threshold: 0.5,
};

export function liveStrategyOf(
  strategyId: string,
  strategy: Strategy,
  more: Partial<LiveStrategy> = {},
): LiveStrategy {
  const { execution } = strategy;
  const shared = { series: 'BTC 5m', size: 10_000_000, activeFromMs: BEFORE_MS, execution };
  const entries = { untilMs: Number.POSITIVE_INFINITY };
  return { strategyId, compiled: compileStrategy(strategy), ...shared, entries, ...more };
}

export const added = (strategy: LiveStrategy, nowMs = BEFORE_MS - 1_000): TraderEvent => {
  return { kind: 'strategy_added', strategy, nowMs, markets: [] };
};
export const marketAt = (market: Market, nowMs = BEFORE_MS): TraderEvent => ({
  kind: 'market',
  market,
  nowMs,
});
export const STARTED: TraderEvent = { kind: 'started', held: [], nowMs: BEFORE_MS, markets: [] };

/** What the recorder published for a tape, as events of the trader. */
export function traderEventsOf(tape: MarketTape): TraderEvent[] {
  const events: TraderEvent[] = [];
  const publish: Publisher['publish'] = (topic, event) => {
    events.push(
      (topic === 'gap' ? { kind: topic, gap: event } : { kind: topic, record: event }) as TraderEvent,
    );
  };
  for (const recorded of recordedEventsOf(tape)) recorded.publish({ publish });
  return events;
}

/** The effects of each event. */
export function processed(trader: PaperTrader, events: readonly TraderEvent[]): (readonly TraderEffect[])[] {
  return events.map((event) => trader.process(event));
}

/** A trader of one market, with what has happened so far. */
export function traderOf(tape: MarketTape, strategies: readonly LiveStrategy[]): PaperTrader {
  const trader = new PaperTrader();
  processed(trader, [...strategies.map((strategy) => added(strategy)), STARTED, marketAt(marketOf(tape))]);
  return trader;
}

/** An ask at which `BUYS` buys, and two later books. */
export const BOUGHT = new TapeWriter()
  .book({ at: 1_000, bids: [[0.45, 100]], asks: [[0.48, 100]] })
  .book({ at: 2_000, bids: [[0.45, 101]], asks: [[0.48, 101]] })
  .book({ at: 3_000, bids: [[0.45, 102]], asks: [[0.48, 102]] })
  .tape();
