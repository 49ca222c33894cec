import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { Accounts } from './accounts/accounts.ts';
import type { LiveState } from './api/createApi.ts';
import { Bus } from './bus/bus.ts';
import { publishingSink } from './bus/publishingSink.ts';
import type { Config } from './config.ts';
import type { DataSource } from './http/lifecycle.ts';
import type { Collector } from './lifecycle/collector.ts';
import { type HistoryState, historyLines } from './ops/historyProgress.ts';
import { serveMetrics } from './ops/metricsServer.ts';
import { Readiness } from './ops/readiness.ts';
import { StoreProbe } from './ops/storeProbe.ts';
import { storeReasons } from './ops/storeReasons.ts';
import { coverLostRows } from './recorder/lostRows.ts';
import { MarketMemory } from './recorder/marketMemory.ts';
import { Recorder } from './recorder/recorder.ts';
import { resumeRecording } from './recorder/resume.ts';
import { silentFeeds } from './recorder/watchdog/silentFeeds.ts';
import { type Clock, systemClock } from './runtime/clock.ts';
import type { Logger } from './runtime/log.ts';
import type { Metrics } from './runtime/metrics.ts';
import type { EngineAccess } from './store/engine/access.ts';
import { openStore, type Store } from './store/store.ts';
import { DriftKeeper } from './venues/drift/driftKeeper.ts';
import { ReceiveThread } from './venues/receiveThread.ts';

interface ServiceOptions {
  config: Config;
  log: Logger;
  metrics: Metrics;
  dataSource: DataSource;
  clock?: Clock;
  random?: () => number;
  /** The engine, when a connection to it is already being opened. */
  engine?: Promise<EngineAccess>;
  /** Progress of a history that another writer records into the same store. */
  history?: HistoryState;
}

/** A running service: everything in one process except the storage engine. */
export interface Service {
  /** The address that accepts requests, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly accounts: Accounts;
  /** Stops feeds, answers requests in flight and writes the recorded data to the store. */
  close(): Promise<void>;
}

/**
 * Builds the parts and starts them, recording first: the engine starts while the feeds' modules load, and the API's
 * modules load while frames already arrive. So a restart interrupts the recording as briefly as possible.
 * @throws {StoreUnavailableError} When the store cannot be opened.
 * @throws {ConfigError} When another service runs on the data directory, or a database has no driver.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, log, metrics, clock = systemClock, random = Math.random } = options;
  const { dataDir, clickhouseUrl, clickhouseCluster, clickhouseStorage, diskReserve } = config;
  const tables = { clickhouseUrl, clickhouseCluster, clickhouseStorage };
  const engine = options.engine === undefined ? {} : { engine: options.engine };
  // Rows left by earlier runs are stored after this run records and listens: a long backlog must not delay the start.
  const storing = { dataDir, ...tables, diskReserve, recovery: 'background' } as const;
  const opening = openStore({ ...storing, clock, log, metrics, ...engine });
  const sockets = new ReceiveThread({ clock, random, log, metrics });
  const [store, { Collector }] = await Promise.all([opening, import('./lifecycle/collector.ts')]);
  // Loads while the recording of earlier runs is read.
  if (hasSockets(config)) sockets.start();
  const bus = new Bus({ log, metrics });
  const sink = publishingSink(store.writer, bus);
  const recorder = new Recorder({ sink, clock, log, metrics, timeBy: 'clock' });
  const isDropping = () => store.writer.isDropping;
  const { venues, tickers, polymarketCredentials: credentials } = config;
  const feeds = { venues, tickers, credentials, sockets, recorder, isDropping };
  const collector = new Collector({ ...feeds, clock, random, log, metrics });
  const memory = new MarketMemory({ recorder, bus });
  const drift = new DriftKeeper({ dataDir, clock, log, metrics });
  const recording = { store, recorder, sockets, collector, bus, memory, drift };
  try {
    const resuming = resumeRecording({ store, recorder, clock, log });
    const [known] = await Promise.all([resuming, drift.start()]);
    collector.start(known);
    store.parts.onLost((lost) => coverLostRows(lost, { store, recorder, clock, log }));
    return await serveRecording(recording, { ...options, clock });
  } catch (error) {
    await stopRecording(recording);
    throw error;
  }
}

interface Recording {
  store: Store;
  recorder: Recorder;
  sockets: ReceiveThread;
  collector: Collector;
  bus: Bus;
  memory: MarketMemory;
  drift: DriftKeeper;
}

type ServingOptions = ServiceOptions & { readonly clock: Clock };

async function serveRecording(recording: Recording, options: ServingOptions): Promise<Service> {
  const { config, log, metrics, clock, random = Math.random, dataSource, history = () => null } = options;
  const { store, recorder, collector, bus, memory } = recording;
  const [
    { openControlDatabase },
    { openAccounts },
    { RateLimits },
    { loadTiers },
    { createApi },
    { loadTransport },
    streaming,
    { startSignals },
    { startWebhooks },
    { startBacktests },
    { startPaper },
    { storedRecording },
    { openSecondFactors },
  ] = await loadServing();
  const tiers = loadTiers(config.tiersFile);
  const transport = loadTransport(config);
  const database = await openControlDatabase(config);
  const accounts = await openAccounts({ database, config, clock, randomBytes, logger: log, metrics });
  const probe = new StoreProbe({ clock, ask: () => store.rows('SELECT 1') });
  const readiness = serviceReadiness({ recorder, store, probe, clock, metrics, history });
  const live = liveState({ recorder, collector, store, clock, readiness, memory, history });
  const secondFactors = openSecondFactors(database, { config, clock, randomBytes });
  const books = streaming.recordedBooks(recorder);
  const streamed = { tickers: config.tickers, run: randomBytes(6).toString('hex'), bus, books };
  const streams = new streaming.StreamHub({ ...streamed, liveKeys: accounts.liveKeys, clock, log, metrics });
  // Before the detectors, so that no opportunity is published without a subscriber.
  const common = { config, database, clock, randomBytes, log, metrics };
  const webhooks = await startWebhooks({ ...common, bus, random });
  const bookOf = (marketId: string) => recorder.recorded(marketId)?.liveBook() ?? null;
  const watched = { markets: () => recorder.markets(), bookOf };
  const { storeLagMs } = live;
  const signals = await startSignals({ ...watched, database, store, storeLagMs, bus, clock, log, metrics });
  const stored = () => store.writer.flush();
  const backtests = await startBacktests({ ...common, store, stored });
  const trading = { recording: storedRecording(store), markets: () => recorder.markets(), bus, backtests };
  const paper = await startPaper({ ...common, ...trading });
  const rateLimits = config.rateLimits ? new RateLimits(clock) : null;
  const api = createApi({
    store,
    live,
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
    await paper.close();
    await backtests.close();
    await signals.close();
    await webhooks.close();
    await accounts.close();
  };
  try {
    if (config.metricsAddress !== null)
      metricsServer = await serveMetrics(config.metricsAddress, { metrics, rateLimits });
    await api.listen({ host: config.host, port: config.port });
    void store.writer.startRecovery();
  } catch (error) {
    await stopServing();
    throw error;
  }
  // Stops new frames, then writes the recorded data to disk; the store answers requests until then.
  const close = async () => {
    await stopFeeds(recording);
    await stopServing();
    await store.close();
  };
  return { url: addressOf(api, config.host), accounts, close };
}

/** Loads the modules that serve requests; called once frames are being recorded. */
function loadServing() {
  return Promise.all([
    import('./controlDatabase.ts'),
    import('./accounts/accounts.ts'),
    import('./accounts/limits/limits.ts'),
    import('./accounts/users/tiers.ts'),
    import('./api/createApi.ts'),
    import('./http/transport.ts'),
    import('./stream/streamHub.ts'),
    import('./signals/signals.ts'),
    import('./webhooks/delivery/service.ts'),
    import('./backtest/service.ts'),
    import('./trading/paper/service.ts'),
    import('./trading/catchUp/recording.ts'),
    import('./accounts/users/secondFactors.ts'),
  ]);
}

/** Whether any feed uses a WebSocket. */
function hasSockets({ venues, polymarketCredentials }: Config): boolean {
  const { clobWsUrl, rtdsUrl, spotWsUrl, spotFallbackWsUrl } = venues;
  const polyboltUrl = polymarketCredentials && venues.polyboltUrl;
  return [clobWsUrl, rtdsUrl, polyboltUrl, spotWsUrl, spotFallbackWsUrl].some((url) => url !== null);
}

async function stopRecording(recording: Recording): Promise<void> {
  await stopFeeds(recording);
  await recording.store.close();
}

async function stopFeeds({ recorder, sockets, collector, drift }: Recording): Promise<void> {
  await collector.close();
  await sockets.close();
  recorder.close();
  await drift.close();
}

/** Reports the reasons why this service is not ready, and the feeds that are late or silent. */
function serviceReadiness({
  recorder,
  store,
  probe,
  clock,
  metrics,
  history,
}: Pick<Recording, 'recorder' | 'store'> & {
  probe: StoreProbe;
  clock: Clock;
  metrics: Metrics;
  history: HistoryState;
}): Readiness {
  const readiness = new Readiness();
  readiness.addReasons(() => probe.reasons());
  readiness.addReasons(() => storeReasons(store.writer));
  readiness.addReasons(() => store.guard.reasons());
  readiness.addDegraded(() => recorder.lags?.degraded() ?? []);
  readiness.addDegraded(() => historyLines(history()));
  readiness.addDegraded(() => silentFeeds(metrics.venueFeeds, clock.now()));
  return readiness;
}

function liveState({
  recorder,
  collector,
  store,
  clock,
  readiness,
  memory,
  history,
}: {
  recorder: Recorder;
  collector: Collector;
  store: Store;
  clock: Clock;
  readiness: Readiness;
  memory: MarketMemory;
  history: HistoryState;
}): LiveState {
  return {
    get latestSnapshotTimeMs() {
      return recorder.recent.latestTimeMs;
    },
    snapshotsLast5Min: () => recorder.recent.count(clock.now()),
    ready: () => readiness.report(),
    storeLagMs: () => store.writer.lagMs(),
    priceSources: () => collector.priceSources.status(),
    openGaps: () => [...recorder.markets()].flatMap(({ marketId }) => recorder.gaps.of(marketId) ?? []),
    history,
    followed: memory,
  };
}

function addressOf(api: FastifyInstance, host: string): string {
  const { port } = api.server.address() as AddressInfo;
  return `${api.server instanceof TlsServer ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
