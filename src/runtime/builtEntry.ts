import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * File of a program that runs in its own thread.
 * @param name Its path in `src`, without its extension.
 * @returns The file compiled with the caller; when running from TypeScript sources, the file of the last build.
 */
export function builtEntry(name: string): string {
  const beside = fileURLToPath(new URL(`../${name}.js`, import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL(`../../dist/${name}.js`, import.meta.url));
}
