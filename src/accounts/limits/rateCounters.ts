import { type BoundedCache, boundedCache } from '../../runtime/boundedCache.ts';
import type { Clock } from '../../runtime/clock.ts';
import { AdmittedRequests, type Quota, type QuotaState } from './limitsWindow.ts';

/** A client's state with each of its quotas, after a request was counted or refused. */
export interface Counted {
  /** Milliseconds until a request would be admitted; 0: this one is. */
  readonly waitMs: number;
  /** In the order of the quotas. */
  readonly states: readonly QuotaState[];
}

/**
 * Counts requests of clients in sliding windows. The result is synchronous if this process alone counts, otherwise a
 * promise, which never rejects.
 */
export interface RateCounters {
  /** Counts a request unless it is refused. */
  count(client: string, quotas: readonly Quota[]): Counted | Promise<Counted>;
  /** Counts nothing. */
  peek(client: string, quotas: readonly Quota[]): Counted | Promise<Counted>;
  /** Removes the counted requests of a client. */
  clear(client: string): void | Promise<void>;
}

/** Whole seconds until a request is admitted; 0: now. */
export function waitSeconds({ waitMs }: Counted): number {
  return Math.ceil(waitMs / 1000);
}

/**
 * Counters of one kind of client. Each kind has its own limit of clients that a process remembers, so that strangers
 * displace no user.
 */
export type CounterSource = (kind: string, clientsMax: number) => RateCounters;

/** Counters of this process alone. */
export function memoryCounters(clock: Pick<Clock, 'monotonic'>): CounterSource {
  return (_kind, clientsMax) => new MemoryCounters(clock, clientsMax);
}

/** Remembers the admitted requests of each client; the least recently active client is evicted. */
export class MemoryCounters implements RateCounters {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #clients: BoundedCache<AdmittedRequests>;

  constructor(clock: Pick<Clock, 'monotonic'>, clientsMax: number) {
    this.#clock = clock;
    this.#clients = boundedCache(clientsMax);
  }

  count(client: string, quotas: readonly Quota[]): Counted {
    const nowMs = this.#clock.monotonic();
    const known = this.#clients.get(client);
    const requests = known ?? new AdmittedRequests(quotas);
    if (known) known.setQuotas(quotas);
    else this.#clients.set(client, requests);
    return { waitMs: requests.admit(nowMs), states: statesOf(requests, quotas.length, nowMs) };
  }

  peek(client: string, quotas: readonly Quota[]): Counted {
    const nowMs = this.#clock.monotonic();
    const requests = this.#clients.peek(client) ?? new AdmittedRequests(quotas);
    requests.setQuotas(quotas);
    return { waitMs: requests.peek(nowMs), states: statesOf(requests, quotas.length, nowMs) };
  }

  clear(client: string): void {
    this.#clients.delete(client);
  }
}

function statesOf(requests: AdmittedRequests, quotas: number, nowMs: number): QuotaState[] {
  const states: QuotaState[] = [];
  for (let index = 0; index < quotas; index++) states.push(requests.state(index, nowMs));
  return states;
}
