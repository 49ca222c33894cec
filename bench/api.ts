/** The API over real HTTP: large streamed bodies, and small requests against bare node:http in the same run. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { type Accounts, openAccounts } from '../src/accounts/accounts.ts';
import { createApi } from '../src/api/server.ts';
import { systemClock } from '../src/clock.ts';
import { silentLogger } from '../src/ops/log.ts';
import { Metrics } from '../src/ops/metrics.ts';
import type { StoreReader } from '../src/store/reader.ts';
import { openStore, type Store } from '../src/store/store.ts';
import { marketRecord } from '../test/support/api.ts';
import type { Figure } from './figure.ts';
import type { Load, ReadOnce, ReadResult } from './loadWorker.ts';
import { bookSource } from './storeBooks.ts';

const START_MS = Date.UTC(2026, 10, 20, 6);
const SNAPSHOTS = 10_000;
const SNAPSHOT_ROUNDS = 9;
const LOAD_MS = 1_500;
const LOAD_ROUNDS = 3;
const CONNECTIONS = 32;

export async function run(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-bench-'));
  const common = { clock: systemClock, metrics: new Metrics() };
  const config = { dataDir, databaseUrl: null, keyEnvironment: 'live' } as const;
  const accounts = await openAccounts({ ...common, config, randomBytes, logger: silentLogger });
  const store = await openStore({ ...common, dataDir, clickhouseUrl: null, log: silentLogger });
  const worker = new Worker(new URL('./loadWorker.js', import.meta.url));
  try {
    const key = await makeKey(accounts);
    return [
      ...(await snapshots(store, { accounts, key, worker })),
      ...(await small({ accounts, key, worker })),
    ];
  } finally {
    await worker.terminate();
    await store.close();
    await accounts.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Rig {
  readonly accounts: Accounts;
  readonly key: string;
  readonly worker: Worker;
}

async function serve(store: StoreReader, accounts: Accounts) {
  const app = createApi({
    store,
    accounts: accounts.authenticator,
    live: {
      latestSnapshotTimeMs: null,
      snapshotsLast5Min: () => 0,
      ready: () => ({ ok: true, reasons: [] }),
    },
    ...{ clock: systemClock, log: silentLogger, metrics: new Metrics(), dataSource: 'simulated' },
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
}

function get(path: string, key: string, connection: 'close' | 'keep-alive'): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nConnection: ${connection}\r\n\r\n`;
}

async function ask<T>(worker: Worker, task: ReadOnce | Load): Promise<T> {
  worker.postMessage(task);
  const [result] = await once(worker, 'message');
  return result as T;
}

async function snapshots(store: Store, { accounts, key, worker }: Rig): Promise<Figure[]> {
  const source = bookSource({ markets: 1, levels: 20, seed: 2 });
  const marketId = source.marketIds[0] as string;
  store.writer.market({ ...marketRecord({ marketId }), seq: 1 });
  for (let seq = 1; seq <= SNAPSHOTS; seq++) store.writer.book(source.next(seq, START_MS + seq * 40));
  await store.writer.flush();
  const server = await serve(store, accounts);
  const request = get(`/v1/snapshots?market_id=${marketId}&limit=${SNAPSHOTS}`, key, 'close');
  const rounds: (ReadResult & { blockMs: number })[] = [];
  for (let round = 0; round < SNAPSHOT_ROUNDS; round++) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const result = await ask<ReadResult>(worker, { kind: 'read', port: server.port, request });
    delay.disable();
    rounds.push({ ...result, blockMs: delay.max / 1e6 });
  }
  await server.close();
  const of = (value: (round: (typeof rounds)[number]) => number) => median(rounds.map(value));
  const name = '/v1/snapshots, 10,000 of 20 levels a side';
  return [
    { name, value: of((round) => round.bytes / 1e3 / round.totalMs), unit: 'MB/s', goal: '>= 250' },
    { name: `${name}: first byte`, value: of((round) => round.firstByteMs), unit: 'ms', goal: '< 50' },
    { name: `${name}: event-loop block`, value: of((round) => round.blockMs), unit: 'ms', goal: '< 20' },
  ];
}

/** A row as the engine would give it, so that the HTTP service is measured and not the engine. */
const rowStore: StoreReader = {
  rows: async <T>() => [ROW] as T[],
  stream: () => Promise.reject(new Error('not asked for here')),
};
const ROW = {
  market_id: '0xaa',
  slug: 'btc-updown-5m-1795176000',
  end_time: '2026-11-20T12:05:00.000+00:00',
};
const SMALL =
  '/v1/markets?ticker=BTC&event_type=5m&status=resolved&since=2026-11-20T12:00:00Z&until=2026-11-20T13:00:00%2B00:00&limit=10';

async function small({ accounts, key, worker }: Rig): Promise<Figure[]> {
  const server = await serve(rowStore, accounts);
  const bare = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ markets: [ROW], count: 1, next_cursor: null }));
  });
  await listen(bare);
  const ports = { ours: server.port, bare: (bare.address() as AddressInfo).port };
  const rates = { ours: [] as number[], bare: [] as number[] };
  // In turns, so that whatever else the machine does hits both.
  for (let round = 0; round < LOAD_ROUNDS; round++) {
    for (const which of ['bare', 'ours'] as const) {
      const request = get(SMALL, key, 'keep-alive');
      rates[which].push(
        await ask<number>(worker, {
          kind: 'load',
          port: ports[which],
          request,
          connections: CONNECTIONS,
          forMs: LOAD_MS,
        }),
      );
    }
  }
  await server.close();
  bare.close();
  const [ours, plain] = [median(rates.ours), median(rates.bare)];
  return [
    { name: 'small authenticated request, 6 parameters', value: ours, unit: 'requests/s' },
    { name: 'bare node:http, same body', value: plain, unit: 'requests/s' },
    { name: 'small request against bare node:http', value: (100 * ours) / plain, unit: '%', goal: '>= 60' },
  ];
}

async function listen(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

async function makeKey(accounts: Accounts): Promise<string> {
  const user = await accounts.users.findOrCreate('bench@example.com');
  const { key } = await accounts.keys.create({ userId: user.userId, label: 'bench', environment: 'live' });
  return key;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}
