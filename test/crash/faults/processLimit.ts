/** Limits of running processes, as `ulimit` sets them for new ones. Linux, with `prlimit` of util-linux. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

type LimitKind = 'descriptors' | 'memory';

const OPTION: Readonly<Record<LimitKind, string>> = { descriptors: '--nofile', memory: '--as' };
/** Name in `/proc/PID/limits`. */
const NAME: Readonly<Record<LimitKind, string>> = {
  descriptors: 'Max open files',
  memory: 'Max address space',
};
const STANDARD_STREAMS = 3;
const PAGE_BYTES = 4_096;
/** Address space that a process may still reserve: enough for small answers, less than a large one needs. */
const SPARE_BYTES = 48 * 1024 * 1024;

/** @returns The soft limit of a process, as `prlimit` reads it. */
function limitOf(pid: number, kind: LimitKind): string {
  const line = readFileSync(`/proc/${pid}/limits`, 'utf8')
    .split('\n')
    .find((text) => text.startsWith(NAME[kind]));
  return /(\d+|unlimited)/.exec((line ?? '').slice(NAME[kind].length))?.[1] ?? 'unlimited';
}

function setLimit(pid: number, kind: LimitKind, soft: string): void {
  // The colon keeps the hard limit, so that the soft one can be raised again.
  execFileSync('prlimit', ['--pid', String(pid), `${OPTION[kind]}=${soft}:`]);
}

/** A limit at which a process can open no further descriptor, or reserve only a little further memory. */
function limitAtUse(pid: number, kind: LimitKind): number {
  if (kind === 'memory')
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[0]) * PAGE_BYTES + SPARE_BYTES;
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let free = 0;
  while (open.has(free)) free++;
  return free;
}

/** Lets a process open no file from now on, also not with the number of one that it closes. */
export function refuseDescriptors(pid: number): void {
  setLimit(pid, 'descriptors', String(STANDARD_STREAMS));
}

/** Lets a process reserve no further memory: V8 ends it as soon as it needs some. */
export function refuseMemory(pid: number): void {
  setLimit(pid, 'memory', String(PAGE_BYTES));
}

/**
 * Holds processes at what they have.
 * @param pidsNow The processes at the time of the call: one that was started meanwhile inherited the limit.
 * @returns A function that restores the limits.
 */
export function holdAtPresentUse(pidsNow: () => readonly number[], kind: LimitKind): () => void {
  const [first] = pidsNow();
  const before = first === undefined ? 'unlimited' : limitOf(first, kind);
  for (const pid of pidsNow()) setLimit(pid, kind, String(limitAtUse(pid, kind)));
  return () => {
    for (const pid of pidsNow()) setLimit(pid, kind, before);
  };
}
