import { statSync } from 'node:fs';
import type { Config } from '../config.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { counted } from '../runtime/counted.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { createLogger, type Logger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { connectionOf, openTables } from '../store/connection.ts';
import { DiskGuard, readDiskSpace } from '../store/engine/diskGuard.ts';
import { reachEngine } from '../store/engine/engineAccess.ts';
import { type ImportedFiles, importFiles } from '../store/export/importFiles.ts';
import { exportedFilesBelow } from '../store/export/verify.ts';
import { isManifest, manifestPath } from '../store/export/writtenFile.ts';
import { PartitionWriter } from '../store/partitionWriter.ts';
import { makeDataDirectory } from './settings.ts';

/** Rows of any arrival number may be stored already: an import may be repeated. */
const ANY_SEQ = Number.MAX_SAFE_INTEGER;

interface ImportParts {
  readonly config: Config;
  /** False while free space is below the disk reserve. */
  readonly mayInsert: () => boolean;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The files of an export under a path, or null if the path has none: then it is a recording of frames. */
export async function exportsUnder(target: string): Promise<string[] | null> {
  const found = statSync(target, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isDirectory())
    return statSync(manifestPath(target), { throwIfNoEntry: false }) ? [target] : null;
  const paths = await exportedFilesBelow(target);
  const hasManifest = paths.some((path) => statSync(manifestPath(path), { throwIfNoEntry: false }));
  return hasManifest ? paths.filter((path) => !isManifest(path)) : null;
}

/**
 * Imports exported files into the store of a data directory; a server may be running on it.
 * @throws {InvalidInputError} If a file is not as its manifest says, or other rows of the same times are stored.
 * @throws {StoreUnavailableError} While the disk reserve forbids inserts; rows stored before that stay.
 */
export async function importExports(
  config: Config,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ImportedFiles> {
  const { dataDir, diskReserve: reserve } = config;
  makeDataDirectory(dataDir);
  const parts = { clock: systemClock, log: createLogger(config.logLevel), metrics: new Metrics() };
  const readSpace = () => readDiskSpace(dataDir);
  const guard = await DiskGuard.open({ ...parts, readSpace, reserve, journalReserve: null, setMerges: null });
  // A server's disk is another one.
  const problems = () => (config.clickhouseUrl === null ? guard.reasons() : []);
  const full = (what: string, cause?: unknown) =>
    new StoreUnavailableError(`${what}: ${problems().join('; ')}; free space and run the import again`, {
      cause,
    });
  try {
    if (problems().length > 0) throw full('nothing was imported');
    const mayInsert = () => problems().length === 0;
    return await importGuarded(paths, { config, mayInsert, signal, ...parts }).catch((error: unknown) => {
      throw error instanceof StoreUnavailableError && !mayInsert()
        ? full('the import stopped', error)
        : error;
    });
  } finally {
    await guard.stop();
  }
}

async function importGuarded(
  paths: readonly string[],
  { config, mayInsert, signal, clock, log, metrics }: ImportParts,
): Promise<ImportedFiles> {
  const { dataDir } = config;
  const parts = { clock, log };
  const access = await reachEngine({ ...config, ...parts, metrics });
  const client = await openTables({ access, ...parts }, config);
  const store = connectionOf(client, access);
  try {
    const writer = await PartitionWriter.open({
      ...{ ...parts, client, partition: 0, dataDir, mayInsert, metrics },
    });
    writer.mayBeStoredUpTo(ANY_SEQ);
    const onFile = (path: string, rows: number) => console.error(`imported ${path}: ${counted(rows, 'row')}`);
    return await importFiles(paths, { store, writer, onFile, signal });
  } finally {
    await store.close();
  }
}
