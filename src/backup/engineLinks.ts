import type { Dirent } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** A symbolic link of a data directory, by its path in it. */
interface EngineLink {
  readonly path: string;
  readonly target: string;
}

/** The engine's links from names to databases and tables. */
export async function engineLinks(dataDir: string): Promise<EngineLink[]> {
  const found = ['metadata', 'data'].map((folder) => linksBelow(join(dataDir, 'engine', folder)));
  const paths = (await Promise.all(found)).flat();
  return await Promise.all(
    paths.map(async (path) => ({ path: relative(dataDir, path), target: await readlink(path) })),
  );
}

/** Does not go through links: behind them are the tables, where the engine removes unfinished parts at any time. */
async function linksBelow(directory: string): Promise<string[]> {
  const entries: Dirent[] = await readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  const found = entries.map(async (entry) => {
    const path = join(directory, entry.name);
    if (entry.isSymbolicLink()) return [path];
    return entry.isDirectory() ? await linksBelow(path) : [];
  });
  return (await Promise.all(found)).flat();
}
