import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { connectCluster } from '../bus/nats/connectCluster.ts';
import type { Role } from '../config.ts';
import type { DataSource } from '../http/lifecycle.ts';
import { Readiness } from '../ops/readiness.ts';
import { valuesOfStream } from '../recorder/write/checkpoint.ts';
import { newerRecords } from '../recorder/write/newerRecords.ts';
import { sleep } from '../runtime/clock.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { streamedOpportunities } from '../signals/opportunityPublisher.ts';
import { openServerStore } from '../store/connection.ts';
import { Closers } from './closers.ts';
import { type RunningRole, startCollecting } from './collecting.ts';
import { followRecording } from './following.ts';
import type { NodeOptions } from './nodeOptions.ts';
import { serveStatus } from './serveApi.ts';
import { type Service, serveRecording } from './serveRecording.ts';
import { startWriting } from './writing.ts';

/** The roles that need the newest state of the markets, which they get from the stream. */
const FOLLOWING: readonly Role[] = ['signals', 'paper', 'webhooks', 'backtest', 'api'];
/** Pause before the other roles of a process that collects are started again. */
const RETRY_MS = 5_000;

type Cluster = Awaited<ReturnType<typeof connectCluster>>;
type ProcessOptions = NodeOptions & { readonly dataSource: DataSource };

/** What identifies this process in the stream. */
interface Sender {
  readonly sender: string;
  readonly run: string;
}

/**
 * Starts the roles of one process of a cluster, the collector first: it records into its outbox even while NATS and the
 * store are away, and the other roles of its process are tried until they start.
 * @throws {ConfigError} When the URL of NATS is invalid.
 * @throws {StoreUnavailableError} When a process that does not collect finds no store or no stream.
 */
export async function startClusterProcess(options: ProcessOptions): Promise<Service> {
  const { config, clock, random, log, metrics } = options;
  const { dataDir, natsUrl, stream: limits, roles } = config;
  const own: Sender = { sender: config.nodeName ?? hostname(), run: randomBytes(6).toString('hex') };
  const shared = { dataDir, ...own, clock, log, metrics, random };
  const cluster = await connectCluster({ ...shared, ...limits, url: natsUrl ?? '' });
  const ends = new Closers();
  ends.add(() => cluster.close());
  try {
    const collecting = roles.includes('collect') ? await collect(cluster, own, options) : null;
    if (collecting !== null) ends.add(() => collecting.stop());
    const isAlone = roles.length === 1 && collecting !== null;
    const others = () => startOthers(cluster, own, { ...options, collecting });
    const service = isAlone
      ? await serveStatus(options, readinessOf(cluster, [collecting]))
      : await (collecting === null ? others() : untilStarted(others, options));
    ends.add(() => service.close());
    return { accounts: null, ...service, close: () => ends.close() };
  } catch (error) {
    await ends.close();
    throw error;
  }
}

async function collect({ stream }: Cluster, own: Sender, options: ProcessOptions): Promise<RunningRole> {
  const { config, clock, log } = options;
  const server = { ...config, clickhouseUrl: config.clickhouseUrl ?? '', clock, log };
  const store = await openServerStore({ ...server, expectTables: true });
  const role = await startCollecting({ stream, ...own, store }, options);
  return {
    addChecks: (readiness) => role.addChecks(readiness),
    stop: async () => {
      await role.stop();
      await store.close();
    },
  };
}

/** Starts every role but the collector. */
async function startOthers(
  cluster: Cluster,
  own: Sender,
  options: ProcessOptions & { readonly collecting: RunningRole | null },
): Promise<Pick<Service, 'url' | 'close'> & Partial<Service>> {
  const { config, clock, log, collecting } = options;
  const { stream, election } = cluster;
  const ends = new Closers();
  try {
    await cluster.ready;
    const values = valuesOfStream(cluster.values, stream);
    const store = await openServerStore({ ...config, clickhouseUrl: config.clickhouseUrl ?? '', clock, log });
    ends.add(() => store.close());
    const hidden = await newerRecords(store, stream);
    for (const reason of hidden) log.error({ reason }, 'store.newer_than_stream');
    const writing = config.roles.includes('write')
      ? startWriting({ stream, values, election, store }, options)
      : null;
    if (writing !== null) ends.add(() => writing.stop());
    const roles = [collecting, writing, { addChecks: (to: Readiness) => to.addReasons(() => hidden) }];
    if (!FOLLOWING.some((role) => config.roles.includes(role))) {
      const status = await serveStatus(options, readinessOf(cluster, roles));
      ends.add(() => status.close());
      return { url: status.url, close: () => ends.close() };
    }
    const recording = await followRecording({ stream, values, store }, options);
    ends.add(() => recording.stopReceiving());
    const division = { election, publisher: streamedOpportunities(stream, own) };
    const addChecks = (readiness: Readiness) => checkAll(readiness, cluster, roles);
    const service = await serveRecording(recording, { ...options, division, addChecks });
    ends.add(() => service.close());
    return { ...service, close: () => ends.close() };
  } catch (error) {
    await ends.close();
    throw error;
  }
}

/** Tries a start until it succeeds: the process records meanwhile, and must not end because a server is away. */
async function untilStarted<T>(start: () => Promise<T>, { clock, log }: NodeOptions): Promise<T> {
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      log.error({ err: error, retryMs: RETRY_MS }, 'process.other_roles_wait');
      await sleep(clock, RETRY_MS);
    }
  }
}

type Checked = Pick<RunningRole, 'addChecks'>;

function readinessOf(cluster: Cluster, roles: readonly (Checked | null)[]): Readiness {
  const readiness = new Readiness();
  checkAll(readiness, cluster, roles);
  return readiness;
}

function checkAll(readiness: Readiness, { stream }: Cluster, roles: readonly (Checked | null)[]): void {
  readiness.addReasons(() => stream.reasons());
  for (const role of roles) role?.addChecks(readiness);
}
