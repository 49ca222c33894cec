/** The servers and processes of the scaling benchmark, and their cleanup. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { openAccounts } from '../src/accounts/accounts.ts';
import { issueKey } from '../src/accounts/keys/keys.ts';
import { openControlDatabase } from '../src/controlDatabase.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import type { StoreClient } from '../src/store/engine/client.ts';
import { ServiceProcess } from '../test/crash/faults/serviceProcess.ts';
import { freePort } from '../test/support/freePort.ts';
import { NatsServer } from '../test/support/natsProcess.ts';
import { startPostgres } from '../test/support/postgresServer.ts';
import { engineClient } from './storedReceipts.ts';
import type { VenueReport, VenueThreadOptions } from './venueThread.ts';
import { answerOf } from './workerAnswer.ts';

const SECRET_KEY = '5a'.repeat(32);

/** What every process of a cluster shares, except NATS: each measurement has a stream of its own. */
export interface SharedServers {
  readonly store: ServiceProcess;
  readonly client: StoreClient;
  readonly databaseUrl: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Ends all that it started when its work is done, the newest first. */
export class ScalingRig {
  readonly #undo: (() => unknown)[] = [];

  static async with<T>(work: (rig: ScalingRig) => Promise<T>): Promise<T> {
    const rig = new ScalingRig();
    try {
      return await work(rig);
    } finally {
      for (const undo of rig.#undo.toReversed()) await undo();
    }
  }

  whenOver(undo: () => unknown): void {
    this.#undo.push(undo);
  }

  async directory(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), 'underround-scaling-'));
    this.whenOver(() => rm(path, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 }));
    return path;
  }

  async startNats(): Promise<NatsServer> {
    const server = new NatsServer(await freePort(), await this.directory(), []);
    this.whenOver(() => server.kill());
    await server.start();
    return server;
  }

  async startProcess(
    name: string,
    words: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<ServiceProcess> {
    const own = { UNDERROUND_LOG_LEVEL: 'warn', UNDERROUND_NODE: name, ...environment };
    const dataDir = await this.directory();
    const process = new ServiceProcess({ dataDir, environment: own, key: '', words });
    this.whenOver(() => process.close());
    process.start();
    if (!(await process.whenReady())) throw new Error(`${name} did not start: ${process.log.slice(-2_000)}`);
    return process;
  }

  async startServers(): Promise<SharedServers> {
    const postgres = await startPostgres();
    this.whenOver(() => postgres.stop());
    const password = randomBytes(12).toString('hex');
    const port = await freePort();
    const store = await this.startProcess('store', ['store', '--listen', `127.0.0.1:${port}`], {
      UNDERROUND_STORE_PASSWORD: password,
    });
    const client = engineClient(store.dataDir);
    this.whenOver(() => client.close());
    const environment = {
      DATABASE_URL: postgres.url,
      CLICKHOUSE_URL: `http://underround:${password}@127.0.0.1:${port}`,
      UNDERROUND_SECRET_KEY: SECRET_KEY,
    };
    return { store, client, databaseUrl: postgres.url, environment };
  }

  /** Stand-in venues in a thread of their own. */
  async startVenues(options: VenueThreadOptions): Promise<Venues> {
    const worker = this.startThread('venueThread', options);
    const [urls] = (await once(worker, 'message')) as [Record<string, string>];
    return { urls, report: () => answerOf<VenueReport>(worker, null) };
  }

  /** @param name Of a module of this folder. */
  startThread(name: string, workerData: unknown = null): Worker {
    const worker = new Worker(new URL(`./${name}.js`, import.meta.url), { workerData });
    this.whenOver(() => worker.terminate());
    return worker;
  }
}

export interface Venues {
  readonly urls: Readonly<Record<string, string>>;
  report(): Promise<VenueReport>;
}

/** Keys of as many users of the highest tier. */
export async function makeKeys(
  count: number,
  { dataDir, databaseUrl }: { dataDir: string; databaseUrl: string | null },
): Promise<string[]> {
  const config = { dataDir, databaseUrl, keyEnvironment: 'live' } as const;
  const sources = { clock: systemClock, randomBytes };
  const database = await openControlDatabase(config);
  const parts = { database, config, ...sources, logger: silentLogger, metrics: new Metrics() };
  const accounts = await openAccounts(parts);
  const keys: string[] = [];
  for (let index = 0; index < count; index++) {
    const user = { email: `user${index}@example.com`, tier: 'premium', label: 'bench' } as const;
    keys.push((await issueKey(accounts.database, sources, { ...user, environment: 'live' })).key);
  }
  await accounts.close();
  return keys;
}

/** What the record stream of a server has on disk. */
export async function streamSize({ url }: NatsServer): Promise<{ bytes: number; messages: number }> {
  const connection = await connect({ servers: url });
  const manager = await jetstreamManager(connection);
  const { bytes, messages } = (await manager.streams.info('underround')).state;
  await connection.close();
  return { bytes, messages };
}
