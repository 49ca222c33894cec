import { type CounterSource, memoryCounters } from '../../src/accounts/limits/rateCounters.ts';
import type { Clock } from '../../src/runtime/clock.ts';

/** Counters whose results are promises, like those of a database. */
export function lateCounters(clock: Pick<Clock, 'monotonic'>): CounterSource {
  const source = memoryCounters(clock);
  return (kind, clientsMax) => {
    const counters = source(kind, clientsMax);
    return {
      count: async (client, quotas) => counters.count(client, quotas),
      peek: async (client, quotas) => counters.peek(client, quotas),
      clear: async (client) => counters.clear(client),
    };
  };
}
