import type { Config } from '../../config.ts';
import type { Database } from '../../control/schema.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { TierLimits } from '../users/tiers.ts';
import { addressGroup } from './limitsAddress.ts';
import type { Quota, QuotaState } from './limitsWindow.ts';
import {
  type Counted,
  type CounterSource,
  MemoryCounters,
  memoryCounters,
  type RateCounters,
  waitSeconds,
} from './rateCounters.ts';
import { SharedCounters } from './sharedCounters.ts';

/** Maximum number of tracked clients; the least recently active one is evicted. */
const CLIENTS_MAX = 50_000;
/**
 * Refused requests per minute of one address without a known user: far more than mistakes need, far fewer than guessing
 * needs.
 */
export const FAILED_PER_MINUTE = 600;
const FAILED: readonly Quota[] = [{ name: 'failed-auth', requests: FAILED_PER_MINUTE, windowMs: 60_000 }];
/** A metrics collector polls every few seconds; printing all metrics takes milliseconds. */
export const METRICS_PER_MINUTE = 120;
const METRICS: readonly Quota[] = [{ name: 'metrics', requests: METRICS_PER_MINUTE, windowMs: 60_000 }];

/** A client's rate limits as reported in response headers, named as in draft-ietf-httpapi-ratelimit-headers-10. */
export interface RateVerdict {
  /** `RateLimit-Policy`. */
  readonly policy: string;
  /** `RateLimit`. */
  readonly limit: string;
  /** Whole seconds, at least 1, until a request is admitted; 0 if this one is. */
  readonly retryAfterSeconds: number;
}

/**
 * Request rates: of each user by tier, and of requests without a known user by address. A verdict is synchronous if
 * this process alone counts, otherwise a promise.
 */
export class RateLimits {
  /** Where requests are counted. */
  readonly source: CounterSource;
  readonly #users: RateCounters;
  readonly #addresses: RateCounters;
  readonly #plans = new WeakMap<TierLimits, Plan>();
  readonly #failed = plan(FAILED);
  /** Of this process alone, because each process has its own metrics. */
  readonly #metricsReaders: MemoryCounters;
  readonly #metrics = plan(METRICS);

  constructor(clock: Pick<Clock, 'monotonic'>, source = memoryCounters(clock)) {
    this.source = source;
    this.#users = source('user', CLIENTS_MAX);
    this.#addresses = source('address', CLIENTS_MAX);
    this.#metricsReaders = new MemoryCounters(clock, CLIENTS_MAX);
  }

  /**
   * Counts a request unless it is refused.
   * @param client Name of the allowance: `keys USER` or `dashboard USER`.
   */
  request(client: string, limits: TierLimits): RateVerdict | Promise<RateVerdict> {
    let quotas = this.#plans.get(limits);
    if (!quotas) {
      quotas = plan(quotasOf(limits));
      this.#plans.set(limits, quotas);
    }
    return count(this.#users, client, quotas);
  }

  /** Counts a refusal (4xx) without a known user. If the address had too many, the refusal becomes a 429. */
  failure(address: string): RateVerdict | Promise<RateVerdict> {
    return count(this.#addresses, addressGroup(address), this.#failed);
  }

  /** Whole seconds until another refusal of the address is sent unchanged; 0: now. Counts nothing. */
  refusalsUsedUp(address: string): number | Promise<number> {
    const { quotas } = this.#failed;
    const counted = this.#addresses.peek(addressGroup(address), quotas);
    return counted instanceof Promise ? counted.then(waitSeconds) : waitSeconds(counted);
  }

  /** Counts a metrics request of an address, unless it is refused. */
  metrics(address: string): RateVerdict {
    return verdict(this.#metricsReaders.count(addressGroup(address), this.#metrics.quotas), this.#metrics);
  }

  /** Limit headers of an address for responses sent before any key is checked. Counts nothing. */
  standing(address: string): RateVerdict | Promise<RateVerdict> {
    const counted = this.#addresses.peek(addressGroup(address), this.#failed.quotas);
    const standing = (late: Counted) => ({ ...verdict(late, this.#failed), retryAfterSeconds: 0 });
    return counted instanceof Promise ? counted.then(standing) : standing(counted);
  }
}

/** The rates of a process, shared with all processes on its PostgreSQL database. */
export function openRateLimits(parts: {
  config: Pick<Config, 'rateLimits' | 'databaseUrl'>;
  database: Database;
  clock: Clock;
  log: Logger;
  metrics: Pick<Metrics, 'counter' | 'gauge'>;
}): { readonly rateLimits: RateLimits | null; close(): void } {
  const { config, database: db, clock, log, metrics } = parts;
  if (!config.rateLimits) return { rateLimits: null, close: () => undefined };
  if (config.databaseUrl === null) return { rateLimits: new RateLimits(clock), close: () => undefined };
  const shared = new SharedCounters({ db, clock, log, metrics });
  return { rateLimits: new RateLimits(clock, shared.source), close: () => shared.close() };
}

function count(counters: RateCounters, client: string, quotas: Plan): RateVerdict | Promise<RateVerdict> {
  const counted = counters.count(client, quotas.quotas);
  return counted instanceof Promise
    ? counted.then((late) => verdict(late, quotas))
    : verdict(counted, quotas);
}

interface Plan {
  readonly quotas: readonly Quota[];
  readonly policy: string;
}

function plan(quotas: readonly Quota[]): Plan {
  const policy = quotas.map(({ name, requests, windowMs }) => `"${name}";q=${requests};w=${windowMs / 1000}`);
  return { quotas, policy: policy.join(', ') };
}

function quotasOf(limits: TierLimits): Quota[] {
  return [
    { name: 'second', requests: limits.requests_per_second, windowMs: 1_000 },
    { name: 'minute', requests: limits.requests_per_minute, windowMs: 60_000 },
  ];
}

function verdict(counted: Counted, { policy, quotas }: Plan): RateVerdict {
  let limit = '';
  for (let index = 0; index < quotas.length; index++) {
    const { remaining, freesInMs } = counted.states[index] as QuotaState;
    const name = quotas[index]?.name;
    limit += `${index === 0 ? '' : ', '}"${name}";r=${remaining};t=${Math.ceil(freesInMs / 1000)}`;
  }
  return { policy, limit, retryAfterSeconds: waitSeconds(counted) };
}
