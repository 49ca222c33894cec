import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { Accounts } from '../accounts/accounts.ts';
import { openRateLimits } from '../accounts/limits/limits.ts';
import { openSecondFactors } from '../accounts/users/secondFactors.ts';
import { loadTiers } from '../accounts/users/tiers.ts';
import { createApi, type LiveState } from '../api/createApi.ts';
import type { DataSource } from '../http/lifecycle.ts';
import { loadTransport } from '../http/transport.ts';
import type { HistoryState } from '../ops/historyProgress.ts';
import { serveMetrics } from '../ops/metricsServer.ts';
import type { Readiness } from '../ops/readiness.ts';
import type { StreamHub } from '../stream/streamHub.ts';
import type { ReadingOptions, ReadingRoles } from './readingRoles.ts';
import type { RecordingSource } from './recordingSource.ts';

/** A listening server. */
interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

interface ApiOptions extends ReadingOptions {
  readonly accounts: Accounts;
  readonly roles: ReadingRoles;
  readonly streams: StreamHub;
  readonly readiness: Readiness;
  readonly dataSource: DataSource;
  readonly history: HistoryState;
}

/** Serves the API and the dashboard, and the metrics where they have an address of their own. */
export async function serveApi(recording: RecordingSource, options: ApiOptions): Promise<Listening> {
  const { config, database, accounts, roles, streams, readiness, history, clock, log, metrics } = options;
  const { rateLimits, close: stopCounting } = openRateLimits(options);
  const api = createApi({
    store: recording.store,
    stored: () => recording.stored(),
    live: liveState(recording, { clock, readiness, history }),
    streams,
    signals: roles.signals,
    webhooks: roles.webhooks,
    backtests: roles.backtests,
    paper: roles.paper,
    clock,
    log,
    metrics,
    dataSource: options.dataSource,
    accounts: accounts.access,
    control: accounts,
    secondFactors: openSecondFactors(database, { config, clock, randomBytes }),
    tickers: config.tickers,
    statusPage: config.statusPage,
    signUpOpen: config.signUpOpen,
    tiers: loadTiers(config.tiersFile),
    transport: loadTransport(config),
    metricsElsewhere: config.metricsAddress !== null,
    rateLimits,
  });
  let metricsServer: Server | null = null;
  const close = async () => {
    metricsServer?.close();
    await api.close();
    stopCounting();
  };
  try {
    if (config.metricsAddress !== null)
      metricsServer = await serveMetrics(config.metricsAddress, { metrics, rateLimits });
    await api.listen({ host: config.host, port: config.port });
  } catch (error) {
    await close();
    throw error;
  }
  return { url: addressOf(api, config.host), close };
}

/** Serves only metrics and probes: of a process without an API. */
export async function serveStatus(
  { config: { host, port }, metrics }: Pick<ReadingOptions, 'config' | 'metrics'>,
  readiness: Readiness,
): Promise<Listening> {
  const server = await serveMetrics(
    { host, port },
    { metrics, rateLimits: null, ready: () => readiness.report() },
  );
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: urlOf('http', host, bound),
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What the API reads of the recording from memory. */
export function liveState(
  {
    live,
    memory,
    storeLagMs,
    priceSources,
    collectors,
  }: Pick<RecordingSource, 'live' | 'memory' | 'storeLagMs' | 'priceSources' | 'collectors'>,
  { clock, readiness, history }: Pick<ApiOptions, 'clock' | 'readiness' | 'history'>,
): LiveState {
  return {
    get latestSnapshotTimeMs() {
      return live.recent.latestTimeMs;
    },
    snapshotsLast5Min: () => live.recent.count(clock.now()),
    ready: () => readiness.report(),
    storeLagMs,
    ...(priceSources && { priceSources }),
    ...(collectors && { collectors }),
    openGaps: () => [...live.markets()].flatMap(({ marketId }) => live.gaps.of(marketId) ?? []),
    history,
    followed: memory,
  };
}

function addressOf(api: FastifyInstance, host: string): string {
  const { port } = api.server.address() as AddressInfo;
  return urlOf(api.server instanceof TlsServer ? 'https' : 'http', host, port);
}

function urlOf(scheme: string, host: string, port: number): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
