import { type Clock, sleep } from '../../runtime/clock.ts';
import type { EngineAccess } from './access.ts';

/** A ClickHouse server somebody else runs: there is nothing to start, and waiting is all that can be done. */
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
