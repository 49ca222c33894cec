/**
 * Space that the journal can still use when the disk is full: a file of zeros with all its blocks written, which is
 * shortened by the size of each write that needs space. It outlives the process, so that a start on a full disk has
 * space for its first files.
 */

import { constants, type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { MIB } from '../../runtime/byteUnits.ts';
import type { Logger } from '../../runtime/log.ts';

/** About a minute of journal at 900 frames a second. */
const BYTES_MAX = 32 * MIB;
/** Largest share of the disk's reserve that this file may use. */
const RESERVE_SHARE_MAX = 1 / 4;
/** Smallest amount freed at once: file systems allocate blocks, and the journal writes twenty times a second. */
const PIECE_BYTES_MIN = 256 * 1024;
/** Bytes that a start writes before it serves: its journal directory, locks, logs of the control database. */
const START_ROOM_BYTES = MIB;
const FILE_NAME = 'reserve';

export function journalReserveBytes(diskReserveBytes: number): number {
  return Math.min(BYTES_MAX, Math.floor(diskReserveBytes * RESERVE_SHARE_MAX));
}

export class JournalReserve {
  readonly #file: FileHandle;
  readonly #targetBytes: number;
  readonly #log: Logger;
  #bytes: number;
  #isFilling = false;

  private constructor(file: FileHandle, options: { targetBytes: number; bytes: number; log: Logger }) {
    this.#file = file;
    this.#targetBytes = options.targetBytes;
    this.#bytes = options.bytes;
    this.#log = options.log;
  }

  static async open(
    journalDir: string,
    { targetBytes, log }: { targetBytes: number; log: Logger },
  ): Promise<JournalReserve> {
    // Neither `r+`, which creates no file, nor `w+`, which empties it.
    const file = await open(join(journalDir, FILE_NAME), constants.O_RDWR | constants.O_CREAT, 0o600);
    const { size } = await file.stat();
    const bytes = Math.min(size, targetBytes);
    if (size > bytes) await file.truncate(bytes);
    return new JournalReserve(file, { targetBytes, bytes, log });
  }

  get bytes(): number {
    return this.#bytes;
  }

  get missingBytes(): number {
    return this.#targetBytes - this.#bytes;
  }

  /** Extends the file by at most `spareBytes`, up to its target; stops when the disk is full. */
  async fill(spareBytes: number): Promise<void> {
    if (this.#isFilling || this.missingBytes === 0) return;
    this.#isFilling = true;
    const zeros = Buffer.alloc(MIB);
    const goal = this.#bytes + Math.min(this.missingBytes, Math.max(0, spareBytes));
    try {
      while (this.#bytes < goal) {
        const length = Math.min(zeros.length, goal - this.#bytes);
        const { bytesWritten } = await this.#file.write(zeros, 0, length, this.#bytes);
        this.#bytes += bytesWritten;
        if (bytesWritten < length) return;
      }
    } catch (error) {
      this.#log.warn({ err: error, bytes: this.#bytes }, 'journal.reserve_not_filled');
    } finally {
      this.#isFilling = false;
    }
  }

  /** Frees space on the disk. Call it just before the space is used. @returns False when none is left. */
  async free(bytes: number): Promise<boolean> {
    if (this.#bytes === 0) return false;
    if (this.missingBytes === 0) this.#log.error({ bytes: this.#bytes }, 'journal.reserve_used');
    const left = Math.max(0, this.#bytes - Math.max(bytes, PIECE_BYTES_MIN));
    await this.#file.truncate(left);
    this.#bytes = left;
    return true;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** Frees a little of the space an earlier run reserved. @returns False when there is none. */
export async function freeStartSpace(dataDir: string, log: Logger): Promise<boolean> {
  try {
    const file = await open(join(dataDir, 'journal', FILE_NAME), 'r+');
    try {
      const { size } = await file.stat();
      if (size === 0) return false;
      await file.truncate(Math.max(0, size - START_ROOM_BYTES));
      log.warn({ bytes: START_ROOM_BYTES }, 'journal.reserve_used');
      return true;
    } finally {
      await file.close();
    }
  } catch {
    // There was no earlier run.
    return false;
  }
}
