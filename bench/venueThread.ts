/** Stand-in venues in a separate thread; the first message is the environment that connects a service to them. */
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { VenueModel } from '../src/simulator/model.ts';
import { VenueServer } from '../src/simulator/server.ts';

/** Book changes as a share of the real venues'. */
const DENSITY = 0.3;
/** Delay that the venues themselves may add between a frame's timestamp and its receipt. */
const STEP_MS = 2;

const model = new VenueModel({
  ...{ seed: 'attack', startTimeMs: systemClock.now() - 1000, density: DENSITY },
  // Frames are stamped when they are sent: the time until their receipt is then only the service's.
  latencyMs: { low: 0, high: 0 },
});
const venues = new VenueServer({ model, clock: systemClock, logger: silentLogger, stepMs: STEP_MS });
await venues.start();
parentPort?.postMessage(venues.urls());
