import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { WAIT_MS_MAX } from './waitLimit.ts';

const ROOT = join(import.meta.dirname, '../..');
const COMMAND = join(ROOT, 'bin/underround.mjs');

/**
 * Tests that start the real command need the build that `npm test` makes. Without it they are skipped with a reason; in
 * CI they fail.
 */
export const commandAbsent = !existsSync(join(ROOT, 'dist/cli/main.js')) && process.env.CI === undefined;

/**
 * Runs the built command in a child process; rejects when its exit status is not 0.
 * @param input Its standard input.
 */
export async function underround(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  input = '',
): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', ...environment };
  const options = { env, timeout: WAIT_MS_MAX };
  const running = promisify(execFile)(process.execPath, [COMMAND, ...words], options);
  running.child.stdin?.end(input);
  return (await running).stdout;
}
