import type { Config } from '../config.ts';
import type { DataSource } from '../http/lifecycle.ts';
import type { HistoryState } from '../ops/historyProgress.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { openTracing } from '../runtime/tracing/openTracing.ts';
import { API_VERSION } from '../schema/version.ts';
import type { EngineAccess } from '../store/engine/access.ts';
import { recordHere } from './recordHere.ts';
import type { Service } from './serveRecording.ts';

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

/**
 * Builds the parts and starts them, recording first: the modules that serve requests load while frames already arrive.
 * @throws {StoreUnavailableError} When the store cannot be opened.
 * @throws {ConfigError} When another service runs on the data directory, or a database has no driver.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { clock = systemClock, random = Math.random } = options;
  const { config, log, metrics } = options;
  const stopTracing =
    config.tracing === null
      ? null
      : openTracing(config.tracing, { version: API_VERSION, clock, random, log, metrics });
  try {
    const service = await start({ ...options, clock, random });
    if (stopTracing === null) return service;
    return { ...service, close: () => service.close().finally(stopTracing) };
  } catch (error) {
    await stopTracing?.();
    throw error;
  }
}

async function start(
  options: ServiceOptions & { readonly clock: Clock; readonly random: () => number },
): Promise<Service> {
  const { clock, random } = options;
  if (options.config.natsUrl !== null) {
    const { startClusterProcess } = await import('./clusterProcess.ts');
    return await startClusterProcess({ ...options, clock, random });
  }
  const recording = await recordHere({ ...options, clock, random });
  try {
    const { serveRecording } = await import('./serveRecording.ts');
    return await serveRecording(recording, { ...options, clock, random });
  } catch (error) {
    await recording.stopReceiving();
    await recording.close();
    throw error;
  }
}
