import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { eventually } from './runningService.ts';
import { shutDownExt4 } from './shutDownExt4.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export type DiskKind = 'tmpfs' | 'ext4';

/** Whether this process may mount file systems. */
export function mayMount(kind: DiskKind): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  let allowed = false;
  const ends: (() => void)[] = [];
  try {
    limitedDisk(kind, 16, (end) => void ends.push(end));
    allowed = true;
  } catch {
    // No permission in this container, or no loop device.
  }
  for (const end of ends.reverse()) end();
  return allowed;
}

/** A file system of a fixed size that a test can fill to its last block. */
export interface LimitedDisk {
  readonly path: string;
  freeBytes(): number;
  /** Uses all free space except `leaveBytes`. */
  fill(leaveBytes?: number): void;
  /** Frees the space that `fill` used. */
  free(): void;
  /** Makes files until no more can be made. */
  fillFiles(): void;
  /** Removes what `fillFiles` made. */
  freeFiles(): void;
  /** Every access to this ext4 fails from now on, and its unsynced data is lost. */
  fail(): void;
  /** Mounts the disk again after `fail`, as soon as no process uses it. */
  repair(): Promise<void>;
}

/** @param whenOver Receives the unmount function; by default it runs at the end of the running test. */
export function limitedDisk(
  kind: DiskKind,
  mebibytes: number,
  whenOver: (end: () => void) => void = onTestFinished,
): LimitedDisk {
  // The last registered function runs first: the directory is removed after the unmount.
  const path = temporaryDirectory(whenOver);
  const image = `${path}.img`;
  const words = ['-t', 'tmpfs', '-o', `size=${mebibytes}m,nr_inodes=${FILES_MAX}`, 'tmpfs', path];
  if (kind === 'ext4') {
    whenOver(() => rmSync(image, { force: true }));
    execFileSync('truncate', ['-s', `${mebibytes}M`, image]);
    execFileSync('mkfs.ext4', ['-q', '-m', '0', image]);
    words.splice(0, words.length, '-o', 'loop', image, path);
  }
  const mount = () => execFileSync('mount', words, { stdio: 'ignore' });
  mount();
  // Lazy unmount: an engine that a test killed may still have open files.
  whenOver(() => void spawnSync('umount', ['-l', path]));
  const [filler, fillers] = [join(path, 'filler'), join(path, 'fillers')];
  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  };
  return {
    path,
    freeBytes,
    fill: (leaveBytes = 0) => fillUp(filler, freeBytes, leaveBytes),
    free: () => truncateSync(filler, 0),
    fillFiles: () => makeFiles(fillers),
    freeFiles: () => rmSync(fillers, { recursive: true }),
    fail: () => shutDownExt4(path),
    repair: async () => {
      await eventually('the end of the processes on the disk', async () => {
        execFileSync('umount', [path], { stdio: 'ignore' });
        return true;
      });
      mount();
    },
  };
}

/** Directory entries of a tmpfs; an ext4 has its own number. */
const FILES_MAX = 16_384;

function makeFiles(directory: string): void {
  mkdirSync(directory, { recursive: true });
  try {
    for (let index = 0; ; index++) writeFileSync(join(directory, `${index}`), '');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

const FILL_STEPS = [1024 * 1024, 64 * 1024, 4096, 512];

function fillUp(path: string, freeBytes: () => number, leaveBytes: number): void {
  const file = openSync(path, 'a');
  try {
    for (const step of FILL_STEPS) {
      const block = Buffer.alloc(step);
      for (;;) {
        if (freeBytes() - step < leaveBytes && leaveBytes > 0) break;
        if (!wrote(file, block)) break;
      }
    }
  } finally {
    closeSync(file);
  }
}

function wrote(file: number, block: Buffer): boolean {
  try {
    return writeSync(file, block) === block.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}
