/** Which process holds a data directory's embedded engine. The engine locks its file `status` and writes its process id into it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive } from '../../runtime/processIdentity.ts';

/** An argument of every engine host: distinguishes it from a later process with the same id. */
const HOST_ARGUMENT = '--socket';

/** Process id of the living engine host whose lock another host meets; null where none is known. */
export async function engineHolder(dataDir: string): Promise<number | null> {
  const status = await readFile(join(dataDir, 'engine', 'status'), 'utf8').catch(() => '');
  const pid = Number(/^PID: (\d+)$/m.exec(status)?.[1]);
  return pid > 0 && isAlive(pid) && (await mayBeHost(pid)) ? pid : null;
}

/** What to do about an engine that holds the lock and does not answer. */
export function endHolder(pid: number): string {
  return `wait if it has just started, continue it if it is suspended (kill -CONT ${pid}), else end it (kill -KILL ${pid}); never move its lock file away`;
}

/** True also where the system does not show the arguments of processes. */
async function mayBeHost(pid: number): Promise<boolean> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
  return words === null || words.split('\0').includes(HOST_ARGUMENT);
}
