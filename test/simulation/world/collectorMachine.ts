import { Random } from '../../../src/core/random.ts';
import { StreamSink } from '../../../src/recorder/publish/streamSink.ts';
import type { UnderlyingEvent } from '../../../src/schema/events.ts';
import type { Market } from '../../../src/schema/market.ts';
import type { FaultedMachine } from './faults.ts';
import { openRecording, runtimeOf } from './recordingParts.ts';
import { StreamUplink } from './streamUplink.ts';
import type { Trace } from './trace.ts';
import type { Venue } from './venue.ts';
import { MachineWall, type VirtualTime } from './virtualTime.ts';

/** Clocks of two machines differ by at most this much before any fault. */
const SKEW_MS_MAX = 200;

interface CollectorParts {
  readonly sender: string;
  readonly seed: number;
  readonly time: VirtualTime;
  readonly startMs: number;
  readonly venue: Venue;
  readonly trace: Trace;
  readonly listed: () => readonly Market[];
  readonly deliver: ConstructorParameters<typeof StreamUplink>[0]['deliver'];
}

type Life = ReturnType<typeof openRecording> & { readonly runtime: ReturnType<typeof runtimeOf> };

/** A machine with a clock and a network of its own, on which one collector runs, life after life. */
export class CollectorMachine implements FaultedMachine {
  readonly wall: MachineWall;
  readonly uplink: StreamUplink;
  readonly disk = null;
  readonly #parts: CollectorParts;
  #life: Life | null = null;
  #lives = 0;
  #refusal: number | null = null;

  constructor(parts: CollectorParts) {
    this.#parts = parts;
    const { sender, seed, time, startMs, deliver } = parts;
    const random = new Random(`${sender} ${seed}`);
    this.wall = new MachineWall(time, startMs);
    this.wall.stepTo(random.below(2 * SKEW_MS_MAX) - SKEW_MS_MAX);
    this.uplink = new StreamUplink({ time, random, deliver });
  }

  start(): void {
    const { sender, seed, listed } = this.#parts;
    const run = `run${++this.#lives}`;
    const parts = { ...this.#parts, wall: this.wall, name: `${seed} ${sender} ${run}`, machine: sender };
    const runtime = runtimeOf(parts);
    const { uplink } = this;
    const status = () => ({ reasons: [], degraded: [], priceSources: null });
    const sink = new StreamSink({ stream: uplink, clock: runtime.clock, sender, run, status });
    const recording = openRecording(parts, { runtime, sink, isDropping: () => false });
    const { recorder, network, subscribe } = recording;
    recorder.onActionEnd = (recorded, action) => sink.actionEnded(recorded, action);
    network.refusal = this.#refusal;
    this.#life = { ...recording, runtime };
    uplink.open();
    sink.start();
    for (const market of listed()) {
      recorder.track(market);
      subscribe(market);
    }
  }

  /** A price arrives from its feed. */
  onPrice(price: UnderlyingEvent): void {
    const life = this.#life;
    life?.runtime.clock.whenAwake(() =>
      life.recorder.underlying({ ...price, receivedTimeMs: this.wall.now() }),
    );
  }

  network() {
    return this.#life?.network ?? null;
  }

  refuse(status: number | null): void {
    this.#refusal = status;
    if (this.#life !== null) this.#life.network.refusal = status;
  }

  kill(downMs: number): void {
    if (this.#life === null) return;
    const { trace, time, sender } = this.#parts;
    trace.add(time.nowMs, `killed ${sender}`);
    this.#life.runtime.clock.die();
    this.#life.network.cutAll();
    this.#life = null;
    this.uplink.kill();
    time.after(downMs, () => this.start());
  }

  pause(lastsMs: number): void {
    const clock = this.#life?.runtime.clock;
    clock?.pause();
    this.#parts.time.after(lastsMs, () => clock?.resume());
  }
}
