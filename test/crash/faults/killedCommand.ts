/** A command of this project that a fault run starts and may kill. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { systemClock as clock } from '../../../src/runtime/clock.ts';

const COMMAND = join(process.cwd(), 'bin/underround.mjs');

interface EndedCommand {
  readonly ok: boolean;
  readonly durationMs: number;
}

/** @param moment The command is killed when this resolves; null: never. */
export async function runCommand(
  words: readonly string[],
  moment: ((ended: Promise<unknown>) => Promise<unknown>) | null,
): Promise<EndedCommand> {
  const startedMs = clock.monotonic();
  const environment = { PATH: process.env.PATH ?? '', UNDERROUND_DISK_RESERVE: '16MiB' };
  const child = spawn(process.execPath, [COMMAND, ...words], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  if (moment !== null) {
    await Promise.race([moment(ended), ended]);
    child.kill('SIGKILL');
  }
  const code = await ended;
  return { ok: code === 0, durationMs: clock.monotonic() - startedMs };
}
