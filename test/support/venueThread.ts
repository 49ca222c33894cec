import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { WAIT_MS_MAX } from './waitLimit.ts';

const [READ, PINGS] = [0, 1];
const LOOK_MS = 10;

/** When a frame was sent, and by when the receiver had read it; the venue's wall time. */
interface FrameTimes {
  readonly sentMs: number;
  readonly readMs: number;
}

/** A venue that continues to send while the thread of the test is blocked. */
export class VenueThread {
  readonly url: string;
  readonly #worker: Worker;
  readonly #counts: Int32Array;

  private constructor(worker: Worker, counts: Int32Array, port: number) {
    this.#worker = worker;
    this.#counts = counts;
    this.url = `ws://127.0.0.1:${port}`;
  }

  static async start(): Promise<VenueThread> {
    const counts = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    const worker = new Worker(new URL('./venueThread.mjs', import.meta.url), { workerData: counts.buffer });
    const [port] = await once(worker, 'message');
    return new VenueThread(worker, counts, port as number);
  }

  /** Sends numbered frames on the newest connection, each after the previous one was read. */
  async send(frames: number): Promise<FrameTimes[]> {
    return this.#ask({ frames, gapMs: 10, frameBytes: 0 });
  }

  /** Sends numbered frames on the newest connection without a pause. */
  async flood(frames: number, frameBytes: number): Promise<void> {
    await this.#ask({ frames, gapMs: null, frameBytes });
  }

  /** Blocks the calling thread until this many frames of `send` were read. */
  blockUntilRead(frames: number): void {
    blockUntil(() => Atomics.load(this.#counts, READ) >= frames);
  }

  /** Blocks the calling thread until this many PINGs have arrived. */
  blockUntilPinged(times: number): void {
    blockUntil(() => Atomics.load(this.#counts, PINGS) >= times);
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  async #ask(request: object): Promise<FrameTimes[]> {
    const answer = once(this.#worker, 'message');
    this.#worker.postMessage(request);
    return (await answer)[0] as FrameTimes[];
  }
}

/** Blocks the calling thread, including its event loop, until other threads have fulfilled a condition. */
export function blockUntil(happened: () => boolean): void {
  const nothing = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  for (let waitedMs = 0; !happened(); waitedMs += LOOK_MS) {
    if (waitedMs >= WAIT_MS_MAX / 10) throw new Error('it did not happen while this thread was blocked');
    Atomics.wait(nothing, 0, 0, LOOK_MS);
  }
}
