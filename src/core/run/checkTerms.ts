/** The check of a run's terms. */
import { QUEUE_MODELS } from '../../schema/strategy.ts';
import type { LatencyModel } from '../desk/order.ts';
import type { RunTerms } from './terms.ts';

/** @throws {RangeError} Names the term that is wrong, and what it may be. */
export function checkTerms(terms: RunTerms): void {
  const { seed, orderLatency, queueModel, cashUsd, exposure, redemptionDelayMs } = terms;
  if (!Number.isSafeInteger(seed) || seed < 0) throw new RangeError('seed: expected a whole number from 0');
  checkLatency(orderLatency);
  if (!QUEUE_MODELS.includes(queueModel))
    throw new RangeError(`queueModel: expected one of ${QUEUE_MODELS.join(', ')}`);
  checkUsd('cashUsd', cashUsd);
  checkUsd('exposure.perMarketUsd', exposure.perMarketUsd);
  checkUsd('exposure.perTickerUsd', exposure.perTickerUsd);
  checkUsd('exposure.totalUsd', exposure.totalUsd);
  if (!isDelay(redemptionDelayMs)) throw new RangeError('redemptionDelayMs: expected milliseconds from 0');
}

function checkUsd(name: string, usd: number | null): void {
  if (usd !== null && !(Number.isFinite(usd) && usd > 0))
    throw new RangeError(`${name}: expected USD above 0, or null`);
}

function checkLatency(model: LatencyModel): void {
  if (!isLatency(model)) throw new RangeError(`orderLatency: not a latency: ${JSON.stringify(model)}`);
}

function isLatency(model: LatencyModel): boolean {
  switch (model.kind) {
    case 'constant':
      return isDelay(model.ms);
    case 'uniform':
      return isDelay(model.minMs) && isDelay(model.maxMs) && model.minMs <= model.maxMs;
    case 'log_normal':
      return isDelay(model.medianMs) && model.medianMs > 0 && model.sigma >= 0 && isDelay(model.maxMs);
    case 'samples':
      return model.ms.length > 0 && model.ms.every(isDelay);
    default:
      return false;
  }
}

function isDelay(ms: number): boolean {
  return Number.isFinite(ms) && ms >= 0;
}
