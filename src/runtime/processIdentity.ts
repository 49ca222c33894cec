/** Files that name the process that owns something, so that another one finds out whether it still runs. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAtLimit, orAtLimit } from './atLimit.ts';

/**
 * The text that identifies this process in a file.
 * @throws The system's error at a limit of descriptors or memory, as `livingProcess`.
 */
export function thisProcess(): string {
  return JSON.stringify({ pid: process.pid, start: processStart(process.pid) });
}

/**
 * Id of the process that a file names; null where it has ended or the file does not exist.
 * @throws The system's error at a limit of descriptors or memory: the process may live.
 */
export async function livingProcess(file: string): Promise<number | null> {
  const owner = ownerIn(await readFile(file, 'utf8').catch(orAtLimit('')));
  if (owner === null) return null;
  // Process ids are reused, in containers within seconds; the start time distinguishes two processes.
  if (owner.start !== processStart(owner.pid)) return null;
  try {
    process.kill(owner.pid, 0);
    return owner.pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? owner.pid : null;
  }
}

/**
 * Null for a text that no process wrote as a whole. A machine that lost power may keep a file's length without its bytes;
 * its processes have ended.
 */
function ownerIn(text: string): { pid: number; start: string | null } | null {
  try {
    const owner = JSON.parse(text) as { pid?: unknown; start?: unknown } | null;
    if (!Number.isInteger(owner?.pid)) return null;
    return owner as { pid: number; start: string | null };
  } catch {
    return null;
  }
}

/** Start time of a process in kernel ticks; null where the system does not provide it or the process does not exist. */
function processStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may contain spaces; the 20th field after it is the start time.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch (error) {
    if (isAtLimit(error)) throw error;
    return null;
  }
}
