/** Finds chdb, an optional dependency: a service with its own ClickHouse server never loads it. */
import { readFile } from 'node:fs/promises';

const PACKAGE_FILE = new URL('../../../package.json', import.meta.url);

/** Why the embedded engine cannot be used, with the next step; empty where its library is installed. Loads nothing. */
export async function engineLibraryProblem(): Promise<string[]> {
  const library = await import('chdb/libchdb').then(
    // Finds the library file of this platform.
    ({ tryResolveLibchdb }) => tryResolveLibchdb(),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
      return undefined;
    },
  );
  if (library !== undefined) return [];
  const { optionalDependencies } = JSON.parse(await readFile(PACKAGE_FILE, 'utf8'));
  return [
    `the embedded engine is not installed: run \`npm install chdb@${optionalDependencies.chdb}\` (Linux with glibc or macOS, x64 or arm64) or, except for the demo, set CLICKHOUSE_URL`,
  ];
}
