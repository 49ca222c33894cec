import { expect } from 'vitest';
import type { Election } from '../../src/bus/recordStream.ts';
import type { Database } from '../../src/control/schema.ts';
import type { MarketTape } from '../../src/core/session/tape.ts';
import { type Clock, systemClock, type Timer } from '../../src/runtime/clock.ts';
import type { Logger } from '../../src/runtime/log.ts';
import type { Metrics } from '../../src/runtime/metrics.ts';
import type { Market } from '../../src/schema/market.ts';
import type { Strategy } from '../../src/schema/strategy.ts';
import type { Recording } from '../../src/trading/catchUp/recording.ts';
import type { Stretch } from '../../src/trading/live/traderEvents.ts';
import { type PositionRow, sumsOf } from '../../src/trading/paper/positions.ts';
import type { PaperStrategy } from '../../src/trading/paper/strategies.ts';
import {
  marketOf,
  NOTHING_RECORDED,
  type PaperRig,
  paperRigOn,
  recordedEventsOf,
  tapeBetween,
} from '../support/paperRig.ts';
import { START_MS } from '../support/tapes.ts';

/** A clock that follows the published events. */
export class EventClock implements Clock {
  nowMs = START_MS - 3_600_000;
  /** Polls wait for `poll`, so that a test decides when a change is noticed. */
  holdsPolls = false;
  readonly #polls = new Set<() => void>();
  now = () => this.nowMs;
  monotonic = systemClock.monotonic;

  after = (delayMs: number, run: () => void): Timer => {
    if (!this.holdsPolls || delayMs < POLL_MS_MIN) return systemClock.after(delayMs, run);
    this.#polls.add(run);
    return { cancel: () => void this.#polls.delete(run) };
  };

  /** Runs what waits for its time. */
  poll(): void {
    const due = [...this.#polls];
    this.#polls.clear();
    for (const run of due) run();
  }
}

/** Shorter pauses let other events run, or repeat a write. */
const POLL_MS_MIN = 100;

export const RESOLVED_UP = {
  ...({ status: 'resolved', outcome: 'Up', payoutYes: 1 } as const),
  ...{ resolvedTimeMs: START_MS + 420_000 },
};

/** One market traded on paper in consecutive lives, on a database that outlives them; the recording is in memory. */
export class TradedMarket {
  readonly clock = new EventClock();
  readonly tape: MarketTape;
  readonly #db: Database;
  readonly #events;
  market: Market;
  #at = 0;
  readonly #rigs: PaperRig[] = [];
  /** A process that is stopped in mid-work: it receives nothing, and does not know it. */
  #paused: PaperRig | null = null;

  constructor(db: Database, tape: MarketTape, market: Partial<Market> = {}) {
    this.#db = db;
    this.tape = tape;
    this.#events = recordedEventsOf(tape);
    this.market = marketOf(tape, market);
  }

  /** The first process. */
  get rig(): PaperRig {
    const [rig] = this.#rigs;
    if (rig === undefined) throw new Error('nobody trades');
    return rig;
  }

  /** Starts a process beside those that run. @param recording Overrides of the recording. */
  async begin(
    recording: Partial<Recording> = {},
    observed: { log?: Logger; metrics?: Metrics; election?: Election } = {},
  ): Promise<void> {
    const recorded: Recording = {
      ...NOTHING_RECORDED,
      stretch: async (_, { afterSeq }) => this.recorded(afterSeq),
      market: async () => this.market,
      ...recording,
    };
    const markets = () => (this.market.status === 'resolved' ? [] : [this.market]);
    const rig = { clock: this.clock, recording: recorded, markets, ...observed };
    this.#rigs.push(await paperRigOn(this.#db, rig));
  }

  async strategy(name: string, strategy: Strategy): Promise<PaperStrategy> {
    const wanted = { userId: this.rig.userId, name, strategy, sizeUsd: 10, baselineId: null, cap: 100 };
    const universe = { ticker: 'BTC', event_type: '5m' } as const;
    const made = await this.rig.trading.paperStrategies.create({ ...wanted, universe });
    if (typeof made === 'string') throw new Error(made);
    await this.rig.trading.settled();
    return made;
  }

  /** Publishes events up to this share of all events. */
  publishTo(share: number): void {
    const end = Math.floor(share * this.#events.length);
    for (; this.#at < end; this.#at++) {
      const { atMs, publish } = this.#events[this.#at]!;
      this.clock.nowMs = Math.max(this.clock.nowMs, atMs);
      for (const rig of this.#rigs) if (rig !== this.#paused) publish(rig.bus);
    }
  }

  /** Another version of the market's record; published if a trading process runs. */
  correct(more: Partial<Market>): void {
    this.market = { ...this.market, ...more };
    for (const rig of this.#rigs)
      if (rig !== this.#paused) rig.bus.publish('market', { ...this.market, seq: 1 });
  }

  /** @param at In the order in which the processes began. */
  pause(at: number): void {
    this.#paused = this.#rigs[at] ?? null;
  }

  /** The paused process goes on with the market's record. */
  async proceed(): Promise<void> {
    this.#paused?.bus.publish('market', { ...this.market, seq: 1 });
    this.#paused = null;
    await this.settled();
  }

  /** Resolves when every process has caught up and written. */
  async settled(): Promise<void> {
    for (const { trading } of this.#rigs) await trading.settled();
  }

  async end(): Promise<void> {
    await this.settled();
    for (const { trading } of this.#rigs.splice(0)) await trading.close();
  }

  async positions() {
    return await this.#db.selectFrom('paper_positions').selectAll().orderBy('opened_ms').execute();
  }

  /** The events published so far, after an arrival number. */
  recorded(afterSeq: number): Stretch {
    const toSeq = this.#events[this.#at - 1]?.seq ?? 0;
    return { tape: tapeBetween(this.tape, { afterSeq, toSeq }), toSeq: null };
  }
}

/** The rows without ids, which are random on every database; several positions may be opened at one time. */
export function dealt(rows: readonly PositionRow[]) {
  const bare = rows.map(({ position_id: _id, paper_strategy_id: _strategy, ...rest }) => rest);
  return bare.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** Every strategy's sums must be those of its positions. */
export async function balances(db: Database): Promise<void> {
  const rows = await db.selectFrom('paper_positions').selectAll().execute();
  for (const strategy of await db.selectFrom('paper_strategies').selectAll().execute()) {
    const own = rows.filter((row) => row.paper_strategy_id === strategy.paper_strategy_id);
    const { net_pnl_micro: pnl, open_positions, closed_positions: closed } = strategy;
    expect({ pnl, open: open_positions, closed }).toEqual(sumsOf(own));
  }
}
