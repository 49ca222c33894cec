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

/** Starts to measure the share of the machine's processors that is busy, also with other programs. */
export function measureMachine(): () => number {
  const before = machineTicks();
  return () => {
    const after = machineTicks();
    return (100 * (after.busy - before.busy)) / (after.all - before.all);
  };
}

function machineTicks(): { busy: number; all: number } {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  // user, nice, system, idle, wait for disk, interrupts (2), stolen by the host; guests are part of user.
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const all = ticks.reduce((total, count) => total + count, 0);
  return { busy: all - (ticks[3] ?? 0) - (ticks[4] ?? 0), all };
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + of(pid), 0);
}
