import { mkdir, mkdtemp, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import type { Logger } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { EngineAccess } from './access.ts';
import { serverAccess } from './serverAccess.ts';
import { defaultHostEntry, Supervisor } from './supervisor.ts';

export interface EngineOptions {
  dataDir: string;
  /** A ClickHouse server; null for the embedded engine. */
  clickhouseUrl: string | null;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** The built entry of the engine's host. */
  hostEntry?: string;
}

/**
 * Reaches the engine, starting the embedded one. Apart from `openStore` because a command may begin this before its
 * other modules are loaded: the two take about the same time.
 * @throws {ConfigError} When the data directory cannot be made or written to.
 * @throws {StoreUnavailableError} When no engine answers.
 */
export async function reachEngine(options: EngineOptions): Promise<EngineAccess> {
  const { clock, log, metrics, dataDir, clickhouseUrl, hostEntry = defaultHostEntry() } = options;
  await makeWritable(dataDir);
  if (clickhouseUrl !== null) return serverAccess(clickhouseUrl, clock);
  return Supervisor.start({ dataDir, entry: hostEntry, clock, log, metrics });
}

/** Told at once and by its name: the engine would only say that it does not start, after many tries. */
async function makeWritable(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await rmdir(await mkdtemp(join(dataDir, 'writable-')));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`the data directory ${dataDir} cannot be written to: ${reason}`, { cause });
  }
}
