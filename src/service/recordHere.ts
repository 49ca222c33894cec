import { Bus } from '../bus/bus.ts';
import { publishingSink } from '../bus/publishingSink.ts';
import { coverLostRows } from '../recorder/lostRows.ts';
import { MarketMemory } from '../recorder/marketMemory.ts';
import { Recorder } from '../recorder/recorder.ts';
import { resumeRecording } from '../recorder/resume.ts';
import { keepRetention, type RetentionKeeper } from '../recorder/retention.ts';
import type { EngineAccess } from '../store/engine/access.ts';
import { openStore, type Store } from '../store/store.ts';
import type { Feeds } from './feeds.ts';
import type { NodeOptions } from './nodeOptions.ts';
import type { RecordingSource } from './recordingSource.ts';

interface RecordingOptions extends NodeOptions {
  /** The engine, when a connection to it is already being opened. */
  readonly engine?: Promise<EngineAccess>;
}

/**
 * Records in this process: the store with its journal, the recorder and the feeds. The engine starts while the feeds'
 * modules load, so a restart interrupts the recording as briefly as possible.
 * @throws {StoreUnavailableError} When the store cannot be opened.
 * @throws {ConfigError} When another service runs on the data directory.
 */
export async function recordHere(options: RecordingOptions): Promise<RecordingSource> {
  const { config, clock, log, metrics } = options;
  const { dataDir, clickhouseUrl, clickhouseCluster, clickhouseStorage, diskReserve } = config;
  const engine = options.engine === undefined ? {} : { engine: options.engine };
  // Rows left by earlier runs are stored after this run records and listens: a long backlog must not delay the start.
  const tables = { clickhouseUrl, clickhouseCluster, clickhouseStorage };
  const storing = { dataDir, ...tables, diskReserve, recovery: 'background' } as const;
  const opening = openStore({ ...storing, clock, log, metrics, ...engine });
  const [store, { openFeeds }] = await Promise.all([opening, import('./feeds.ts')]);
  const bus = new Bus({ log, metrics });
  const sink = publishingSink(store.writer, bus);
  const recorder = new Recorder({ sink, clock, log, metrics, timeBy: 'clock' });
  const memory = new MarketMemory({ recorder, bus, clock });
  const feedsOpening = openFeeds({ ...options, recorder, bus, isDropping: () => store.writer.isDropping });
  try {
    const resuming = resumeRecording({ store, recorder, clock, log });
    const [known, feeds] = await Promise.all([resuming, feedsOpening]);
    feeds.start(known);
    store.parts.onLost((lost) => coverLostRows(lost, { store, recorder, clock, log }));
    const retention = keepRetention({ config, store, recorder, clock, log, metrics });
    return source({ ...options, store, recorder, feeds, retention }, { bus, memory });
  } catch (error) {
    await feedsOpening.then((feeds) => feeds.stop()).catch(() => undefined);
    await store.close();
    throw error;
  }
}

function source(
  parts: RecordingOptions & {
    store: Store;
    recorder: Recorder;
    feeds: Feeds;
    retention: RetentionKeeper | null;
  },
  shared: Pick<RecordingSource, 'bus' | 'memory'>,
): RecordingSource {
  const { store, recorder, feeds, retention } = parts;
  return {
    ...{ ...shared, store, live: recorder, shared: null },
    storeLagMs: () => Math.max(store.writer.lagMs(), feeds.lagMs()),
    stored: () => store.writer.flush(),
    disks: async () => [{ name: 'data', ...store.guard.space }],
    priceSources: () => feeds.collector.priceSources.status(),
    addChecks: (readiness) => {
      readiness.addReasons(() => store.writer.reasons());
      readiness.addReasons(() => store.parts.reasons());
      readiness.addReasons(() => feeds.reasons());
      readiness.addReasons(() => store.guard.reasons());
      readiness.addDegraded(() => feeds.degraded());
    },
    listening: () => void store.writer.startRecovery(),
    stopReceiving: () => feeds.stop(),
    close: async () => {
      await retention?.stop();
      await store.close();
    },
  };
}
