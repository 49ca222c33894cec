import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
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
  // The command counts trials in the user's cache.
  const cache = mkdtempSync(join(tmpdir(), 'underround-cache-'));
  try {
    const env = { PATH: process.env.PATH ?? '', XDG_CACHE_HOME: cache, ...environment };
    const running = promisify(execFile)(process.execPath, [COMMAND, ...words], { env, timeout: WAIT_MS_MAX });
    running.child.stdin?.end(input);
    return (await running).stdout;
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
}
