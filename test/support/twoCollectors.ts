import type { StreamMessage } from '../../src/bus/recordStream.ts';
import { Random } from '../../src/core/random.ts';
import { ladderHash } from '../../src/recorder/publish/ladderHash.ts';
import { StreamSink } from '../../src/recorder/publish/streamSink.ts';
import { Recorder } from '../../src/recorder/recorder.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { Market } from '../../src/schema/market.ts';
import { forward, type RecordKind, type RecordSink, recordSink } from '../../src/schema/records.ts';
import { FakeClock } from './fakeClock.ts';
import { MemorySink } from './memorySink.ts';
import { NumberedStream } from './numberedStream.ts';
import { MARKET, WireMarket } from './wire.ts';

export const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;
/** A gap is repaired by a requested book this long after it was found. */
const REPAIRED_AFTER_MS = 1_500;

/** Which faults happen to a collector, as chances per step. */
export interface CollectorFaults {
  readonly kill?: number;
  readonly disconnect?: number;
  readonly loseFrame?: number;
  readonly stall?: number;
  readonly partition?: number;
  readonly partitionMsMax?: number;
  readonly lateTrade?: number;
}

/** One market of the venue, with its book and the state after each of its actions. */
class VenueMarket {
  readonly market: Market;
  readonly wire: WireMarket;
  /** The hash of the venue's book after each action, by venue time. */
  readonly truth = new Map<number, string>();
  actedMs = T0;
  #nextPrice = 100;

  constructor(index: number) {
    const marketId = `0x${String(index).repeat(64)}`;
    const [yesTokenId, noTokenId] = [`1${index}`.repeat(20), `2${index}`.repeat(20)];
    const window = { eventType: '1h' as const, endTimeMs: T0 + 3_600_000 };
    this.market = { ...MARKET, ...window, marketId, yesTokenId, noTokenId, slug: `market-${index}` };
    this.wire = new WireMarket(this.market);
    for (let at = 1; at <= 3; at++) {
      this.wire.set({ side: 'BUY', price: 5000 - at * 10, size: at * SHARE });
      this.wire.set({ side: 'SELL', price: 5000 + at * 10, size: at * SHARE });
    }
    this.#note();
  }

  /** Each price is set once, so that no later change can hide a loss. */
  act(nowMs: number, random: Random): string[] {
    this.actedMs = nowMs;
    const changes = Array.from({ length: 1 + random.below(2) }, () => {
      const side = random.chance(0.5) ? ('BUY' as const) : ('SELL' as const);
      this.#nextPrice++;
      return { side, price: side === 'BUY' ? this.#nextPrice : 10_000 - this.#nextPrice, size: SHARE };
    });
    const frames = this.wire.action(nowMs, changes);
    this.#note();
    return frames;
  }

  #note(): void {
    const { bids, asks } = this.wire;
    this.truth.set(this.actedMs, ladderHash({ yes: { bids, asks }, no: { bids, asks }, mirrored: true }));
  }
}

interface Incoming {
  readonly dueMs: number;
  readonly frame: string;
}

/** A collector with the real recorder, an unreliable feed, and a queue of messages that the stream has not received. */
class SimulatedCollector {
  readonly name: string;
  readonly clock: Clock;
  recorder: Recorder | null = null;
  /** Messages published and not yet delivered, in order. */
  readonly outbox: StreamMessage[] = [];
  /** The records of its recorder, and their kinds in order. */
  readonly direct = new MemorySink();
  readonly directOrder: RecordKind[] = [];
  isPartitioned = false;
  stalledUntilMs = 0;
  runs = 0;
  #incoming: Incoming[] = [];
  #snapshotAtMs: number | null = null;
  #sink: StreamSink | null = null;
  readonly #venue: readonly VenueMarket[];
  readonly #true: FakeClock;
  readonly #skewMs: number;

  constructor(name: string, options: { clock: FakeClock; venue: readonly VenueMarket[]; skewMs: number }) {
    this.name = name;
    this.#true = options.clock;
    this.#skewMs = options.skewMs;
    this.#venue = options.venue;
    const { clock, skewMs } = options;
    this.clock = {
      now: () => clock.now() + skewMs,
      monotonic: () => clock.monotonic(),
      after: (delayMs, run) => clock.after(delayMs, run),
    };
  }

  get isUp(): boolean {
    return this.recorder !== null;
  }

  start(): void {
    const { clock, name } = this;
    this.#sink = new StreamSink({
      stream: { publish: (message) => void this.outbox.push(message) },
      clock,
      sender: name,
      run: `run${++this.runs}`,
      status: () => ({ reasons: [], degraded: [], priceSources: null }),
    });
    this.#sink.start();
    const published = this.#sink;
    const sink: RecordSink = recordSink((kind, record) => {
      this.directOrder.push(kind);
      forward(this.direct, kind, record);
      forward(published, kind, record);
    });
    const recorder = new Recorder({
      clock,
      sink,
      log: silentLogger,
      metrics: new Metrics(),
      timeBy: 'receipt',
    });
    recorder.onActionEnd = (recorded, action) => published.actionEnded(recorded, action);
    this.recorder = recorder;
    for (const { market } of this.#venue) recorder.track(market);
    this.#snapshotAtMs = this.#true.now() + 100;
  }

  /** @param lost Number of messages at the end of the outbox that are lost with the process. */
  kill(lost: number): void {
    this.#sink?.close();
    this.recorder = this.#sink = null;
    this.#incoming = [];
    this.outbox.splice(Math.max(0, this.outbox.length - lost));
  }

  disconnect(repairMs: number): void {
    const tokens = this.#venue.flatMap(({ market }) => [market.yesTokenId, market.noTokenId]);
    this.recorder?.disconnect(tokens, this.clock.now());
    this.#incoming = [];
    this.#snapshotAtMs = this.#true.now() + repairMs;
  }

  /** The venue sends a frame; it arrives after a delay. */
  send(frame: string, delayMs: number): void {
    if (this.isUp && this.#snapshotAtMs === null)
      this.#incoming.push({ dueMs: this.#true.now() + delayMs, frame });
  }

  /** Reads all frames that have arrived. */
  read(): void {
    const nowMs = this.#true.now();
    if (this.recorder === null || nowMs < this.stalledUntilMs) return;
    if (this.#snapshotAtMs !== null && nowMs >= this.#snapshotAtMs) {
      this.#snapshotAtMs = null;
      for (const { wire, actedMs } of this.#venue) this.#receive(wire.snapshot(actedMs));
    }
    const due = this.#incoming.filter(({ dueMs }) => dueMs <= nowMs).sort((a, b) => a.dueMs - b.dueMs);
    this.#incoming = this.#incoming.filter(({ dueMs }) => dueMs > nowMs);
    for (const { frame } of due) this.#receive(frame);
    this.recorder.finishQuiet(this.clock.now());
    for (const { market, wire, actedMs } of this.#venue) {
      const gap = this.recorder.gaps.of(market.marketId);
      const isDue = gap !== null && this.clock.now() - (gap.knownTimeMs ?? 0) > REPAIRED_AFTER_MS;
      if (isDue && this.#incoming.length === 0 && this.#snapshotAtMs === null)
        for (const frame of wire.books(actedMs)) this.#receive(frame);
    }
  }

  #receive(frame: string): void {
    this.recorder?.clobFrame(frame, this.#true.now() + this.#skewMs);
  }
}

/** One venue and collectors that each lose different parts of its feed, publishing on one stream. */
export class TwoCollectors {
  readonly random: Random;
  readonly clock = new FakeClock(T0);
  readonly stream = new NumberedStream(T0);
  readonly venue: VenueMarket[];
  readonly collectors: SimulatedCollector[];
  /** All messages that reached the stream, copies included. */
  readonly delivered: StreamMessage[] = [];
  readonly #faults: readonly CollectorFaults[];

  constructor(seed: string, options: { faults: readonly CollectorFaults[]; markets?: number }) {
    this.random = new Random(seed);
    this.#faults = options.faults;
    this.venue = Array.from({ length: options.markets ?? 2 }, (_, index) => new VenueMarket(index + 1));
    this.collectors = options.faults.map((_, index) => {
      const skewMs = index === 0 ? 0 : this.random.below(400) - 200;
      return new SimulatedCollector(`collector${index}`, { clock: this.clock, venue: this.venue, skewMs });
    });
    for (const collector of this.collectors) collector.start();
  }

  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) await this.#step(true);
    await this.#recover();
  }

  /** Kills one collector after the other, without losing what it had published. */
  async runKills({
    everyMs,
    totalMs,
    downMsMax,
  }: {
    everyMs: number;
    totalMs: number;
    downMsMax: number;
  }): Promise<void> {
    let kills = 0;
    while (this.clock.now() < T0 + totalMs) {
      await this.#step(false);
      if (this.clock.now() - T0 < (kills + 1) * everyMs) continue;
      const collector = this.collectors[kills++ % this.collectors.length];
      collector?.kill(0);
      this.clock.after(500 + this.random.below(downMsMax), () => collector?.start());
    }
    for (let step = 0; step < 100; step++) await this.#step(false);
  }

  async #step(hasFaults: boolean): Promise<void> {
    const { random, clock } = this;
    await this.#advance(20 + random.below(random.chance(0.1) ? 2_500 : 200));
    if (hasFaults)
      for (const [index, collector] of this.collectors.entries())
        this.#fault(collector, this.#faults[index] ?? {});
    const acting = this.venue.filter(() => random.chance(0.6));
    for (const market of acting) this.#act(market, hasFaults);
    await this.#advance(30 + random.below(40));
    for (const collector of this.collectors) collector.read();
    this.#deliver(hasFaults);
    this.stream.timeMs = clock.now();
  }

  #act(market: VenueMarket, hasFaults: boolean): void {
    const { random } = this;
    const trade = random.chance(0.1)
      ? market.wire.trade(this.clock.now(), {
          price: 5000 + 10 * random.below(90),
          size: SHARE,
          id: `0x${random.below(1e9)}`,
        })
      : null;
    const frames = market.act(this.clock.now(), random);
    for (const [index, collector] of this.collectors.entries()) {
      const faults = (hasFaults ? this.#faults[index] : null) ?? {};
      const delayMs = random.below(30);
      const isLate = random.chance(faults.lateTrade ?? 0);
      if (trade !== null) collector.send(trade, delayMs + (isLate ? 600 : 0));
      const lost = random.chance(faults.loseFrame ?? 0) ? random.below(frames.length) : -1;
      for (const [at, frame] of frames.entries()) if (at !== lost) collector.send(frame, delayMs);
    }
  }

  #fault(collector: SimulatedCollector, faults: CollectorFaults): void {
    const { random, clock } = this;
    if (!collector.isUp) return;
    if (random.chance(faults.kill ?? 0)) {
      collector.kill(random.chance(0.5) ? random.below(10) : 0);
      clock.after(500 + random.below(12_000), () => collector.start());
    } else if (random.chance(faults.disconnect ?? 0)) collector.disconnect(200 + random.below(3_000));
    else if (random.chance(faults.stall ?? 0)) collector.stalledUntilMs = clock.now() + random.below(3_000);
    if (!collector.isPartitioned && random.chance(faults.partition ?? 0)) {
      collector.isPartitioned = true;
      clock.after(1_000 + random.below(faults.partitionMsMax ?? 20_000), () => {
        collector.isPartitioned = false;
      });
    }
  }

  /** Delivers messages of the collectors in a random interleaving. */
  #deliver(hasFaults: boolean): void {
    const { random, stream } = this;
    for (;;) {
      const ready = this.collectors.filter((each) => !each.isPartitioned && each.outbox.length > 0);
      const [chosen] = random.chance(0.5) ? ready : ready.reverse();
      if (chosen === undefined) return;
      stream.timeMs = this.clock.now();
      const count = 1 + random.below(4);
      for (const message of chosen.outbox.splice(0, count)) {
        this.delivered.push(message);
        stream.publish(message);
      }
      if (hasFaults && random.chance(0.02)) return;
    }
  }

  async #advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
  }

  /** Runs without faults until every collector has delivered all and sees all markets. */
  async #recover(): Promise<void> {
    for (const collector of this.collectors) {
      collector.stalledUntilMs = 0;
    }
    await this.#advance(15_000);
    for (const collector of this.collectors) collector.isPartitioned = false;
    for (let step = 0; step < 40; step++) await this.#step(false);
    for (const collector of this.collectors) {
      collector.disconnect(100);
      for (let step = 0; step < 20; step++) await this.#step(false);
    }
    this.#deliver(false);
  }
}
