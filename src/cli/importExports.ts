import { statSync } from 'node:fs';
import type { Config } from '../config.ts';
import { systemClock } from '../runtime/clock.ts';
import { createLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { connectionOf, openTables } from '../store/connection.ts';
import { reachEngine } from '../store/engine/engineAccess.ts';
import { type ImportedFiles, importFiles } from '../store/export/importFiles.ts';
import { exportedFilesBelow } from '../store/export/verify.ts';
import { isManifest, manifestPath } from '../store/export/writtenFile.ts';
import { PartitionWriter } from '../store/partitionWriter.ts';
import { makeDataDirectory } from './settings.ts';

/** Rows of any arrival number may be stored already: an import may be repeated. */
const ANY_SEQ = Number.MAX_SAFE_INTEGER;

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
 */
export async function importExports(
  config: Config,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<ImportedFiles> {
  const { dataDir } = config;
  makeDataDirectory(dataDir);
  const parts = { clock: systemClock, log: createLogger(config.logLevel) };
  const metrics = new Metrics();
  const access = await reachEngine({ ...config, ...parts, metrics });
  const client = await openTables({ access, ...parts }, config);
  const store = connectionOf(client, access);
  try {
    const writer = await PartitionWriter.open({ ...parts, client, partition: 0, dataDir, metrics });
    writer.mayBeStoredUpTo(ANY_SEQ);
    const onFile = (path: string, rows: number) =>
      console.error(`imported ${path}: ${rows.toLocaleString('en-US')} rows`);
    return await importFiles(paths, { store, writer, onFile, signal });
  } finally {
    await store.close();
  }
}
