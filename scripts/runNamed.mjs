import { realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../bin/launch.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Runs the script or command that the first argument names: a script by its path from the root of the checkout, or a
 * command in `node_modules/.bin` by its bare name. The other words are its arguments.
 * @param {string | null} program The Node to run it with, as returned by `neededNode`.
 * @param {readonly string[]} words
 */
export async function runNamed(program, [script, ...words]) {
  const file = script.includes('/') ? script : `node_modules/.bin/${script}`;
  await run(program, realpathSync(path.join(ROOT, file)), words);
}
