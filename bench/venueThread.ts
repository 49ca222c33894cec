/** Stand-in venues in a separate thread; the first message is the environment that connects a service to them. */
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import type { Ticker } from '../src/schema/market.ts';
import { VenueModel } from '../src/simulator/model.ts';
import { VenueServer } from '../src/simulator/server.ts';
import { runFirst } from './runFirst.ts';

/** Delay that the venues themselves may add between a frame's timestamp and its receipt. */
const STEP_MS = 2;
/** One frame in so many is compared with the clock as it is sent. */
const SAMPLED = 16;
const FRAME_TIME = /"timestamp":"(\d+)"/;

/** The thread's `workerData`. */
export interface VenueThreadOptions {
  readonly seed: string;
  /** Book changes as a share of the real venues'. */
  readonly density: number;
  readonly tickers?: readonly Ticker[];
}

/** The answer to any message: what the venues themselves cost and delayed since the message before. */
export interface VenueReport {
  readonly cpuMs: number;
  /** Milliseconds from the moment that a frame states to its sending. */
  readonly delaysMs: readonly number[];
}

let delaysMs: number[] = [];
let frames = 0;
let cpuBefore = process.threadCpuUsage();

function onFrame(_market: unknown, frame: string): void {
  if (frames++ % SAMPLED !== 0) return;
  const stated = FRAME_TIME.exec(frame)?.[1];
  if (stated !== undefined) delaysMs.push(systemClock.now() - Number(stated));
}

runFirst();
const model = new VenueModel({
  ...(workerData as VenueThreadOptions),
  startTimeMs: systemClock.now() - 1000,
  // Frames are stamped when they are sent: the time until their receipt is then only the service's.
  latencyMs: { low: 0, high: 0 },
});
const observer = { onFrame, onSnapshot: () => {} };
const venues = new VenueServer({
  model,
  clock: systemClock,
  logger: silentLogger,
  observer,
  stepMs: STEP_MS,
});
await venues.start();
parentPort?.on('message', () => {
  const { user, system } = process.threadCpuUsage(cpuBefore);
  parentPort?.postMessage({ cpuMs: (user + system) / 1000, delaysMs } satisfies VenueReport);
  delaysMs = [];
  cpuBefore = process.threadCpuUsage();
});
parentPort?.postMessage(venues.urls());
