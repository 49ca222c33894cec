import { type Clock, sleep } from '../../runtime/clock.ts';
import type { EngineAccess } from './access.ts';
import type { StoreRetry } from './client.ts';

/** Access to a ClickHouse server with its own operator: this process can only wait for it, never start it. */
export function serverAccess(url: string, clock: Clock): EngineAccess {
  return {
    url,
    isServer: true,
    agent: null,
    streamAgent: null,
    hostPid: null,
    whenReady: (limitMs) => sleep(clock, limitMs),
    close: async () => undefined,
  };
}

/** What a start that waits for a server prints; without the whole URL, which may hold a password. */
export function serverWaitLine(url: string, { reason, attempt, attemptsMax }: StoreRetry): string {
  const { host } = new URL(url);
  return `waiting for the ClickHouse server ${host} (${reason}); attempt ${attempt} of ${attemptsMax}, about 6 s in all while connections are refused`;
}
