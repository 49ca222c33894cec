/** A recorder on a real store whose inserts wait until released, and two APIs over them. */
import type { FastifyInstance } from 'fastify';
import type { LiveState } from '../../src/api/createApi.ts';
import { Bus } from '../../src/bus/bus.ts';
import { publishingSink } from '../../src/bus/publishingSink.ts';
import { MarketMemory } from '../../src/recorder/marketMemory.ts';
import { Recorder } from '../../src/recorder/recorder.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { idleLive, KEY, testApi } from './api.ts';
import { openTestStore, type TestStore } from './store.ts';

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export class HeldStore {
  readonly recorder: Recorder;
  readonly opened: TestStore;
  /** Answers like the service. */
  readonly #api: FastifyInstance;
  /** Answers as if no market were followed: every answer comes from the store. */
  readonly #stored: FastifyInstance;
  readonly #time: { nowMs: number; lagMs: number };

  static async open(startMs: number): Promise<HeldStore> {
    const time = { nowMs: startMs, lagMs: 0 };
    // The writer's monotonic clock stands still, so it closes no segment by age: rows wait until `letThrough`.
    const clock = { ...systemClock, now: () => time.nowMs, monotonic: () => 0 };
    return new HeldStore(await openTestStore({ clock }), clock, time);
  }

  private constructor(opened: TestStore, clock: Clock, time: { nowMs: number; lagMs: number }) {
    this.opened = opened;
    this.#time = time;
    const observed = { clock, log: silentLogger, metrics: new Metrics() };
    const bus = new Bus(observed);
    const sink = publishingSink(opened.store.writer, bus);
    this.recorder = new Recorder({ ...observed, sink, timeBy: 'receipt' });
    const memoryClock = { monotonic: () => time.nowMs };
    const followed = new MarketMemory({ recorder: this.recorder, bus, clock: memoryClock });
    const live: LiveState = { ...idleLive, followed, storeLagMs: () => time.lagMs };
    this.#api = testApi({ store: opened.store, clock, live });
    this.#stored = testApi({
      store: opened.store,
      clock,
      live: { ...idleLive, storeLagMs: live.storeLagMs },
    });
  }

  get nowMs(): number {
    return this.#time.nowMs;
  }

  /** Sets the time; rows held since then have waited for `lagMs`. */
  at(nowMs: number, lagMs = this.#time.lagMs): void {
    Object.assign(this.#time, { nowMs, lagMs });
  }

  /** Resolves when everything recorded so far is in the store. */
  async letThrough(): Promise<void> {
    await this.opened.store.writer.flush();
    this.#time.lagMs = 0;
  }

  ask(url: string): Promise<Answer> {
    return answerOf(this.#api, url);
  }

  askStored(url: string): Promise<Answer> {
    return answerOf(this.#stored, url);
  }

  async close(): Promise<void> {
    await this.#api.close();
    await this.#stored.close();
    await this.opened.dispose();
  }
}

async function answerOf(api: FastifyInstance, url: string): Promise<Answer> {
  const response = await api.inject({ url, headers: KEY });
  return { status: response.statusCode, body: response.json() };
}
