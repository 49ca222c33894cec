import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { type Accounts, openAccounts } from '../accounts/accounts.ts';
import { openRateLimits } from '../accounts/limits/limits.ts';
import { openSecondFactors } from '../accounts/users/secondFactors.ts';
import { loadTiers } from '../accounts/users/tiers.ts';
import { createApi, type LiveState } from '../api/createApi.ts';
import { startBacktests } from '../backtest/service.ts';
import type { Config } from '../config.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import type { DataSource } from '../http/lifecycle.ts';
import { loadTransport } from '../http/transport.ts';
import { type HistoryState, historyLines } from '../ops/historyProgress.ts';
import { serveMetrics } from '../ops/metricsServer.ts';
import { Readiness } from '../ops/readiness.ts';
import { StoreProbe } from '../ops/storeProbe.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { startSignals } from '../signals/signals.ts';
import { recordedBooks, StreamHub } from '../stream/streamHub.ts';
import { storedRecording } from '../trading/catchUp/recording.ts';
import { startPaper } from '../trading/paper/service.ts';
import { startWebhooks } from '../webhooks/delivery/service.ts';
import type { RecordingSource } from './recordingSource.ts';

/** A running service: everything in one process except the storage engine. */
export interface Service {
  /** The address that accepts requests, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly accounts: Accounts;
  /** Stops feeds, answers requests in flight and writes the recorded data to the store. */
  close(): Promise<void>;
}

interface ServingOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly dataSource: DataSource;
  readonly history?: HistoryState;
}

/** Starts everything that reads the recording, the API last. */
export async function serveRecording(recording: RecordingSource, options: ServingOptions): Promise<Service> {
  const { config, log, metrics, clock, random, dataSource, history = () => null } = options;
  const { store, live, bus } = recording;
  const tiers = loadTiers(config.tiersFile);
  const transport = loadTransport(config);
  const database = await openControlDatabase(config);
  const accounts = await openAccounts({ database, config, clock, randomBytes, logger: log, metrics });
  const probe = new StoreProbe({ clock, ask: () => store.rows('SELECT 1') });
  const readiness = new Readiness();
  readiness.addReasons(() => probe.reasons());
  recording.addChecks(readiness);
  readiness.addDegraded(() => historyLines(history()));
  const secondFactors = openSecondFactors(database, { config, clock, randomBytes });
  const streamed = {
    tickers: config.tickers,
    run: randomBytes(6).toString('hex'),
    bus,
    books: recordedBooks(live),
  };
  const streams = new StreamHub({ ...streamed, liveKeys: accounts.liveKeys, clock, log, metrics });
  // Before the detectors, so that no opportunity is published without a subscriber.
  const common = { config, database, clock, randomBytes, log, metrics };
  const webhooks = await startWebhooks({ ...common, bus, random });
  const bookOf = (marketId: string) => live.recorded(marketId)?.liveBook() ?? null;
  const watched = { markets: () => live.markets(), bookOf };
  const { storeLagMs } = recording;
  const signals = await startSignals({ ...common, ...watched, store, storeLagMs, bus });
  const { stored } = recording;
  const { control: backtests, close: stopBacktests } = await startBacktests({ ...common, store, stored });
  const past = storedRecording(store, { stored });
  const paper = await startPaper({
    ...common,
    recording: past,
    markets: () => live.markets(),
    bus,
    backtests,
  });
  const { rateLimits, close: stopCounting } = openRateLimits(common);
  const api = createApi({
    store,
    live: liveState(recording, { clock, readiness, history }),
    streams,
    signals,
    webhooks,
    backtests,
    paper: paper.paperStrategies,
    clock,
    log,
    metrics,
    dataSource,
    accounts: accounts.access,
    control: accounts,
    secondFactors,
    tickers: config.tickers,
    signUpOpen: config.signUpOpen,
    tiers,
    transport,
    metricsElsewhere: config.metricsAddress !== null,
    rateLimits,
  });
  let metricsServer: Server | null = null;
  const stopServing = async () => {
    probe.stop();
    metricsServer?.close();
    await api.close();
    stopCounting();
    await paper.close();
    await stopBacktests();
    await signals.close();
    await webhooks.close();
    await accounts.close();
  };
  try {
    if (config.metricsAddress !== null)
      metricsServer = await serveMetrics(config.metricsAddress, { metrics, rateLimits });
    await api.listen({ host: config.host, port: config.port });
    recording.listening();
  } catch (error) {
    await stopServing();
    throw error;
  }
  // Stops new frames, then writes the recorded data to disk; the store answers requests until then.
  const close = async () => {
    await recording.stopReceiving();
    await stopServing();
    await recording.close();
  };
  return { url: addressOf(api, config.host), accounts, close };
}

function liveState(
  { live, memory, storeLagMs, priceSources }: RecordingSource,
  { clock, readiness, history }: { clock: Clock; readiness: Readiness; history: HistoryState },
): LiveState {
  return {
    get latestSnapshotTimeMs() {
      return live.recent.latestTimeMs;
    },
    snapshotsLast5Min: () => live.recent.count(clock.now()),
    ready: () => readiness.report(),
    storeLagMs,
    priceSources,
    openGaps: () => [...live.markets()].flatMap(({ marketId }) => live.gaps.of(marketId) ?? []),
    history,
    followed: memory,
  };
}

function addressOf(api: FastifyInstance, host: string): string {
  const { port } = api.server.address() as AddressInfo;
  return `${api.server instanceof TlsServer ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
