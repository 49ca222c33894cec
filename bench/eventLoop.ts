/**
 * How long the costliest request of each kind within the size limits blocks the event loop. The feeds' receive times
 * are stamped in the same thread, so no request may block it for more than 50 ms.
 */
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
import type { StoreReader } from '../src/store/reader.ts';
import { ask, serve } from './apiRig.ts';
import { BODIES, QUERIES } from './eventLoopCases.ts';
import type { Figure } from './figure.ts';
import type { ReadResult } from './loadWorker.ts';

const ROUNDS = 9;
/** The first requests run code that is not compiled yet. */
const WARM_UP_ROUNDS = 4;
/** The sampling shows this delay on an idle loop. */
const RESOLUTION_MS = 1;
const GOAL = '< 50';

const unaskedStore: StoreReader = {
  rows: () => Promise.reject(new Error('not asked for here')),
  stream: () => Promise.reject(new Error('not asked for here')),
};

export async function run(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-bench-'));
  const config = { dataDir, databaseUrl: null, keyEnvironment: 'live' } as const;
  const common = { clock: systemClock, metrics: new Metrics(), logger: silentLogger };
  const accounts = await openAccounts({
    ...common,
    database: await openControlDatabase(config),
    config,
    randomBytes,
  });
  const server = await serve(unaskedStore, accounts);
  const worker = new Worker(new URL('./loadWorker.js', import.meta.url));
  const figures: Figure[] = [];
  try {
    const key = await premiumKey(accounts);
    for (const [name, path, body] of BODIES) {
      const value = await longestBlock(worker, server.port, post(path, key, body));
      figures.push({ name: `${path}: ${name}`, value, unit: 'ms', goal: GOAL });
    }
    for (const [name, path] of QUERIES) {
      const value = await longestBlock(worker, server.port, read(path, key));
      figures.push({ name, value, unit: 'ms', goal: GOAL });
    }
    return figures;
  } finally {
    await worker.terminate();
    await server.close();
    await accounts.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The shortest block of several rounds, in milliseconds: other load on the machine only ever lengthens one. */
async function longestBlock(worker: Worker, port: number, request: string): Promise<number> {
  const blocks: number[] = [];
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
    const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    delay.enable();
    await ask<ReadResult>(worker, { kind: 'read', port, request });
    delay.disable();
    if (round >= WARM_UP_ROUNDS) blocks.push(delay.max / 1e6);
  }
  return Math.min(...blocks);
}

function post(path: string, key: string, body: string): string {
  const length = Buffer.byteLength(body);
  return `POST ${path} HTTP/1.1\r\n${head(key)}Content-Length: ${length}\r\n\r\n${body}`;
}

function read(path: string, key: string): string {
  return `GET ${path} HTTP/1.1\r\n${head(key)}\r\n`;
}

function head(key: string): string {
  return `Host: localhost\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n`;
}

async function premiumKey(accounts: Accounts): Promise<string> {
  const user = await accounts.users.findOrCreate('bench@example.com');
  const { key } = await accounts.keys.create({ userId: user.userId, label: 'bench', environment: 'live' });
  return key;
}
