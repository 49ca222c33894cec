/** Stand-in venues in a thread of their own; its first message is the environment that points a service at them. */
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { VenueModel } from '../src/simulator/model.ts';
import { VenueServer } from '../src/simulator/server.ts';

/** Books of the venues as a share of what real ones send. */
const DENSITY = 0.3;
/** What the venues themselves may add to the time from a frame's moment to its receipt. */
const STEP_MS = 2;

const model = new VenueModel({
  ...{ seed: 'attack', startTimeMs: systemClock.now() - 1000, density: DENSITY },
  // Frames are stamped when they are sent: the time to their receipt is then the service's alone.
  latencyMs: { low: 0, high: 0 },
});
const venues = new VenueServer({ model, clock: systemClock, logger: silentLogger, stepMs: STEP_MS });
await venues.start();
parentPort?.postMessage(venues.urls());
