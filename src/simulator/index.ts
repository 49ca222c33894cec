/**
 * Stand-in venues for tests and demonstrations: Polymarket's market channel, listings, price relays and PolyBolt, spot
 * and perpetual exchanges, on one loopback port. The same seed, start and calls give the same frames, byte for byte.
 * Shapes and timings are those of recordings made in November 2026; prices are generated.
 */
export { systemClock } from '../runtime/clock.ts';
export { silentLogger } from '../runtime/log.ts';
export { type Fault, faultSchema } from './faultState.ts';
export { generateHistory } from './history.ts';
export { VenueModel } from './model.ts';
export { VenueServer } from './server.ts';
