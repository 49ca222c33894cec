import { Bus } from '../bus/bus.ts';
import { publishingSink } from '../bus/publishingSink.ts';
import type { Config } from '../config.ts';
import { storeReasons } from '../ops/storeReasons.ts';
import { coverLostRows } from '../recorder/lostRows.ts';
import { MarketMemory } from '../recorder/marketMemory.ts';
import { Recorder } from '../recorder/recorder.ts';
import { resumeRecording } from '../recorder/resume.ts';
import { silentFeeds } from '../recorder/watchdog/silentFeeds.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { EngineAccess } from '../store/engine/access.ts';
import { openStore } from '../store/store.ts';
import { DriftKeeper } from '../venues/drift/driftKeeper.ts';
import { ReceiveThread } from '../venues/receiveThread.ts';
import type { RecordingSource } from './recordingSource.ts';

/**
 * Records in this process: the store with its journal, the recorder and the feeds. The engine starts while the feeds'
 * modules load, so a restart interrupts the recording as briefly as possible.
 * @throws {StoreUnavailableError} When the store cannot be opened.
 * @throws {ConfigError} When another service runs on the data directory.
 */
export async function recordHere(options: {
  config: Config;
  clock: Clock;
  random: () => number;
  log: Logger;
  metrics: Metrics;
  /** The engine, when a connection to it is already being opened. */
  engine?: Promise<EngineAccess>;
}): Promise<RecordingSource> {
  const { config, clock, random, log, metrics } = options;
  const { dataDir, clickhouseUrl, diskReserve } = config;
  const engine = options.engine === undefined ? {} : { engine: options.engine };
  // Rows left by earlier runs are stored after this run records and listens: a long backlog must not delay the start.
  const storing = { dataDir, clickhouseUrl, diskReserve, recovery: 'background' } as const;
  const opening = openStore({ ...storing, clock, log, metrics, ...engine });
  const sockets = new ReceiveThread({ clock, random, log, metrics });
  const [store, { Collector }] = await Promise.all([opening, import('../lifecycle/collector.ts')]);
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
  const stopReceiving = async () => {
    await collector.close();
    await sockets.close();
    recorder.close();
    await drift.close();
  };
  try {
    const resuming = resumeRecording({ store, recorder, clock, log });
    const [known] = await Promise.all([resuming, drift.start()]);
    collector.start(known);
    store.parts.onLost((lost) => coverLostRows(lost, { store, recorder, clock, log }));
  } catch (error) {
    await stopReceiving();
    await store.close();
    throw error;
  }
  return {
    ...{ store, bus, live: recorder, memory, stopReceiving },
    storeLagMs: () => store.writer.lagMs(),
    stored: () => store.writer.flush(),
    priceSources: () => collector.priceSources.status(),
    addChecks: (readiness) => {
      readiness.addReasons(() => storeReasons(store.writer));
      readiness.addReasons(() => store.guard.reasons());
      readiness.addDegraded(() => recorder.lags?.degraded() ?? []);
      readiness.addDegraded(() => silentFeeds(metrics.venueFeeds, clock.now()));
    },
    listening: () => void store.writer.startRecovery(),
    close: () => store.close(),
  };
}

/** Whether any feed uses a WebSocket. */
function hasSockets({ venues, polymarketCredentials }: Config): boolean {
  const { clobWsUrl, rtdsUrl, spotWsUrl, spotFallbackWsUrl } = venues;
  const polyboltUrl = polymarketCredentials && venues.polyboltUrl;
  return [clobWsUrl, rtdsUrl, polyboltUrl, spotWsUrl, spotFallbackWsUrl].some((url) => url !== null);
}
