/** The processes of a cluster, and the servers that they share, for a fault run. */
import { randomBytes } from 'node:crypto';
import { freePort } from '../../support/freePort.ts';
import { NatsServer, natsClusterOptions } from '../../support/natsProcess.ts';
import { startPostgres } from '../../support/postgresServer.ts';
import { makeServiceKey } from '../../support/serviceKey.ts';
import type { FaultRig } from './faultRig.ts';
import { ServiceProcess } from './serviceProcess.ts';

const NATS_SERVERS = 3;

/** The roles of each process, by its name. */
export const PROCESSES = {
  collector1: 'collect',
  collector2: 'collect',
  writer1: 'write',
  writer2: 'write',
  detector1: 'signals',
  detector2: 'signals',
  worker: 'paper,webhooks,backtest',
  api1: 'api',
  api2: 'api',
} as const;
export type ProcessName = keyof typeof PROCESSES;

interface ClusterRig {
  readonly nats: readonly NatsServer[];
  readonly store: ServiceProcess;
  process(name: ProcessName): ServiceProcess;
}

/** Starts the servers and every process. @throws {Error} When one does not start. */
export async function startCluster(rig: FaultRig): Promise<ClusterRig> {
  const nats = await startNats(rig);
  const postgres = await startPostgres();
  rig.whenOver(() => postgres.stop());
  const password = randomBytes(12).toString('hex');
  const port = await freePort();
  const store = new ServiceProcess({
    ...{ dataDir: rig.temporaryDirectory(), key: '', words: ['store', '--listen', `127.0.0.1:${port}`] },
    environment: { UNDERROUND_STORE_PASSWORD: password, UNDERROUND_LOG_LEVEL: 'warn' },
  });
  rig.whenOver(() => store.close());
  await started(store, 'the store');
  const key = await makeServiceKey(rig.temporaryDirectory(), postgres.url);
  const environment = {
    UNDERROUND_LOG_LEVEL: 'warn',
    ...rig.venue.urls(),
    NATS_URL: nats.map(({ url }) => url).join(','),
    DATABASE_URL: postgres.url,
    CLICKHOUSE_URL: `http://underround:${password}@127.0.0.1:${port}`,
    UNDERROUND_SECRET_KEY: '5a'.repeat(32),
    UNDERROUND_STREAM_REPLICAS: String(NATS_SERVERS),
  };
  const processes = new Map<string, ServiceProcess>();
  for (const [name, roles] of Object.entries(PROCESSES)) {
    const own = { ...environment, UNDERROUND_NODE: name };
    const words = ['serve', '--roles', roles];
    const process = new ServiceProcess({ dataDir: rig.temporaryDirectory(), environment: own, key, words });
    rig.whenOver(() => process.close());
    await started(process, name);
    processes.set(name, process);
  }
  return { nats, store, process: (name) => processes.get(name) as ServiceProcess };
}

async function startNats(rig: FaultRig): Promise<NatsServer[]> {
  const numbers = Array.from({ length: NATS_SERVERS }, (_, index) => index);
  const routes: string[] = [];
  for (const _ of numbers) routes.push(`nats://127.0.0.1:${await freePort()}`);
  return await Promise.all(
    numbers.map(async (index) => {
      const server = new NatsServer(
        await freePort(),
        rig.temporaryDirectory(),
        natsClusterOptions(routes, index),
      );
      rig.whenOver(() => server.kill());
      await server.start();
      return server;
    }),
  );
}

async function started(process: ServiceProcess, name: string): Promise<void> {
  process.start();
  if (!(await process.whenReady())) throw new Error(`${name} did not start: ${process.log.slice(-2_000)}`);
}
