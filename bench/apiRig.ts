/** The served API and its client thread, for the API benchmarks. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Worker } from 'node:worker_threads';
import type { Accounts } from '../src/accounts/accounts.ts';
import { RateLimits } from '../src/accounts/limits/limits.ts';
import { openSecondFactors } from '../src/accounts/users/secondFactors.ts';
import { DEFAULT_TIERS, type TierTable } from '../src/accounts/users/tiers.ts';
import { createApi } from '../src/api/createApi.ts';
import { JobRepository } from '../src/backtest/jobs.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { createLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import type { StoreReader } from '../src/store/reader.ts';
import { openWebhooks } from '../src/webhooks/delivery/webhooks.ts';
import { FOLLOWED } from '../test/support/followed.ts';
import { stubPaper } from '../test/support/stubPaper.ts';
import type { Load, ReadOnce } from './loadWorker.ts';

export interface Rig {
  readonly accounts: Accounts;
  readonly key: string;
  readonly worker: Worker;
}

/** No webhooks are used here; the key is arbitrary. */
const WEBHOOKS = {
  config: { dataDir: '.', secretKey: '0'.repeat(64), webhookAllowedNetworks: [], ...FOLLOWED },
  sources: { clock: systemClock, randomBytes },
};
/** Rates that no load reaches; requests are still counted. */
const MUCH = { ...DEFAULT_TIERS.premium, requests_per_second: 1_000_000, requests_per_minute: 1_000_000 };
/** One for all runs: each logger waits for the end of the process. */
const LOG = createLogger('info', { fd: openSync('/dev/null', 'w') });
const TIERS: TierTable = { free: MUCH, pro: MUCH, plus: MUCH, premium: MUCH };

/** Serves like `underround serve`, including the access log: its lines are created and written to nowhere. */
export async function serve(store: StoreReader, accounts: Accounts) {
  const app = createApi({
    store,
    accounts: accounts.access,
    control: accounts,
    secondFactors: openSecondFactors(accounts.database, {
      config: { dataDir: '.', secretKey: '0'.repeat(64) },
      ...{ clock: systemClock, randomBytes },
    }),
    tiers: TIERS,
    rateLimits: new RateLimits(systemClock),
    streams: null,
    backtests: {
      jobs: new JobRepository(accounts.database, { clock: systemClock, randomBytes }),
      ...{ submit: async () => null, wait: async () => null, cancel: async () => false },
    },
    paper: stubPaper,
    webhooks: { ...openWebhooks(accounts.database, WEBHOOKS), wake: () => {} },
    signals: {
      board: { read: () => ({ asOfMs: systemClock.now(), opportunities: [] }), outlook: () => null },
      audit: {
        ...{ sums: async () => [], list: async () => [], oldest: async () => [] },
        head: async () => ({ seq: 0, hash: '' }),
      },
    },
    live: {
      latestSnapshotTimeMs: null,
      snapshotsLast5Min: () => 0,
      ready: () => ({ ok: true, reasons: [], degraded: [] }),
      storeLagMs: () => 0,
      followed: {
        markets: () => [],
        market: () => null,
        book: () => null,
        mayLackBooks: () => false,
        knownToMs: Number.POSITIVE_INFINITY,
        gaps: () => [],
      },
    },
    ...{ clock: systemClock, log: LOG, metrics: new Metrics(), dataSource: 'simulated' },
    ...FOLLOWED,
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
}

export function get(path: string, key: string, connection: 'close' | 'keep-alive'): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nConnection: ${connection}\r\n\r\n`;
}

export async function ask<T>(worker: Worker, task: ReadOnce | Load): Promise<T> {
  worker.postMessage(task);
  const [result] = await once(worker, 'message');
  return result as T;
}
