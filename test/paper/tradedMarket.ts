import type { Database } from '../../src/control/schema.ts';
import type { MarketTape } from '../../src/core/session/tape.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import type { Logger } from '../../src/runtime/log.ts';
import type { Metrics } from '../../src/runtime/metrics.ts';
import type { Market } from '../../src/schema/market.ts';
import type { Strategy } from '../../src/schema/strategy.ts';
import type { Recording, Stretch } from '../../src/trading/catchUp/recording.ts';
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
  now = () => this.nowMs;
  monotonic = systemClock.monotonic;
  after = systemClock.after;
}

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
  #rig: PaperRig | null = null;

  constructor(db: Database, tape: MarketTape, market: Partial<Market> = {}) {
    this.#db = db;
    this.tape = tape;
    this.#events = recordedEventsOf(tape);
    this.market = marketOf(tape, market);
  }

  get rig(): PaperRig {
    if (this.#rig === null) throw new Error('nobody trades');
    return this.#rig;
  }

  /** @param recording Overrides of the recording. */
  async begin(
    recording: Partial<Recording> = {},
    observed: { log?: Logger; metrics?: Metrics } = {},
  ): Promise<void> {
    const recorded: Recording = {
      ...NOTHING_RECORDED,
      stretch: async (_, { afterSeq }) => this.recorded(afterSeq),
      market: async () => this.market,
      ...recording,
    };
    const markets = () => (this.market.status === 'resolved' ? [] : [this.market]);
    this.#rig = await paperRigOn(this.#db, { clock: this.clock, recording: recorded, markets, ...observed });
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
      publish(this.rig.bus);
    }
  }

  /** Another version of the market's record; published if a trading process runs. */
  correct(more: Partial<Market>): void {
    this.market = { ...this.market, ...more };
    this.#rig?.bus.publish('market', { ...this.market, seq: 1 });
  }

  async end(): Promise<void> {
    await this.rig.trading.settled();
    await this.rig.trading.close();
    this.#rig = null;
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
