import { onTestFinished } from 'vitest';
import { Bus } from '../../src/bus/bus.ts';
import type { Election } from '../../src/bus/recordStream.ts';
import type { Database } from '../../src/control/schema.ts';
import { openControlDatabase } from '../../src/controlDatabase.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { UnderlyingSource } from '../../src/schema/events.ts';
import type { Market } from '../../src/schema/market.ts';
import type { Opportunity } from '../../src/schema/opportunity.ts';
import type { ShownBook } from '../../src/signals/detectorHost.ts';
import type { OpportunityPublisher } from '../../src/signals/opportunityPublisher.ts';
import { type Signals, startSignals } from '../../src/signals/signals.ts';
import type { StoreReader } from '../../src/store/reader.ts';
import { bookRecord, type LevelPairs, marketRecord } from './api.ts';
import { FakeClock } from './fakeClock.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export const T0 = Date.UTC(2026, 10, 20, 12);
export const SHARE = 1_000_000;
const M1 = `0x${'1'.repeat(64)}`;

/** For one of several processes on one database, which its test closes. */
interface RigParts {
  readonly clock?: FakeClock;
  readonly election?: Election;
  readonly publisher?: OpportunityPublisher;
}

/** The signals role on a bus, with its own database and a stopped clock. */
export class SignalRig {
  readonly clock: FakeClock;
  readonly metrics = new Metrics();
  readonly bus = new Bus({ log: silentLogger, metrics: this.metrics });
  readonly published: Opportunity[] = [];
  readonly database: Database;
  /** The markets that a restart finds as followed, and their books. */
  markets: Market[] = [];
  readonly shown = new Map<string, ShownBook | 'unfinished'>();
  /** The time-series store. */
  store: StoreReader = {
    rows: async () => [],
    stream: () => Promise.reject(new Error('nothing streams here')),
  };
  signals: Signals;
  readonly #parts: RigParts;
  #seq = 0;

  private constructor(database: Database, parts: RigParts) {
    this.database = database;
    this.#parts = parts;
    this.clock = parts.clock ?? new FakeClock(T0 + 10_000);
    this.bus.subscribe('opportunity', (opportunity) => void this.published.push(opportunity));
    this.signals = undefined as unknown as Signals;
  }

  static async start(): Promise<SignalRig> {
    return SignalRig.on(await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null }));
  }

  static async on(database: Database, parts: RigParts = {}): Promise<SignalRig> {
    const rig = new SignalRig(database, parts);
    onTestFinished(async () => {
      await rig.signals.close();
      if (parts.clock === undefined) await rig.database.destroy();
    });
    await rig.begin();
    return rig;
  }

  async begin(): Promise<void> {
    const { bus, clock, metrics, database } = this;
    const store: StoreReader = {
      rows: (...asked) => this.store.rows(...asked),
      stream: (...asked) => this.store.stream(...asked),
    };
    const parts = { bus, clock, metrics, database, store, log: silentLogger };
    const bookOf = (marketId: string) => this.shown.get(marketId) ?? null;
    const { publisher, election } = this.#parts;
    this.signals = await startSignals({
      ...{ ...parts, markets: () => this.markets, bookOf },
      ...(publisher && { publisher }),
      ...(election && { election }),
    });
  }

  async restart(): Promise<void> {
    await this.signals.close();
    await this.begin();
  }

  /** A five-minute market on BTC from `T0` on, taker fee 0.07. */
  market(changes: Partial<Market> = {}): string {
    const market = marketRecord({
      ...{ marketId: M1, startTimeMs: T0, endTimeMs: T0 + 300_000, slug: 'btc-updown-5m-1' },
      ...{ takerFeeRate: 0.07, takerFeeExponent: 1, strikePrice: 97_000, strikeSource: 'official' },
      ...{ strikeBasis: 'listing', ...changes },
    });
    this.markets = [...this.markets.filter(({ marketId }) => marketId !== market.marketId), market];
    this.bus.publish('market', { ...market, seq: ++this.#seq });
    return market.marketId;
  }

  /** Publishes a book with these best asks, in ticks; bids mirror the asks one cent lower unless given. */
  book(asks: { yes: LevelPairs; no: LevelPairs }, more: { marketId?: string; trusted?: boolean } = {}): void {
    const record = bookRecord({
      seq: ++this.#seq,
      marketId: M1,
      timeMs: this.clock.now() - 40,
      yesBids: [[100, SHARE]],
      yesAsks: asks.yes,
      no: { bids: [[100, SHARE]], asks: asks.no },
      ...more,
    });
    this.bus.publish('book', record);
  }

  trust(trusted: boolean, marketId = M1): void {
    const nowMs = this.clock.now();
    const none = { yesBid: null, yesAsk: null, noBid: null, noAsk: null, underlyingPrice: null };
    const times = { seq: ++this.#seq, marketId, eventTimeMs: nowMs, receivedTimeMs: nowMs };
    this.bus.publish('quote', { ...times, ...none, yesChanged: true, trusted });
  }

  price(price: number, source: UnderlyingSource = 'binance_spot'): void {
    const nowMs = this.clock.now();
    const times = { eventTimeMs: nowMs, receivedTimeMs: nowMs };
    this.bus.publish('underlying', {
      kind: 'underlying',
      ticker: 'BTC',
      source,
      price,
      ...times,
      seq: ++this.#seq,
    });
  }

  /** Lets pending writes finish. */
  settle(): Promise<void> {
    return this.clock.advance(0).then(() => this.clock.advance(0));
  }

  board(query: Partial<Parameters<Signals['board']['read']>[0]> = {}) {
    return this.signals.board.read({
      ...{ minEdge: 0, sigmaSeconds: 600, limit: 200 },
      ...{ tickers: ['BTC', 'ETH', 'SOL'], eventTypes: ['5m', '15m', '1h', '4h', 'daily_up_down'] },
      ...query,
    }).opportunities;
  }

  rows(limit = 1000) {
    const everything = { sinceMs: null, ticker: null, tier: null, eventType: null };
    return this.signals.audit.list(everything, { after: null, limit });
  }
}
