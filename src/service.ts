import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Accounts } from './accounts/accounts.ts';
import type { DataSource, LiveState } from './api/parts.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Collector } from './collect/collector.ts';
import { Recorder } from './collect/recorder.ts';
import { resumeRecording } from './collect/resume.ts';
import type { Config } from './config.ts';
import type { Logger } from './ops/log.ts';
import type { Metrics } from './ops/metrics.ts';
import { StoreProbe } from './ops/storeProbe.ts';
import type { EngineAccess } from './store/access.ts';
import { openStore, type Store } from './store/store.ts';

export interface ServiceOptions {
  config: Config;
  log: Logger;
  metrics: Metrics;
  dataSource: DataSource;
  clock?: Clock;
  random?: () => number;
  /** The engine where it is being reached already. */
  engine?: Promise<EngineAccess>;
}

/** A running service: everything in one process but the storage engine. */
export interface Service {
  /** Where it accepts requests, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly accounts: Accounts;
  /** Stops feeds, answers what is under way, brings what was recorded into the store. */
  close(): Promise<void>;
}

/**
 * Puts the parts together and starts them, recording first: the engine starts while the feeds' modules load, and the
 * API's load when frames already come, so that a restart costs as little of the recording as it can.
 * @throws {StoreUnavailableError} When the store cannot be opened.
 * @throws {ConfigError} When another service runs on the data directory, or a database has no driver.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, log, metrics, clock = systemClock, random = Math.random } = options;
  const { dataDir, clickhouseUrl } = config;
  const engine = options.engine === undefined ? {} : { engine: options.engine };
  const opening = openStore({ dataDir, clickhouseUrl, clock, log, metrics, ...engine });
  const [store, { Collector }] = await Promise.all([opening, import('./collect/collector.ts')]);
  const recorder = new Recorder({ sink: store.writer, clock, log, metrics, timeBy: 'clock' });
  const collector = new Collector({ venues: config.venues, recorder, clock, random, log, metrics });
  const recording = { store, recorder, collector };
  try {
    collector.start(await resumeRecording({ store, recorder, clock, log }));
    return await serveRecording(recording, { ...options, clock });
  } catch (error) {
    await stopRecording(recording);
    throw error;
  }
}

interface Recording {
  store: Store;
  recorder: Recorder;
  collector: Collector;
}

async function serveRecording(
  recording: Recording,
  { config, log, metrics, clock, dataSource }: ServiceOptions & { clock: Clock },
): Promise<Service> {
  const { store, recorder } = recording;
  const [{ openAccounts }, { createApi }] = await Promise.all([
    import('./accounts/accounts.ts'),
    import('./api/server.ts'),
  ]);
  const accounts = await openAccounts({ config, clock, randomBytes, logger: log, metrics });
  const probe = new StoreProbe({ clock, ask: () => store.rows('SELECT 1') });
  const live = liveState({ recorder, clock, probe });
  const api = createApi({ store, accounts: accounts.authenticator, live, clock, log, metrics, dataSource });
  const stopServing = async () => {
    probe.stop();
    await api.close();
    await accounts.close();
  };
  try {
    await api.listen({ host: config.host, port: config.port });
  } catch (error) {
    await stopServing();
    throw error;
  }
  // No new frames, then what was recorded goes to disk; requests are answered from the store until then.
  const close = async () => {
    await recording.collector.close();
    recorder.close();
    await stopServing();
    await store.close();
  };
  return { url: addressOf(api, config.host), accounts, close };
}

async function stopRecording({ store, recorder, collector }: Recording): Promise<void> {
  await collector.close();
  recorder.close();
  await store.close();
}

function liveState({
  recorder,
  clock,
  probe,
}: {
  recorder: Recorder;
  clock: Clock;
  probe: StoreProbe;
}): LiveState {
  return {
    get latestSnapshotTimeMs() {
      return recorder.recent.latestTimeMs;
    },
    snapshotsLast5Min: () => recorder.recent.count(clock.now()),
    ready: () => {
      const reasons = probe.reasons();
      return { ok: reasons.length === 0, reasons };
    },
    market: (marketId) => recorder.market(marketId),
  };
}

function addressOf(api: FastifyInstance, host: string): string {
  const { port } = api.server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
