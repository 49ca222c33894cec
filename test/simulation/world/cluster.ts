import { Random } from '../../../src/core/random.ts';
import type { Gap } from '../../../src/schema/gap.ts';
import type { RecordKind, Records } from '../../../src/schema/records.ts';
import { NumberedStream } from '../../support/numberedStream.ts';
import { type Check, type RecordedWorld, reporter, type Violation } from '../checks/check.ts';
import type { Scenario } from '../scenario.ts';
import { CollectorMachine } from './collectorMachine.ts';
import { type FaultTargets, playFaults } from './faults.ts';
import { LiveReader } from './liveReader.ts';
import { START_MS, venueMarkets } from './markets.ts';
import { PriceFeed } from './priceFeed.ts';
import { RestartedReader } from './restartedReader.ts';
import type { Trace } from './trace.ts';
import { Venue } from './venue.ts';
import { VirtualTime } from './virtualTime.ts';

/** The collectors start so long after each other. */
const STARTS_APART_MS = 400;

/** One venue, several collectors that publish on a stream, and two readers that merge it, on one virtual time. */
export class Cluster implements RecordedWorld {
  readonly scenario: Scenario;
  readonly time = new VirtualTime();
  readonly venue: Venue;
  readonly trace: Trace;
  readonly violations: Violation[] = [];
  readonly live: LiveReader;
  readonly restarted: RestartedReader;
  readonly #checks: readonly Check<Cluster>[];
  readonly #stream = new NumberedStream(START_MS);
  readonly #machines: readonly CollectorMachine[];
  readonly #prices: PriceFeed;

  constructor(scenario: Scenario, { checks, trace }: { checks: readonly Check<Cluster>[]; trace: Trace }) {
    this.scenario = scenario;
    this.trace = trace;
    this.#checks = checks;
    const { time } = this;
    const { seed } = scenario;
    const markets = venueMarkets(seed, scenario.markets);
    const [startMs, random] = [START_MS, new Random(`venue ${seed}`)];
    const venue = new Venue({ time, startMs, random, trace, markets });
    this.venue = venue;
    this.live = new LiveReader({ time, startMs, trace });
    const readerRandom = new Random(`reader ${seed}`);
    this.restarted = new RestartedReader(this.#stream.placed, { time, random: readerRandom });
    const listed = () => venue.markets.filter(({ isResolved }) => !isResolved).map(({ market }) => market);
    const deliver = (message: Parameters<NumberedStream['publish']>[0]) => {
      this.#stream.timeMs = START_MS + time.nowMs;
      this.#stream.publish(message);
    };
    this.#machines = Array.from({ length: scenario.collectors }, (_, at) => {
      const sender = `collector${at + 1}`;
      return new CollectorMachine({ sender, seed, time, startMs, venue, trace, listed, deliver });
    });
    this.#stream.onPlaced = ({ message, place }) => {
      this.live.onMessage(message, place);
      this.restarted.read();
    };
    this.#prices = new PriceFeed({ time, startMs, seed, clock: { now: () => venue.nowMs } }, (price) => {
      for (const machine of this.#machines) machine.onPrice(price);
    });
  }

  /** Runs the scenario and the recovery after it, then every check. */
  async run(): Promise<void> {
    const { scenario, time } = this;
    for (const check of this.#checks) check.begin?.(this, reporter(check.name, this));
    for (const [at, machine] of this.#machines.entries())
      time.after(at * STARTS_APART_MS, () => machine.start());
    await playFaults(scenario, this.#targets(), this.trace);
    for (const check of this.#checks) await check.end?.(this, reporter(check.name, this));
  }

  get openGaps(): ReadonlyMap<string, Gap> {
    return this.live.openGaps;
  }

  stored<K extends RecordKind>(kind: K): readonly Records[K][] {
    return this.live.records.flatMap((merged) => (merged.kind === kind ? [merged.record as Records[K]] : []));
  }

  gaps(): readonly Gap[] {
    const newest = new Map<string, Gap>();
    for (const gap of this.stored('gap')) newest.set(gap.gapId, gap);
    return [...newest.values()];
  }

  /** The newest version of each gap that a collector has published. */
  gapsOfCollectors(): readonly Gap[] {
    const newest = new Map<string, Gap>();
    for (const { message } of this.#stream.placed)
      if (message.kind === 'gap') newest.set(`${message.sender} ${message.body.gapId}`, message.body);
    return [...newest.values()];
  }

  shownBook(marketId: string) {
    return this.live.memory.book(marketId);
  }

  everySecond(run: () => void): void {
    const tick = () => {
      run();
      this.time.after(1_000, tick);
    };
    this.time.after(1_000, tick);
  }

  #targets(): FaultTargets {
    const machines = this.#machines;
    return {
      ...{ time: this.time, venue: this.venue, prices: this.#prices.faults, receiver: null },
      // Other digits of the dice than those that choose a size or a direction.
      machine: (dice) => machines[Math.floor(dice * 1_000) % machines.length] as CollectorMachine,
      uplinks: machines.map(({ uplink }) => uplink),
    };
  }
}
