/** The data directory of a demo: only a directory that a demo made is emptied. */
import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DEMO_MARKER } from '../runtime/demoMarker.ts';
import { ConfigError } from '../runtime/errors.ts';
import { otherWriter } from '../store/journal/runDirectory.ts';
import type { RunningModules } from './running.ts';

/**
 * Empties the demo's directory. Another run simulates different prices for the same windows, and the two must not mix.
 * @throws {ConfigError} If the directory contains files that no demo created.
 */
export async function freshDirectory(
  dataDir: string,
  { makeDataDirectory }: Pick<RunningModules, 'makeDataDirectory'>,
): Promise<void> {
  const marker = path.join(dataDir, DEMO_MARKER);
  const entries = await readdir(dataDir).catch(() => []);
  if (entries.length > 0 && !existsSync(marker)) {
    throw new ConfigError(
      `${dataDir} is not a demo's directory; set UNDERROUND_DATA_DIR to another, or name one with --data-dir`,
    );
  }
  const owner = await otherWriter(path.join(dataDir, 'journal'), 'main').catch(() => null);
  if (owner !== null) {
    throw new ConfigError(
      `process ${owner} records into ${dataDir}; stop it, or name another with --data-dir`,
    );
  }
  // The mark stays: a demo that is killed here leaves a demo's directory.
  for (const entry of entries.filter((name) => name !== DEMO_MARKER))
    await rm(path.join(dataDir, entry), { recursive: true, force: true });
  makeDataDirectory(dataDir);
  await writeFile(marker, 'Simulated data. The next demo empties this directory.\n');
}
