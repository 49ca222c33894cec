import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { connectCluster } from '../bus/nats/connectCluster.ts';
import type { Role } from '../config.ts';
import type { DataSource } from '../http/lifecycle.ts';
import { Readiness } from '../ops/readiness.ts';
import { StoreProbe } from '../ops/storeProbe.ts';
import { streamedOpportunities } from '../signals/opportunityPublisher.ts';
import { openConnection } from '../store/connection.ts';
import { type NodeOptions, type RunningRole, startCollecting } from './collecting.ts';
import { followRecording } from './following.ts';
import { serveStatus } from './serveApi.ts';
import { type Service, serveRecording } from './serveRecording.ts';
import { startWriting } from './writing.ts';

/** The roles that need the newest state of the markets, which they get from the stream. */
const FOLLOWING: readonly Role[] = ['signals', 'paper', 'webhooks', 'backtest', 'api'];

/**
 * Starts the roles of one process of a cluster, the collector first: it records into its outbox even while NATS and the
 * store are away.
 * @throws {ConfigError} When the URL of NATS is invalid.
 * @throws {StoreUnavailableError} When a role other than `collect` finds no store or no stream.
 */
export async function startClusterProcess(
  options: NodeOptions & { readonly dataSource: DataSource },
): Promise<Service> {
  const { config, clock, random, log, metrics } = options;
  const { dataDir, natsUrl, stream: limits } = config;
  const has = (role: Role) => config.roles.includes(role);
  const sender = config.nodeName ?? hostname();
  const run = randomBytes(6).toString('hex');
  const shared = { dataDir, sender, run, clock, log, metrics, random };
  const cluster = await connectCluster({ ...shared, ...limits, url: natsUrl ?? '' });
  const { stream, values, election } = cluster;
  const ends: (() => Promise<void>)[] = [() => cluster.close()];
  const close = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  const running: RunningRole[] = [];
  const begin = (role: RunningRole) => {
    running.push(role);
    ends.push(() => role.stop());
  };
  const addChecks = (readiness: Readiness) => {
    readiness.addReasons(() => stream.reasons());
    for (const role of running) role.addChecks(readiness);
  };
  const server = { ...config, clickhouseUrl: config.clickhouseUrl ?? '', clock, log };
  try {
    if (has('collect')) {
      const store = await openConnection({ ...server, expectTables: true });
      ends.push(() => store.close());
      begin(await startCollecting({ stream, sender, run, store }, options));
    }
    if (!has('write') && !FOLLOWING.some(has)) return await statusOnly(options, { addChecks, close });
    await cluster.ready;
    const store = await openConnection(server);
    ends.push(() => store.close());
    if (has('write')) begin(startWriting({ stream, values, election, client: store.client }, options));
    if (!FOLLOWING.some(has)) {
      const probe = new StoreProbe({ clock, ask: () => store.rows('SELECT 1') });
      ends.push(async () => probe.stop());
      const withStore = (readiness: Readiness) => {
        readiness.addReasons(() => probe.reasons());
        addChecks(readiness);
      };
      return await statusOnly(options, { addChecks: withStore, close });
    }
    const recording = await followRecording({ stream, values, store }, options);
    ends.push(() => recording.stopReceiving());
    const division = { election, publisher: streamedOpportunities(stream, { sender, run }) };
    const service = await serveRecording(recording, { ...options, division, addChecks });
    return {
      ...service,
      close: async () => {
        await service.close();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A process that only collects or writes. */
async function statusOnly(
  options: NodeOptions,
  parts: { addChecks(readiness: Readiness): void; close(): Promise<void> },
): Promise<Service> {
  const readiness = new Readiness();
  parts.addChecks(readiness);
  const serving = await serveStatus(options, readiness);
  return {
    url: serving.url,
    accounts: null,
    close: async () => {
      await serving.close();
      await parts.close();
    },
  };
}
