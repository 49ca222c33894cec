import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { syncDirectoryNow } from './durableFile.ts';

/**
 * Creates a directory and its missing parents, each accessible only to its owner. Node's own recursive `mkdir` never
 * returns where the system answers every try with ENOENT, as below `/proc`.
 * @returns The directories that were missing, the highest first.
 * @throws The system's error where a level cannot be created, or where the path is not a directory.
 */
export function makeDirectories(path: string): readonly string[] {
  const missing: string[] = [];
  for (let level = resolve(path); !existsSync(level); level = dirname(level)) missing.unshift(level);
  for (const level of missing) makeLevel(level);
  if (!statSync(path).isDirectory()) throw new Error(`${path} is a file`);
  return missing;
}

/** As `makeDirectories`; a power loss does not undo it. A synced file is lost with the name of its directory. */
export function makeDurableDirectories(path: string): void {
  for (const made of makeDirectories(path)) {
    try {
      syncDirectoryNow(dirname(made));
    } catch (error) {
      // A parent of someone else's that may be written and not be read cannot be synced.
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    }
  }
}

function makeLevel(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
