/**
 * The service's current faults, for the operator. A fault begins beyond one limit and ends only within a stricter one,
 * so that a value near a limit does not begin and end incidents repeatedly.
 */
import type { Gap } from '../schema/gap.ts';
import type { SystemEventName } from '../schema/notification.ts';

/** `bad` begins an incident. `between` begins none, and keeps an open one open. */
export interface SystemFinding {
  readonly event: SystemEventName;
  /** A feed, a webhook's id, or a part of the service. */
  readonly subject: string;
  readonly level: 'bad' | 'between';
  /** A sentence for people. */
  readonly summary: string;
}

/** Free space of one disk, and what must stay free. */
export interface DiskState {
  /** Name of the disk; its only one has the name `data`. */
  readonly name: string;
  readonly freeBytes: number;
  readonly reserveBytes: number;
}

/** The service is not ready beyond it (`/readyz`). */
const LAG_BAD_MS = 10_000;
const LAG_GOOD_MS = 2_000;
/** Parts of the reserve: the guard stops inserts at 1, so the operator has some time left. */
const DISK_BAD_RESERVES = 1.5;
const DISK_GOOD_RESERVES = 2;
const MIB = 2 ** 20;

/** Whether so little space is left that users' jobs may not take more: the rest is for the recording. */
export function isScarce({ freeBytes, reserveBytes }: DiskState): boolean {
  return freeBytes < reserveBytes * DISK_BAD_RESERVES;
}

/**
 * One finding for each feed with a long gap, however many markets it affects.
 * @param gaps Open ones, of markets that still trade.
 * @param noticeMs A gap this long is an incident. A gap of half of it keeps an open one open.
 */
export function gapFindings(
  gaps: readonly Gap[],
  { noticeMs, nowMs }: { noticeMs: number; nowMs: number },
): SystemFinding[] {
  const feeds = new Set(gaps.map(({ feed }) => feed));
  return [...feeds].flatMap((feed): SystemFinding[] => {
    const open = gaps.filter((gap) => gap.feed === feed);
    const longest = open.reduce((one, other) => (other.startReceivedMs < one.startReceivedMs ? other : one));
    const ageMs = nowMs - longest.startReceivedMs;
    if (ageMs < noticeMs / 2) return [];
    const long = open.filter(({ startReceivedMs }) => nowMs - startReceivedMs >= noticeMs / 2);
    const markets = long.length === 1 ? '1 market has' : `${long.length} markets have`;
    return [
      {
        ...{ event: 'system.gap', subject: feed, level: ageMs >= noticeMs ? 'bad' : 'between' },
        summary: `${markets} no proven books from ${feed} for up to ${Math.floor(ageMs / 1000)} s (${longest.cause}).`,
      },
    ];
  });
}

export function lagFindings(lagMs: number): SystemFinding[] {
  if (lagMs <= LAG_GOOD_MS) return [];
  const summary = `Stored data is ${Math.floor(lagMs / 1000)} s behind what was received. No row is lost.`;
  return [{ event: 'system.lag', subject: 'store', level: lagMs > LAG_BAD_MS ? 'bad' : 'between', summary }];
}

export function diskFindings(disks: readonly DiskState[]): SystemFinding[] {
  return disks.flatMap(({ name, freeBytes, reserveBytes }): SystemFinding[] => {
    if (freeBytes >= reserveBytes * DISK_GOOD_RESERVES) return [];
    const [free, reserve] = [freeBytes, reserveBytes].map((bytes) => Math.floor(bytes / MIB));
    const summary = `The disk ${name} has ${free} MiB free; inserts stop at ${reserve} MiB.`;
    const level = isScarce({ name, freeBytes, reserveBytes }) ? 'bad' : 'between';
    return [{ event: 'system.disk', subject: name, level, summary }];
  });
}

/** @param warning Of `backupWarning`. */
export function backupFindings(warning: string | null): SystemFinding[] {
  if (warning === null) return [];
  const summary = `${warning.charAt(0).toUpperCase()}${warning.slice(1)}.`;
  return [{ event: 'system.backup', subject: 'backup', level: 'bad', summary }];
}
