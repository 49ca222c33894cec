import { Bus } from '../../../src/bus/bus.ts';
import { publishingSink } from '../../../src/bus/publishingSink.ts';
import { Random } from '../../../src/core/random.ts';
import { MarketMemory } from '../../../src/recorder/marketMemory.ts';
import { Recorder } from '../../../src/recorder/recorder.ts';
import { resumeRecording } from '../../../src/recorder/resume.ts';
import { WatchedClob } from '../../../src/recorder/watchdog/watchedClob.ts';
import { silentLogger } from '../../../src/runtime/log.ts';
import { Metrics } from '../../../src/runtime/metrics.ts';
import type { UnderlyingEvent } from '../../../src/schema/events.ts';
import type { Market } from '../../../src/schema/market.ts';
import { DirectSocketDriver } from '../../../src/venues/venueSocket.ts';
import { Network } from './network.ts';
import type { StoreModel } from './storeModel.ts';
import type { Venue } from './venue.ts';
import { type MachineWall, ProcessClock, type VirtualTime } from './virtualTime.ts';

const WS_URL = 'ws://venue/ws/market';

interface RecordingParts {
  readonly name: string;
  readonly time: VirtualTime;
  readonly wall: MachineWall;
  readonly venue: Venue;
  readonly store: StoreModel;
  /** Markets that the listing names. */
  readonly listed: () => readonly Market[];
}

/** What every process has. */
export function runtimeOf(parts: Pick<RecordingParts, 'name' | 'time' | 'wall'>) {
  const random = new Random(parts.name);
  const clock = new ProcessClock(parts.time, parts.wall);
  return { clock, random: () => random.next(), log: silentLogger, metrics: new Metrics() };
}

/** A process that records into the store and onto its bus: the real recorder, feed and watchdog. */
export class RecordingProcess {
  readonly runtime: ReturnType<typeof runtimeOf>;
  readonly bus: Bus;
  readonly recorder: Recorder;
  readonly memory: MarketMemory;
  readonly network: Network;
  readonly #clob: WatchedClob;
  readonly #parts: RecordingParts;

  constructor(parts: RecordingParts) {
    this.#parts = parts;
    const { time, venue, store, name } = parts;
    this.runtime = runtimeOf(parts);
    const { runtime } = this;
    const onArrived = (text: string) => venue.onArrived(text);
    this.network = new Network({ time, random: new Random(`${name} network`), server: venue, onArrived });
    this.bus = new Bus(runtime);
    const sink = publishingSink(store.open(runtime.clock), this.bus);
    this.recorder = new Recorder({ ...runtime, sink, timeBy: 'clock' });
    this.memory = new MarketMemory({ recorder: this.recorder, bus: this.bus });
    this.#clob = new WatchedClob({
      ...runtime,
      wsUrl: WS_URL,
      rest: { books: (tokenIds) => venue.books(tokenIds, runtime.clock) },
      sockets: new DirectSocketDriver(runtime.clock, null, this.network.connect),
      recorder: this.recorder,
      isDropping: () => store.isDropping,
    });
  }

  /** Continues the stored recording, then follows the listed markets. */
  async start(): Promise<void> {
    const { store, listed } = this.#parts;
    const { clock, log } = this.runtime;
    const { recorder } = this;
    const known = await resumeRecording({ store: store.resumed(), recorder, clock, log });
    const markets = new Map([...known, ...listed()].map((market) => [market.marketId, market]));
    for (const market of markets.values()) {
      const stored = recorder.market(market.marketId);
      recorder.track(stored ?? market);
      this.#clob.subscribe(`${market.ticker}-${market.eventType}`, [market.yesTokenId, market.noTokenId]);
    }
  }

  /** A price arrives from its feed. */
  onPrice(price: UnderlyingEvent): void {
    if (!this.runtime.clock.isDead) this.recorder.underlying(price);
  }

  /** Nothing of this process runs again. */
  kill(): void {
    this.runtime.clock.die();
    this.network.cutAll();
  }
}
