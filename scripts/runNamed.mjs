import { realpathSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../bin/launch.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Runs what the words name: first a script by its path from the root of the checkout, or by the bare name of a command
 * in `node_modules/.bin`; then its arguments.
 * @param {string | null} program The Node to run it with, as `neededNode` gives it.
 * @param {readonly string[]} words
 */
export async function runNamed(program, [script, ...words]) {
  const file = script.includes('/') ? script : `node_modules/.bin/${script}`;
  await run(program, realpathSync(path.join(ROOT, file)), words);
}
