import type { Bus } from '../../../src/bus/bus.ts';
import { Random } from '../../../src/core/random.ts';
import type { NewestBook } from '../../../src/recorder/marketMemory.ts';
import type { Timer } from '../../../src/runtime/clock.ts';
import type { Gap } from '../../../src/schema/gap.ts';
import type { RecordKind, Records } from '../../../src/schema/records.ts';
import type { Check, Violation } from '../checks/check.ts';
import type { Scenario } from '../scenario.ts';
import { RecordingProcess } from './collectorProcess.ts';
import { beginFault, type FaultTargets } from './faults.ts';
import { START_MS, venueMarkets } from './markets.ts';
import { PriceFeed } from './priceFeed.ts';
import { StoreModel } from './storeModel.ts';
import type { Trace } from './trace.ts';
import { traceRecords } from './traceRecords.ts';
import { Venue } from './venue.ts';
import { MachineWall, VirtualTime } from './virtualTime.ts';

/** After the last fault, and the end of all of them, everything has this long to recover. */
const RECOVERY_MS = 22_000;
/** Then the venue stops, so that all that it sent arrives. */
const LAST_MS = 1_000;

/** The venue, the network, the disk and the processes of one scenario, in one thread on one virtual time. */
export class World {
  readonly scenario: Scenario;
  readonly time = new VirtualTime();
  readonly venue: Venue;
  readonly trace: Trace;
  readonly violations: Violation[] = [];
  readonly openGaps = new Map<string, Gap>();
  readonly #checks: readonly Check[];
  readonly #wall: MachineWall;
  readonly #store = new StoreModel();
  readonly #random: Random;
  readonly #prices: PriceFeed;
  readonly #timers: Timer[] = [];
  #process: RecordingProcess | null = null;
  #bus: Bus | null = null;
  #lives = 0;
  #refusal: number | null = null;

  constructor(scenario: Scenario, options: { checks: readonly Check[]; trace: Trace }) {
    this.scenario = scenario;
    this.trace = options.trace;
    this.#checks = options.checks;
    const { seed } = scenario;
    this.#random = new Random(`world ${seed}`);
    this.#wall = new MachineWall(this.time, START_MS);
    this.venue = new Venue({
      time: this.time,
      startMs: START_MS,
      random: new Random(`venue ${seed}`),
      trace: this.trace,
      markets: venueMarkets(seed, scenario.markets),
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

  /** Runs the scenario and the recovery after it, then every check. */
  async run(): Promise<void> {
    await this.#start();
    for (const fault of this.scenario.faults) {
      await this.time.runTo(fault.atMs);
      this.trace.add(this.time.nowMs, `fault ${fault.kind} ${fault.lastsMs}`);
      beginFault(fault, this.#targets());
    }
    const lastEndMs = Math.max(this.scenario.spanMs, ...this.scenario.faults.map(({ atMs, lastsMs }) => atMs + lastsMs));
    await this.time.runTo(lastEndMs + RECOVERY_MS);
    this.venue.faults.isStopped = true;
    await this.time.runTo(this.time.nowMs + LAST_MS);
    for (const check of this.#checks) await check.end?.(this, this.#report(check));
  }

  stored<K extends RecordKind>(kind: K): readonly Records[K][] {
    return this.#store.of(kind);
  }

  /** The newest version of each gap. */
  gaps(): readonly Gap[] {
    return this.#store.gaps();
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
      this.#timers.push(this.time.after(1_000, tick));
    };
    this.time.after(1_000, tick);
  }

  #report(check: Check) {
    return (text: string) => {
      this.violations.push({ check: check.name, timeMs: this.time.nowMs, text });
      this.trace.add(this.time.nowMs, `violated ${check.name} ${text}`);
    };
  }

  async #start(): Promise<void> {
    const { time, venue } = this;
    const name = `${this.scenario.seed} life ${++this.#lives}`;
    this.openGaps.clear();
    for (const gap of this.#store.gaps()) if (gap.endTimeMs === null) this.openGaps.set(gap.marketId, gap);
    const listed = () => venue.markets.filter(({ isResolved }) => !isResolved).map(({ market }) => market);
    const process = new RecordingProcess({ name, time, wall: this.#wall, venue, store: this.#store, listed });
    process.network.refusal = this.#refusal;
    this.#process = process;
    this.#bus = process.bus;
    traceRecords(process.bus, this.trace, time);
    process.bus.subscribe('gap', (gap) => {
      if (gap.endTimeMs === null) this.openGaps.set(gap.marketId, gap);
      else if (this.openGaps.get(gap.marketId)?.gapId === gap.gapId) this.openGaps.delete(gap.marketId);
    });
    for (const check of this.#checks) check.begin?.(this, this.#report(check));
    await process.start();
  }

  #kill(downMs: number): void {
    if (this.#process === null) return;
    this.trace.add(this.time.nowMs, 'killed');
    this.#process.kill();
    this.#process = null;
    this.#store.kill(this.#random);
    this.time.after(downMs, () => void this.#start());
  }

  #targets(): FaultTargets {
    const machine = {
      wall: this.#wall,
      store: this.#store,
      random: this.#random,
      network: () => this.#process?.network ?? null,
      refuse: (status: number | null) => {
        this.#refusal = status;
        if (this.#process !== null) this.#process.network.refusal = status;
      },
      kill: (downMs: number) => this.#kill(downMs),
    };
    const receiver = { refuses: false, slowMs: 0, losesAnswers: false };
    return { time: this.time, venue: this.venue, machine: () => machine, prices: this.#prices.faults, receiver };
  }
}
