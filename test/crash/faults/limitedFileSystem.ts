/**
 * A small separate file system that a run can fill: a tmpfs, or ext4 on a loop device. A run can also cut the power of the
 * ext4. Needs root on Linux.
 */
import { execFile, execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { systemClock as clock, every, sleep, type Timer } from '../../../src/runtime/clock.ts';
import { shutDownExt4 } from '../../support/shutDownExt4.ts';
import type { FileSystemKind } from '../command.ts';

const SIZE_MIB = 64;
const CHUNK_BYTES = [1024 * 1024, 64 * 1024, 4 * 1024];
/** While it must be full, space that other processes free is filled again this often. */
const REFILL_PERIOD_MS = 50;
const UNMOUNT_TRIES_MAX = 50;
const UNMOUNT_PAUSE_MS = 100;

export class LimitedFileSystem {
  readonly kind: FileSystemKind;
  readonly dataDir: string;
  readonly #place: string;
  readonly #mountPoint: string;
  #refill: Timer | null = null;
  #isMounted = true;

  private constructor(kind: FileSystemKind, place: string) {
    this.kind = kind;
    this.#place = place;
    this.#mountPoint = join(place, 'mounted');
    this.dataDir = join(this.#mountPoint, 'data');
  }

  /** @throws Error Names the requirements: root, mount, and mkfs.ext4 with loop devices. */
  static mount(kind: FileSystemKind, sizeMib = SIZE_MIB): LimitedFileSystem {
    if (process.getuid?.() !== 0) throw new Error('this fault needs root: it mounts a file system');
    const files = new LimitedFileSystem(kind, mkdtempSync(join(tmpdir(), 'underround-disk-')));
    mkdirSync(files.#mountPoint);
    try {
      files.#make(sizeMib);
    } catch (error) {
      rmSync(files.#place, { recursive: true, force: true });
      throw new Error(`cannot mount ${kind}: ${error instanceof Error ? error.message : String(error)}`);
    }
    mkdirSync(files.dataDir);
    return files;
  }

  #make(sizeMib: number): void {
    if (this.kind === 'tmpfs') {
      run('mount', ['-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'tmpfs', this.#mountPoint]);
      return;
    }
    closeSync(openSync(this.#image, 'w'));
    truncateSync(this.#image, sizeMib * 1024 * 1024);
    run('mkfs.ext4', ['-q', '-m', '0', this.#image]);
    this.#mountImage();
  }

  #mountImage(): void {
    run('mount', ['-o', 'loop', this.#image, this.#mountPoint]);
  }

  get #image(): string {
    return join(this.#place, 'image');
  }

  /** Writes everything to the disk. */
  sync(): void {
    run('sync', ['--file-system', this.#mountPoint]);
  }

  /** Writes to this ext4, and its syncs, wait from now on until `thaw`. */
  async freeze(): Promise<void> {
    await runAside('fsfreeze', ['--freeze', this.#mountPoint]);
  }

  async thaw(): Promise<void> {
    await runAside('fsfreeze', ['--unfreeze', this.#mountPoint]);
  }

  /** Every access to this ext4 fails from now on, and its unsynced data is lost. */
  cutPower(): void {
    shutDownExt4(this.#mountPoint);
  }

  /** Mounts the ext4 again after `cutPower`, as soon as no process uses it. */
  async remount(): Promise<void> {
    await this.#whenUnmounted();
    this.#mountImage();
  }

  /** Uses all space, including space freed later, until `free`. */
  fill(): void {
    this.#fillOnce();
    this.#refill ??= every(clock, REFILL_PERIOD_MS, () => this.#fillOnce());
  }

  free(): void {
    this.#refill?.cancel();
    this.#refill = null;
    rmSync(this.#filler, { force: true });
  }

  get #filler(): string {
    return join(this.#mountPoint, 'filler');
  }

  #fillOnce(): void {
    const file = openSync(this.#filler, 'a');
    try {
      for (const bytes of CHUNK_BYTES) fillBy(file, Buffer.alloc(bytes));
    } finally {
      closeSync(file);
    }
  }

  /** A killed process may use the directory for a moment longer. */
  async unmount(): Promise<void> {
    if (!this.#isMounted) return;
    this.free();
    await this.#whenUnmounted();
    this.#isMounted = false;
    rmSync(this.#place, { recursive: true, force: true });
  }

  async #whenUnmounted(): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        run('umount', [this.#mountPoint]);
        return;
      } catch (error) {
        if (tries >= UNMOUNT_TRIES_MAX) throw error;
        await sleep(clock, UNMOUNT_PAUSE_MS);
      }
    }
  }
}

/** Without stopping this process: it is the venue too. */
const runAside = promisify(execFile);

function run(command: string, words: string[]): void {
  execFileSync(command, words, { stdio: 'pipe' });
}

function fillBy(file: number, chunk: Buffer): void {
  try {
    for (;;) if (writeSync(file, chunk) < chunk.length) return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
