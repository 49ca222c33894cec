/** Files that name the process that owns something, so that another one finds out whether it still runs. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { orAtLimit } from './atLimit.ts';

const nullUnlessAtLimit = orAtLimit(null);

/** The text that identifies this process in a file. */
export function thisProcess(): string {
  ownStart ??= startIn(ownStat());
  return JSON.stringify({ pid: process.pid, start: ownStart });
}

function ownStat(): string | null {
  try {
    return readFileSync(statFile(process.pid), 'utf8');
  } catch (error) {
    return nullUnlessAtLimit(error);
  }
}

/** Read once, because it never changes and a later read may meet a limit. */
let ownStart: string | null = null;

/**
 * Id of the process that a file names; null where it has ended or the file does not exist.
 * @throws The system's error at a limit of this process: the other one may be alive.
 */
export async function livingProcess(file: string): Promise<number | null> {
  const owner = ownerIn((await textOf(file)) ?? '');
  if (owner === null) return null;
  // Process ids are reused, in containers within seconds; the start time distinguishes two processes.
  if (owner.start !== startIn(await textOf(statFile(owner.pid)))) return null;
  return isAlive(owner.pid) ? owner.pid : null;
}

/** Whether a process of this id exists, of this user or another. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function textOf(path: string): Promise<string | null> {
  return await readFile(path, 'utf8').catch(nullUnlessAtLimit);
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

function statFile(pid: number): string {
  return `/proc/${pid}/stat`;
}

/** Start time of a process in kernel ticks; null where the system does not provide it or the process does not exist. */
function startIn(stat: string | null): string | null {
  // The name in brackets may contain spaces; the 20th field after it is the start time.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}
