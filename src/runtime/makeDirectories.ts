import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a directory and its missing parents, each for its owner alone. Node's own recursive `mkdir` never returns
 * where the system answers ENOENT to every try, as it does below `/proc`.
 * @throws The system's error where a level cannot be made, or where the path names no directory.
 */
export function makeDirectories(path: string): void {
  const missing: string[] = [];
  for (let level = resolve(path); !existsSync(level); level = dirname(level)) missing.unshift(level);
  for (const level of missing) makeLevel(level);
  if (!statSync(path).isDirectory()) throw new Error(`${path} is a file`);
}

function makeLevel(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
