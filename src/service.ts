import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type Accounts, openAccounts } from './accounts/accounts.ts';
import type { DataSource, LiveState } from './api/parts.ts';
import { createApi } from './api/server.ts';
import { type Clock, systemClock } from './clock.ts';
import { Collector } from './collect/collector.ts';
import { Recorder } from './collect/recorder.ts';
import { resumeRecording } from './collect/resume.ts';
import type { Config } from './config.ts';
import type { Logger } from './ops/log.ts';
import type { Metrics } from './ops/metrics.ts';
import { StoreProbe } from './ops/storeProbe.ts';
import { openStore, type Store } from './store/store.ts';

export interface ServiceOptions {
  config: Config;
  log: Logger;
  metrics: Metrics;
  dataSource: DataSource;
  clock?: Clock;
  random?: () => number;
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
 * Puts the parts together and starts them.
 * @throws {StoreUnavailableError} When the store cannot be opened.
 * @throws {ConfigError} When the address cannot be listened on, or a database has no driver.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, log, metrics, dataSource, clock = systemClock, random = Math.random } = options;
  const { dataDir, clickhouseUrl } = config;
  const accounts = await openAccounts({ config, clock, randomBytes, logger: log, metrics });
  const store = await openStore({ dataDir, clickhouseUrl, clock, log, metrics });
  const recorder = new Recorder({ sink: store.writer, clock, log, metrics, timeBy: 'clock' });
  const collector = new Collector({ venues: config.venues, recorder, clock, random, log, metrics });
  const probe = new StoreProbe({ clock, ask: () => store.rows('SELECT 1') });
  const live = liveState({ recorder, clock, probe });
  const api = createApi({ store, accounts: accounts.authenticator, live, clock, log, metrics, dataSource });
  const close = () => closeInOrder({ api, collector, probe, recorder, store, accounts });
  try {
    collector.start(await resumeRecording({ store, recorder, clock, log }));
    await api.listen({ host: config.host, port: config.port });
  } catch (error) {
    await close();
    throw error;
  }
  return { url: addressOf(api, config.host), accounts, close };
}

interface Parts {
  api: FastifyInstance;
  collector: Collector;
  probe: StoreProbe;
  recorder: Recorder;
  store: Store;
  accounts: Accounts;
}

/** From the outside in: no new frames, then no new requests, then what was recorded goes to disk. */
async function closeInOrder({ api, collector, probe, recorder, store, accounts }: Parts): Promise<void> {
  probe.stop();
  await collector.close();
  recorder.close();
  await api.close();
  await store.close();
  await accounts.close();
}

function liveState({
  recorder,
  clock,
  probe,
}: Pick<Parts, 'recorder' | 'probe'> & { clock: Clock }): LiveState {
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
