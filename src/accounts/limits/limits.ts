import { LRUCache } from 'lru-cache';
import type { Clock } from '../../runtime/clock.ts';
import type { TierLimits } from '../users/tiers.ts';
import { addressGroup } from './limitsAddress.ts';
import { AdmittedRequests, type Quota } from './limitsWindow.ts';

/** Maximum number of tracked clients; the least recently active one is evicted. */
const MAX_CLIENTS = 50_000;
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

/** Request rates of this process: of each user by tier, and of requests without a known user by address. */
export class RateLimits {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #users = clientsByName();
  readonly #addresses = clientsByName();
  readonly #plans = new WeakMap<TierLimits, Plan>();
  readonly #failed = plan(FAILED);
  readonly #metricsReaders = clientsByName();
  readonly #metrics = plan(METRICS);

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /**
   * Counts a request unless it is refused.
   * @param client Name of the allowance: `keys USER` or `dashboard USER`.
   */
  request(client: string, limits: TierLimits): RateVerdict {
    let quotas = this.#plans.get(limits);
    if (!quotas) {
      quotas = plan(quotasOf(limits));
      this.#plans.set(limits, quotas);
    }
    return this.#count(this.#users, client, quotas);
  }

  /** Counts a refusal (4xx) without a known user. If the address had too many, the refusal becomes a 429. */
  failure(address: string): RateVerdict {
    return this.#count(this.#addresses, addressGroup(address), this.#failed);
  }

  /** Whole seconds until another refusal of the address is sent unchanged; 0: now. Counts nothing. */
  refusalsUsedUp(address: string): number {
    const client = this.#addresses.peek(addressGroup(address));
    return client ? Math.ceil(client.peek(this.#clock.monotonic()) / 1000) : 0;
  }

  /** Counts a metrics request of an address, unless it is refused. */
  metrics(address: string): RateVerdict {
    return this.#count(this.#metricsReaders, addressGroup(address), this.#metrics);
  }

  /** Limit headers of an address for responses sent before any key is checked. Counts nothing. */
  standing(address: string): RateVerdict {
    const nowMs = this.#clock.monotonic();
    const client = this.#addresses.peek(addressGroup(address)) ?? new AdmittedRequests(FAILED);
    return { policy: this.#failed.policy, limit: state(client, this.#failed, nowMs), retryAfterSeconds: 0 };
  }

  #count(clients: Clients, name: string, quotas: Plan): RateVerdict {
    const nowMs = this.#clock.monotonic();
    const known = clients.get(name);
    const client = known ?? new AdmittedRequests(quotas.quotas);
    if (known) known.setQuotas(quotas.quotas);
    else clients.set(name, client);
    const waitMs = client.admit(nowMs);
    return {
      policy: quotas.policy,
      limit: state(client, quotas, nowMs),
      retryAfterSeconds: Math.ceil(waitMs / 1000),
    };
  }
}

type Clients = LRUCache<string, AdmittedRequests>;

function clientsByName(): Clients {
  return new LRUCache({ max: MAX_CLIENTS });
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

function state(client: AdmittedRequests, { quotas }: Plan, nowMs: number): string {
  let text = '';
  for (let index = 0; index < quotas.length; index++) {
    const { remaining, freesInMs } = client.state(index, nowMs);
    const name = quotas[index]?.name;
    text += `${index === 0 ? '' : ', '}"${name}";r=${remaining};t=${Math.ceil(freesInMs / 1000)}`;
  }
  return text;
}
