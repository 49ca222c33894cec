/**
 * A complete service in one process: simulated venues, the recorder, a real store, users, backtests, paper trading and
 * the API. Only sockets are missing: frames are passed on as fast as they are processed, on a clock that follows them.
 */
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type Accounts, openAccounts } from '../../src/accounts/accounts.ts';
import { issueKey } from '../../src/accounts/keys/keys.ts';
import { startBacktests } from '../../src/backtest/service.ts';
import { Bus } from '../../src/bus/bus.ts';
import { publishingSink } from '../../src/bus/publishingSink.ts';
import { openControlDatabase } from '../../src/controlDatabase.ts';
import { StrikeFinder } from '../../src/lifecycle/strikeFinder.ts';
import { FrameRouter, type RoutedFeed } from '../../src/recorder/import/frameRouter.ts';
import { Recorder } from '../../src/recorder/recorder.ts';
import { resumeRecording } from '../../src/recorder/resume.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { gammaEvent } from '../../src/simulator/gammaObjects.ts';
import { generateHistory, type RecordedFeed } from '../../src/simulator/history.ts';
import type { SimulatedMarket } from '../../src/simulator/markets.ts';
import { VenueModel } from '../../src/simulator/model.ts';
import { storedRecording } from '../../src/trading/catchUp/recording.ts';
import { type PaperTrading, startPaper } from '../../src/trading/paper/service.ts';
import { windowAt } from '../../src/venues/polymarket/lifecycle/windows.ts';
import { testApi } from './api.ts';
import { bundle, openTestStore, type TestStore } from './store.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

const FRAMES_A_TURN = 50;
const SERIES = { tickers: ['BTC'], eventTypes: ['5m'] } as const;
const ROUTES: Record<RecordedFeed, RoutedFeed> = {
  ...{ 'polymarket.clob': 'polymarket.clob', 'polymarket.gamma': 'polymarket.gamma' },
  ...{ 'polymarket.rtds': 'polymarket.rtds', 'binance.spot': 'binance', 'bybit.rest': 'bybit.rest' },
};

interface Life {
  readonly store: TestStore;
  readonly recorder: Recorder;
  readonly router: FrameRouter;
  readonly accounts: Accounts;
  readonly backtests: Awaited<ReturnType<typeof startBacktests>>;
  readonly paper: PaperTrading;
  readonly api: FastifyInstance;
}

export class LiveRig {
  readonly model: VenueModel;
  readonly clock: Clock;
  readonly #dataDir = temporaryDirectory();
  #nowMs: number;
  #key = '';
  #life: Life | null = null;

  /** @param startMs Start time of the venues, which simulate the series BTC 5m. */
  constructor({ seed, startMs, v2FromMs }: { seed: string; startMs: number; v2FromMs?: number }) {
    this.#nowMs = startMs;
    this.model = new VenueModel({ ...SERIES, seed, startTimeMs: startMs, density: 0.02, v2FromMs });
    this.clock = { ...systemClock, now: () => this.#nowMs };
  }

  get life(): Life {
    if (this.#life === null) throw new Error('the service does not run');
    return this.#life;
  }

  get isRunning(): boolean {
    return this.#life !== null;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** The current simulated market. */
  inPlay(): SimulatedMarket {
    return this.model.registry.ofWindow('BTC', '5m', windowAt('5m', this.#nowMs));
  }

  async start(): Promise<void> {
    const { clock } = this;
    const observed = { clock, log: silentLogger, metrics: new Metrics() };
    const store = await openTestStore({ dataDir: this.#dataDir, clock });
    const bus = new Bus(observed);
    const sink = publishingSink(store.store.writer, bus);
    const recorder = new Recorder({ ...observed, sink, timeBy: 'receipt' });
    const strikes = new StrikeFinder({ candles: null, ...observed });
    const router = new FrameRouter({ recorder, log: silentLogger, strikes });
    await resumeRecording({ store: store.store, recorder, clock, log: silentLogger });
    const config = { ...{ dataDir: this.#dataDir, clickhouseUrl: null, databaseUrl: null } };
    const accounts = await openAccounts({
      database: await openControlDatabase(config),
      ...{ config: { ...config, keyEnvironment: 'live' }, clock, randomBytes },
      ...{ logger: silentLogger, metrics: new Metrics() },
    });
    const { database } = accounts;
    const workerEntry = await bundle('src/backtest/worker.ts');
    const parts = { ...observed, metrics: new Metrics(), database, randomBytes };
    const backtests = await startBacktests({ ...parts, config, store: store.store, workerEntry });
    const paper = await startPaper({
      ...{
        ...parts,
        metrics: new Metrics(),
        bus,
        backtests: backtests.control,
        recording: storedRecording(store.store, { stored: () => store.store.writer.flush() }),
      },
      markets: () => recorder.markets(),
    });
    const api = testApi({
      ...{
        store: store.store,
        accounts: accounts.access,
        control: accounts,
        backtests: backtests.control,
        clock,
      },
      paper: paper.paperStrategies,
    });
    this.#life = { store, recorder, router, accounts, backtests, paper, api };
    if (this.#key === '') await this.#issueKey(accounts);
    this.#reconnect();
  }

  /**
   * Stops the service. Recorded and written data is kept; the next start finds it, and opens a gap for the time
   * between.
   */
  async stop(): Promise<void> {
    const { store, recorder, accounts, backtests, paper, api } = this.life;
    this.#life = null;
    recorder.close();
    await api.close();
    await paper.close();
    await backtests.close();
    await accounts.close();
    await store.store.close();
  }

  /** Advances simulated time, whether or not the service records it. */
  async play(untilMs: number): Promise<void> {
    let frames = 0;
    for (const frame of generateHistory(this.model, { endTimeMs: untilMs, tickers: [] })) {
      this.#nowMs = Math.max(this.#nowMs, frame.receivedTimeMs);
      this.#life?.router.route(ROUTES[frame.feed], frame.frame, frame.receivedTimeMs);
      if (++frames % FRAMES_A_TURN === 0) await nextTurn();
    }
    this.#nowMs = untilMs;
    await this.settled();
  }

  /** Resolves when everything published so far was traded on, written and stored. */
  async settled(): Promise<void> {
    if (this.#life === null) return;
    await this.#life.paper.settled();
    await this.#life.store.store.writer.flush();
  }

  async ask<T>(method: 'GET' | 'POST' | 'PATCH', url: string, body?: object): Promise<T> {
    const headers = { authorization: `Bearer ${this.#key}` };
    const payload = body === undefined ? {} : { payload: body };
    const answer = await this.life.api.inject({ method, url, headers, ...payload });
    if (answer.statusCode >= 400) throw new Error(`${method} ${url}: ${answer.statusCode} ${answer.body}`);
    return answer.json();
  }

  async #issueKey({ database }: Accounts): Promise<void> {
    const wanted = { email: 'a@example.com', label: 'test', tier: 'premium', environment: 'live' } as const;
    this.#key = (await issueKey(database, { clock: this.clock, randomBytes }, wanted)).key;
  }

  /**
   * Sends the first messages of each feed after a connect: listings and complete books of followed markets, and of those
   * that were opened while the service was down.
   */
  #reconnect(): void {
    const { router, recorder } = this.life;
    const followed = [...recorder.markets()].flatMap(
      ({ marketId }) => this.model.registry.byId(marketId) ?? [],
    );
    for (const market of new Set([...followed, ...this.model.playing])) {
      router.route('polymarket.gamma', JSON.stringify([gammaEvent(market, this.#nowMs)]), this.#nowMs);
      const book = this.model.bookOf(market)?.book;
      if (book === undefined) continue;
      const frame = `[${book.bookFrame(true, true)},${book.bookFrame(false, true)}]`;
      router.route('polymarket.clob', frame, this.#nowMs);
    }
  }
}
