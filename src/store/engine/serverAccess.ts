import { type Clock, sleep } from '../../runtime/clock.ts';
import type { EngineAccess } from './access.ts';

/** Access to a ClickHouse server with its own operator: this process can only wait for it, never start it. */
export function serverAccess(url: string, clock: Clock): EngineAccess {
  return {
    url,
    agent: null,
    streamAgent: null,
    hostPid: null,
    whenReady: (limitMs) => sleep(clock, limitMs),
    close: async () => undefined,
  };
}
