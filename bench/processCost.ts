/** Processor time and memory of processes, as Linux counts them. */
import { readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** Processor time that these processes have used, all their threads included. */
export function cpuMs(pids: readonly number[]): number {
  return sum(pids, (pid) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Counted after the command's name, which may contain spaces: user time is field 14, system time field 15.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  });
}

export function residentMb(pids: readonly number[]): number {
  return sum(
    pids,
    (pid) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
  );
}

/**
 * Starts to measure the share of the processors that is busy, also with other programs. Only the processors that this
 * process may use count: `taskset -c 0` leaves the others to other work.
 */
export function measureMachine(): () => number {
  const allowed = allowedProcessors(readFileSync('/proc/self/status', 'utf8'));
  const ticksNow = () => processorTicks(readFileSync('/proc/stat', 'utf8'), allowed);
  const before = ticksNow();
  return () => {
    const after = ticksNow();
    return (100 * (after.busy - before.busy)) / (after.all - before.all);
  };
}

/** @param status Text of `/proc/self/status`, with a line such as `Cpus_allowed_list: 0-1,4`. */
export function allowedProcessors(status: string): ReadonlySet<number> {
  const list = /^Cpus_allowed_list:\s+(\S+)$/m.exec(status)?.[1] ?? '';
  const ranges = list.split(',').map((range) => range.split('-').map(Number));
  return new Set(
    ranges.flatMap(([first = 0, last = first]) =>
      Array.from({ length: last - first + 1 }, (_, i) => first + i),
    ),
  );
}

/** @param stat Text of `/proc/stat`, with a line of ticks for each processor. */
export function processorTicks(stat: string, allowed: ReadonlySet<number>): { busy: number; all: number } {
  let [busy, all] = [0, 0];
  for (const [, processor, counts = ''] of stat.matchAll(/^cpu(\d+) (.+)$/gm)) {
    if (!allowed.has(Number(processor))) continue;
    // user, nice, system, idle, wait for disk, interrupts (2), stolen by the host; guests are part of user.
    const ticks = counts.trim().split(/\s+/).slice(0, 8).map(Number);
    const total = ticks.reduce((sum, count) => sum + count, 0);
    all += total;
    busy += total - (ticks[3] ?? 0) - (ticks[4] ?? 0);
  }
  return { busy, all };
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + of(pid), 0);
}
