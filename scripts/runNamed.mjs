import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../bin/launch.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Runs the script or command that the first argument names: a script by its path, which is relative to the root of the
 * checkout, or a command in `node_modules/.bin` by its bare name. The other words are its arguments. If there is none,
 * prints one line and exits.
 * @param {string | null} program The Node to run it with, as returned by `neededNode`.
 * @param {readonly string[]} words
 */
export async function runNamed(program, [script, ...words]) {
  const isScript = script.includes('/');
  const file = path.resolve(ROOT, isScript ? script : `node_modules/.bin/${script}`);
  if (!existsSync(file)) {
    console.error(`underround: there is no ${file}${isScript ? '' : ': run `npm ci`'}`);
    process.exit(1);
  }
  await run(program, realpathSync(file), words);
}
