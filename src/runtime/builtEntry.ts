import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * File of a program of ours that runs in a thread of its own.
 * @param name Its path in `src`, without its ending.
 * @returns As built with the caller; from sources that are not built, the last build's.
 */
export function builtEntry(name: string): string {
  const beside = fileURLToPath(new URL(`../${name}.js`, import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL(`../../dist/${name}.js`, import.meta.url));
}
