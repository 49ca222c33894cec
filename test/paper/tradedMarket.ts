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
  tapeBetween,
  toldOf,
} from '../support/paperRig.ts';
import { START_MS } from '../support/tapes.ts';

/** Moves with what is told. */
export class ToldClock implements Clock {
  nowMs = START_MS - 3_600_000;
  now = () => this.nowMs;
  monotonic = systemClock.monotonic;
  after = systemClock.after;
}

export const RESOLVED_UP = {
  ...({ status: 'resolved', outcome: 'Up', payoutYes: 1 } as const),
  ...{ resolvedTimeMs: START_MS + 420_000 },
};

/** One market traded on paper in lives one after another, on a database that outlives them; the recording is in memory. */
export class TradedMarket {
  readonly clock = new ToldClock();
  readonly tape: MarketTape;
  readonly #db: Database;
  readonly #told;
  market: Market;
  #at = 0;
  #rig: PaperRig | null = null;

  constructor(db: Database, tape: MarketTape, market: Partial<Market> = {}) {
    this.#db = db;
    this.tape = tape;
    this.#told = toldOf(tape);
    this.market = marketOf(tape, market);
  }

  get rig(): PaperRig {
    if (this.#rig === null) throw new Error('nobody trades');
    return this.#rig;
  }

  /** @param recording What of it is to be otherwise than recorded. */
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

  /** Up to a share of what there is to tell. */
  tellTo(share: number): void {
    const end = Math.floor(share * this.#told.length);
    for (; this.#at < end; this.#at++) {
      const { atMs, tell } = this.#told[this.#at]!;
      this.clock.nowMs = Math.max(this.clock.nowMs, atMs);
      tell(this.rig.bus);
    }
  }

  /** Another version of the market's record; told where somebody trades. */
  correct(more: Partial<Market>): void {
    this.market = { ...this.market, ...more };
    this.#rig?.bus.publish('market', this.market);
  }

  async end(): Promise<void> {
    await this.rig.trading.settled();
    await this.rig.trading.close();
    this.#rig = null;
  }

  async positions() {
    return await this.#db.selectFrom('paper_positions').selectAll().orderBy('opened_ms').execute();
  }

  /** What was told so far, after an arrival number. */
  recorded(afterSeq: number): Stretch {
    const toSeq = this.#told[this.#at - 1]?.seq ?? 0;
    return { tape: tapeBetween(this.tape, { afterSeq, toSeq }), toSeq: null };
  }
}
