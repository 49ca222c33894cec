import { Bus } from '../../../src/bus/bus.ts';
import { publishingSink } from '../../../src/bus/publishingSink.ts';
import { MarketMemory } from '../../../src/recorder/marketMemory.ts';
import type { Recorder } from '../../../src/recorder/recorder.ts';
import { resumeRecording } from '../../../src/recorder/resume.ts';
import type { UnderlyingEvent } from '../../../src/schema/events.ts';
import type { Market } from '../../../src/schema/market.ts';
import type { Network } from './network.ts';
import { type MachineParts, openRecording, runtimeOf } from './recordingParts.ts';
import type { StoreModel } from './storeModel.ts';

interface RecordingParts extends MachineParts {
  readonly store: StoreModel;
}

/** A process that records into the store and onto its bus. */
export class RecordingProcess {
  readonly runtime: ReturnType<typeof runtimeOf>;
  readonly bus: Bus;
  readonly recorder: Recorder;
  readonly memory: MarketMemory;
  readonly network: Network;
  readonly #subscribe: (market: Market) => void;
  readonly #parts: RecordingParts;

  constructor(parts: RecordingParts) {
    this.#parts = parts;
    const { store } = parts;
    this.runtime = runtimeOf(parts);
    const { runtime } = this;
    this.bus = new Bus(runtime);
    const sink = publishingSink(store.open(runtime.clock), this.bus);
    const isDropping = () => store.isDropping;
    const { network, recorder, subscribe } = openRecording(parts, { runtime, sink, isDropping });
    this.network = network;
    this.recorder = recorder;
    this.#subscribe = subscribe;
    this.memory = new MarketMemory({ recorder, bus: this.bus, clock: runtime.clock });
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
      this.#subscribe(market);
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
