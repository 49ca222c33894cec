/** The API over real HTTP: large streamed bodies, and small requests against bare node:http in the same run. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { type Accounts, openAccounts } from '../src/accounts/accounts.ts';
import { openControlDatabase } from '../src/controlDatabase.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import { openStore, type Store } from '../src/store/store.ts';
import { marketRecord } from '../test/support/api.ts';
import { keyFigures } from './apiKeys.ts';
import { ask, get, type Rig, serve } from './apiRig.ts';
import { small } from './apiSmall.ts';
import type { Figure } from './figure.ts';
import type { ReadResult } from './loadWorker.ts';
import { median } from './quantile.ts';
import { bookSource } from './storeBooks.ts';

const START_MS = Date.UTC(2026, 10, 20, 6);
const SNAPSHOTS = 10_000;
/** Warm-up rounds, not counted: the first answers of a process run code that is not compiled yet. */
const WARM_UP_ROUNDS = 4;
const SNAPSHOT_ROUNDS = 15;

export async function run(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-bench-'));
  const common = { clock: systemClock, metrics: new Metrics() };
  const config = { dataDir, databaseUrl: null, keyEnvironment: 'live' } as const;
  const accounts = await openAccounts({
    ...common,
    database: await openControlDatabase(config),
    config,
    randomBytes,
    logger: silentLogger,
  });
  const store = await openStore({ ...common, dataDir, clickhouseUrl: null, log: silentLogger });
  const worker = new Worker(new URL('./loadWorker.js', import.meta.url));
  try {
    const key = await makeKey(accounts);
    return [
      ...(await snapshots(store, { accounts, key, worker })),
      ...(await small({ accounts, key, worker })),
      ...(await keyFigures()),
    ];
  } finally {
    await worker.terminate();
    await store.close();
    await accounts.close();
    await rm(dataDir, { recursive: true, force: true });
  }
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
  for (let round = 0; round < WARM_UP_ROUNDS + SNAPSHOT_ROUNDS; round++) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const result = await ask<ReadResult>(worker, { kind: 'read', port: server.port, request });
    delay.disable();
    if (round >= WARM_UP_ROUNDS) rounds.push({ ...result, blockMs: delay.max / 1e6 });
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

async function makeKey(accounts: Accounts): Promise<string> {
  const user = await accounts.users.findOrCreate('bench@example.com');
  const { key } = await accounts.keys.create({ userId: user.userId, label: 'bench', environment: 'live' });
  return key;
}
