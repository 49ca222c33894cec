/** The time that an order takes from its decision to the venue. */
import type { LatencyModel } from './order.ts';

/** The random numbers that a model draws from. */
export interface LatencyRandom {
  /** In [0, 1). */
  next(): number;
  lognormal(median: number, sigma: number): number;
}

/**
 * One delay in whole milliseconds.
 * @param random Not read by a constant model.
 */
export function delayOf(model: LatencyModel, random: LatencyRandom | null = null): number {
  if (model.kind === 'constant') return model.ms;
  if (random === null) throw new RangeError(`no random numbers for a ${model.kind} latency`);
  if (model.kind === 'uniform') {
    return model.minMs + Math.floor((model.maxMs - model.minMs + 1) * random.next());
  }
  if (model.kind === 'log_normal') {
    return Math.min(model.maxMs, Math.round(random.lognormal(model.medianMs, model.sigma)));
  }
  return model.ms[Math.floor(model.ms.length * random.next())] as number;
}
