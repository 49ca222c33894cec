import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DiskReserve } from '../../config/values.ts';
import { builtEntry } from '../../runtime/builtEntry.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isDiskFull } from '../../runtime/diskFull.ts';
import { ConfigError, StoreUnavailableError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import { makeDurableDirectories } from '../../runtime/makeDirectories.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { freeStartSpace } from '../journal/journalReserve.ts';
import type { EngineAccess, SharedListening } from './access.ts';
import { readDiskSpace, reserveBytes } from './diskGuard.ts';
import { closeDataDirectory, privateName } from './ownerOnly.ts';
import { serverAccess } from './serverAccess.ts';
import { Supervisor } from './supervisor.ts';

/** The engine's own limit is below the guard's, which acts first. It protects the disk between two of the guard's polls. */
const ENGINE_SHARE = 1 / 2;
/** With less free space than this, a start fails before its first answer. */
const BLOCK_BYTES = 512 * 1024;

export interface EngineOptions {
  dataDir: string;
  /** A ClickHouse server; null: the embedded engine. */
  clickhouseUrl: string | null;
  /** Space to keep free on the data directory's disk; null or left out: the default. */
  diskReserve?: DiskReserve | null;
  clock: Clock;
  log: Logger;
  metrics: Metrics;
  /** The built entry of the engine's host. */
  hostEntry?: string;
  /** Where the embedded engine also listens; absent: on its Unix socket alone. */
  listen?: SharedListening;
}

/**
 * Reaches the engine; starts the embedded one. It is separate from `openStore` because a command may begin this before
 * its other modules are loaded: both take about the same time.
 * @throws {ConfigError} When the data directory cannot be created or written to, or belongs to another user.
 * @throws {StoreUnavailableError} When no engine answers, or the disk is full.
 */
export async function reachEngine(options: EngineOptions): Promise<EngineAccess> {
  const {
    clock,
    log,
    metrics,
    dataDir,
    clickhouseUrl,
    listen,
    hostEntry = builtEntry('store/engine/host/main'),
  } = options;
  await makeWritable(dataDir, log);
  if (clickhouseUrl !== null) return serverAccess(clickhouseUrl, clock);
  const { totalBytes } = await readDiskSpace(dataDir);
  const keepFreeBytes = Math.floor(reserveBytes(options.diskReserve ?? null, totalBytes) * ENGINE_SHARE);
  const shared = listen === undefined ? {} : { listen };
  return Supervisor.start({ dataDir, entry: hostEntry, keepFreeBytes, ...shared, clock, log, metrics });
}

/**
 * Reported at once and with the directory's name: the engine would only say, after many tries, that it does not start.
 */
async function makeWritable(dataDir: string, log: Logger): Promise<void> {
  try {
    makeDurableDirectories(dataDir);
    await tryWriting(dataDir).catch(async (error: unknown) => {
      if (!isDiskFull(error) || !(await freeStartSpace(dataDir, log))) throw error;
      await tryWriting(dataDir);
    });
    await closeDataDirectory(dataDir, log);
    privateName(dataDir);
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    if (isDiskFull(cause)) {
      throw new StoreUnavailableError(`the disk of ${dataDir} is full: free space and start again`, {
        cause,
      });
    }
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError(`the data directory ${dataDir} cannot be written to: ${reason}`, { cause });
  }
}

async function tryWriting(dataDir: string): Promise<void> {
  const directory = await mkdtemp(join(dataDir, 'writable-'));
  try {
    await writeFile(join(directory, 'block'), Buffer.alloc(BLOCK_BYTES));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
