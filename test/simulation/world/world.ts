import type { FastifyInstance } from 'fastify';
import type { Bus } from '../../../src/bus/bus.ts';
import type { Database } from '../../../src/control/schema.ts';
import { Random } from '../../../src/core/random.ts';
import type { NewestBook } from '../../../src/recorder/marketMemory.ts';
import type { Gap } from '../../../src/schema/gap.ts';
import { EVENT_TYPES, type Market, TICKERS } from '../../../src/schema/market.ts';
import type { Opportunity } from '../../../src/schema/opportunity.ts';
import type { RecordKind, Records } from '../../../src/schema/records.ts';
import { type Check, reporter, type Violation } from '../checks/check.ts';
import type { Scenario } from '../scenario.ts';
import { type Answered, ApiClient, type Unanswered } from './apiClient.ts';
import { openApi } from './apiProcess.ts';
import { type ControlDatabase, freshControlDatabase } from './controlDatabase.ts';
import { type FaultTargets, playFaults } from './faults.ts';
import { noteGap } from './liveReader.ts';
import { START_MS, venueMarkets } from './markets.ts';
import { PriceFeed } from './priceFeed.ts';
import { type Readers, startReaders } from './readers.ts';
import { Receiver } from './receiver.ts';
import { RecordingProcess } from './recordingProcess.ts';
import { modelRecording, storedTape } from './storedTapes.ts';
import { StoreModel } from './storeModel.ts';
import type { Trace } from './trace.ts';
import { traceRecords } from './traceRecords.ts';
import { createUser } from './traders.ts';
import { Venue } from './venue.ts';
import { MachineWall, ProcessClock, VirtualTime } from './virtualTime.ts';

/** Strategies trade from a second after they were stored: recording begins then. */
const BEGIN_MS = 1_100;
/** How long undelivered webhooks are waited for at the end, and how often they are counted. */
const DRAIN_MS = 60_000;
const DRAIN_STEP_MS = 2_000;

/** What works of the process that runs now; times are the world's. */
export interface Health {
  readonly startedMs: number;
  /** Null: the last write to the journal succeeded. */
  readonly journalFailingSinceMs: number | null;
  readonly storeLagMs: number;
  /** The newest frame of the venue, other than a keep-alive; null before the first. */
  readonly lastFrameMs: number | null;
}

/** The venue, the network, the disk and the processes of one scenario, in one thread on one virtual time. */
export class World {
  readonly scenario: Scenario;
  readonly time = new VirtualTime();
  readonly venue: Venue;
  readonly trace: Trace;
  readonly violations: Violation[] = [];
  readonly openGaps = new Map<string, Gap>();
  readonly receiver: Receiver;
  /** Every opportunity that any life of the process has published. */
  readonly published: Opportunity[] = [];
  readonly client: ApiClient;
  readonly #checks: readonly Check[];
  readonly #wall: MachineWall;
  readonly #store = new StoreModel();
  readonly #random: Random;
  readonly #prices: PriceFeed;
  readonly #randomBytes: (size: number) => Uint8Array;
  #database: ControlDatabase | null = null;
  #readers: Readers | null = null;
  #process: RecordingProcess | null = null;
  #bus: Bus | null = null;
  #api: FastifyInstance | null = null;
  #onAnswer: ((answered: Answered) => void)[] = [];
  #onFailure: ((failed: Unanswered) => void)[] = [];
  #lives = 0;
  #startedMs = 0;
  #refusal: number | null = null;

  constructor(scenario: Scenario, options: { checks: readonly Check[]; trace: Trace }) {
    this.scenario = scenario;
    this.trace = options.trace;
    this.#checks = options.checks;
    const { seed } = scenario;
    this.#random = new Random(`world ${seed}`);
    const bytes = new Random(`bytes ${seed}`);
    this.#randomBytes = (size) => Uint8Array.from({ length: size }, () => bytes.below(256));
    this.receiver = new Receiver({ time: this.time, trace: this.trace });
    this.#wall = new MachineWall(this.time, START_MS);
    this.venue = new Venue({
      time: this.time,
      startMs: START_MS,
      random: new Random(`venue ${seed}`),
      trace: this.trace,
      markets: venueMarkets(seed, scenario.markets),
    });
    this.client = new ApiClient({
      time: this.time,
      trace: this.trace,
      random: new Random(`client ${seed}`),
      marketIds: this.venue.markets.map(({ market }) => market.marketId),
      nowMs: () => this.venue.nowMs,
    });
    const clock = { now: () => this.#wall.now() };
    this.#prices = new PriceFeed({ time: this.time, startMs: START_MS, seed, clock }, (price) =>
      this.#process?.onPrice(price),
    );
  }

  /** The bus of the process that runs now. */
  get bus(): Bus {
    if (this.#bus === null) throw new Error('no process runs');
    return this.#bus;
  }

  get database(): Database {
    if (this.#database === null) throw new Error('the world has not begun');
    return this.#database.db;
  }

  /** What the audit has of a detection at this very time. */
  auditRow(auditId: string): { detectedMs: number } | null {
    const found = this.#database?.file.rows<{ detectedMs: number }>(
      `SELECT row.detected_ms AS detectedMs FROM audit_rows AS row JOIN audit_entries AS entry ON entry.seq = row.seq
       WHERE row.audit_id = '${auditId}'`,
    );
    return found?.[0] ?? null;
  }

  /** How many detections the audit has at this very time. */
  auditedCount(): number {
    const [row] = this.#database?.file.rows<{ n: number }>('SELECT count(*) AS n FROM audit_rows') ?? [];
    return row?.n ?? 0;
  }

  /** Calls a check with each answer of the API of the process that starts now, and with each request that fails. */
  onAnswer(listener: (answered: Answered) => void, onFailure: (failed: Unanswered) => void = () => {}): void {
    this.#onAnswer.push(listener);
    this.#onFailure.push(onFailure);
  }

  /** The state that readiness must show; null while no process answers. */
  health(): Health | null {
    if (this.#process === null || this.#api === null) return null;
    return {
      startedMs: this.#startedMs,
      journalFailingSinceMs: this.#store.journalFailingSinceMs,
      storeLagMs: this.#store.lagMs(),
      lastFrameMs: this.#process.network.lastFrameMs,
    };
  }

  /** Asks the API now; null while no process answers. */
  async readiness(): Promise<{ status: number; body: string } | null> {
    if (this.#api === null) return null;
    const { statusCode: status, body } = await this.#api.inject('/readyz');
    return { status, body };
  }

  /** Runs the scenario and the recovery after it, then every check. */
  async run(): Promise<void> {
    this.#database = await freshControlDatabase();
    const clock = new ProcessClock(this.time, this.#wall);
    this.#store.preload(this.#prices.history());
    await createUser(this.database, { clock, randomBytes: this.#randomBytes });
    await this.time.runTo(BEGIN_MS);
    await this.#start();
    await playFaults(this.scenario, this.#targets(), this.trace);
    this.client.stop();
    await this.#readers?.paper.settled();
    for (const check of this.#checks) await check.end?.(this, reporter(check.name, this));
    await this.#drain();
    for (const check of this.#checks) await check.drained?.(this, reporter(check.name, this));
  }

  /** Waits until no delivery is pending. */
  async #drain(): Promise<void> {
    const untilMs = this.time.nowMs + DRAIN_MS;
    while (this.time.nowMs < untilMs) {
      const pending = this.#database?.file.rows(
        "SELECT 1 FROM webhook_deliveries WHERE state = 'pending' LIMIT 1",
      );
      if (pending?.length === 0) return;
      await this.time.runTo(this.time.nowMs + DRAIN_STEP_MS);
    }
  }

  stored<K extends RecordKind>(kind: K): readonly Records[K][] {
    return this.#store.of(kind);
  }

  /** The newest version of each gap. */
  gaps(): readonly Gap[] {
    return this.#store.gaps();
  }

  /** The newest record of each stored market. */
  storedMarkets(): readonly Market[] {
    return this.#store.markets();
  }

  tapeOf(market: Market) {
    return storedTape(this.#store, market);
  }

  /** What the live board shows. */
  board() {
    const query = { minEdge: 0, sigmaSeconds: 600, limit: 200, tickers: TICKERS, eventTypes: EVENT_TYPES };
    return this.#readers?.signals.board.read(query).opportunities ?? [];
  }

  /** What readers see of a market; null where it is not followed, or no process runs. */
  shownBook(marketId: string): NewestBook | null {
    return this.#process?.memory.book(marketId) ?? null;
  }

  /** Calls a check once a second while the process lives. */
  everySecond(run: () => void): void {
    const process = this.#process;
    const tick = () => {
      if (process !== this.#process) return;
      run();
      this.time.after(1_000, tick);
    };
    this.time.after(1_000, tick);
  }

  async #start(): Promise<void> {
    const { time, venue } = this;
    const name = `${this.scenario.seed} life ${++this.#lives}`;
    this.openGaps.clear();
    this.#onAnswer = [];
    this.#onFailure = [];
    this.#startedMs = time.nowMs;
    for (const gap of this.#store.gaps()) if (gap.endTimeMs === null) this.openGaps.set(gap.marketId, gap);
    const listed = () => venue.markets.filter(({ isResolved }) => !isResolved).map(({ market }) => market);
    const machine = { machine: 'the machine', time, wall: this.#wall, venue, listed };
    const process = new RecordingProcess({ ...machine, name, store: this.#store });
    process.network.refusal = this.#refusal;
    this.#process = process;
    this.#bus = process.bus;
    traceRecords(process.bus, this.trace, time);
    process.bus.subscribe('gap', (gap) => noteGap(this.openGaps, gap));
    for (const check of this.#checks) check.begin?.(this, reporter(check.name, this));
    await process.start();
    if (this.#process === process) await this.#startReaders(process, name);
  }

  async #startReaders(process: RecordingProcess, name: string): Promise<void> {
    const { runtime, bus, recorder, memory } = process;
    const readers = await startReaders({
      ...{ runtime, bus, memory, live: recorder, database: this.database, receiver: this.receiver },
      ...{
        randomBytes: this.#randomBytes,
        store: this.#store.resumed(),
        recording: modelRecording(this.#store),
      },
    });
    const isAlive = () => this.#process === process;
    if (!isAlive()) return;
    this.#readers = readers;
    const api = await openApi({ name, process, store: this.#store, signals: readers.signals });
    if (!isAlive()) return;
    this.#api = api;
    this.client.ask(api, {
      isAlive,
      onAnswer: (answered) => {
        for (const listener of this.#onAnswer) listener(answered);
      },
      onFailure: (failed) => {
        for (const listener of this.#onFailure) listener(failed);
      },
    });
  }

  #kill(downMs: number): void {
    if (this.#process === null) return;
    this.trace.add(this.time.nowMs, 'killed');
    this.#process.kill();
    this.#process = null;
    this.#readers = null;
    this.#api = null;
    this.#store.kill(this.#random);
    this.time.after(downMs, () => void this.#start());
  }

  #targets(): FaultTargets {
    const machine = {
      wall: this.#wall,
      disk: this.#store.faults,
      uplink: null,
      network: () => this.#process?.network ?? null,
      refuse: (status: number | null) => {
        this.#refusal = status;
        if (this.#process !== null) this.#process.network.refusal = status;
      },
      kill: (downMs: number) => this.#kill(downMs),
      pause: (lastsMs: number) => {
        const clock = this.#process?.runtime.clock;
        clock?.pause();
        this.time.after(lastsMs, () => clock?.resume());
      },
    };
    const { faults: receiver } = this.receiver;
    return {
      time: this.time,
      venue: this.venue,
      machine: () => machine,
      prices: this.#prices.faults,
      receiver,
      uplinks: [],
    };
  }
}
