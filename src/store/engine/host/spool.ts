/** Files for insert bodies while the engine reads them, and for the unread parts of answers. */
import { readdir, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFull } from '../../../runtime/diskFull.ts';
import type { Logger } from '../../../runtime/log.ts';
import { makeOwnDirectory } from '../ownerOnly.ts';
import { HostError } from './hostError.ts';
import { RingFile } from './ringFile.ts';

/** Most bytes of one answer that wait in a file for its reader. */
const ANSWER_BYTES_MAX = 1024 * 1024 * 1024;

/**
 * Bodies of inserts are written to memory (`/dev/shm`) where it exists. Without it, or when that file system is full,
 * they go to the data directory: containers often have only 64 MiB of it. Answers always go to the data directory: they
 * may be large and wait for long.
 */
export class Spool {
  readonly #dirs: readonly string[];
  readonly #keepFreeBytes: number;
  readonly #log: Pick<Logger, 'warn'>;
  #next = 0;
  /** Whether the last answer file could be created. A full disk is logged only when this becomes false. */
  #answersHaveRoom = true;

  private constructor(
    dirs: readonly string[],
    options: { keepFreeBytes: number; log: Pick<Logger, 'warn'> },
  ) {
    this.#dirs = dirs;
    this.#keepFreeBytes = options.keepFreeBytes;
    this.#log = options.log;
  }

  /**
   * Creates and empties the directories: the holder of the engine's lock owns them, so existing files are a dead
   * host's. A directory that another user may have made stays unchanged, and the next one is used.
   * @param keepFreeBytes Space that answers leave free on the disk of the last directory.
   */
  static async open(
    dirs: readonly string[],
    { log, keepFreeBytes = 0 }: { log: Pick<Logger, 'warn'>; keepFreeBytes?: number },
  ): Promise<Spool> {
    const usable: string[] = [];
    for (const dir of dirs) {
      try {
        makeOwnDirectory(dir);
        for (const name of await readdir(dir)) await rm(join(dir, name), { recursive: true, force: true });
        usable.push(dir);
      } catch (error) {
        if (dir === dirs.at(-1)) throw error;
        log.warn({ err: error, dir }, 'store.host.spool_not_used');
      }
    }
    return new Spool(usable, { keepFreeBytes, log });
  }

  /** Writes `data` to a file, calls `use` with its path and then removes it. */
  async with<T>(data: readonly Buffer[], use: (path: string) => Promise<T>): Promise<T> {
    const name = `${this.#next++}.bin`;
    for (const [index, dir] of this.#dirs.entries()) {
      const path = join(dir, name);
      try {
        try {
          await writeFile(path, data, { mode: 0o600 });
        } catch (error) {
          if (index < this.#dirs.length - 1) continue;
          // Rows that find no room are not at fault: their sender retries.
          throw noRoom(error, `No room for an insert in ${dir}`);
        }
        return await use(path);
      } finally {
        await unlink(path).catch(() => undefined);
      }
    }
    throw new Error('no directory for insert bodies');
  }

  /**
   * A file for one answer; it has no name, and is gone when it is closed.
   * @returns Null where the disk has no room for it now.
   */
  async openAnswerFile(): Promise<RingFile | null> {
    const dir = this.#dirs.at(-1) as string;
    const limits = { capacityBytes: ANSWER_BYTES_MAX, keepFreeBytes: this.#keepFreeBytes };
    try {
      const file = await RingFile.open(dir, `${this.#next++}.answer`, limits);
      this.#answersHaveRoom = true;
      return file;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      if (this.#answersHaveRoom) this.#log.warn({ err: error, dir }, 'store.host.no_room_for_answers');
      this.#answersHaveRoom = false;
      return null;
    }
  }

  async close(): Promise<void> {
    for (const dir of this.#dirs) await rm(dir, { recursive: true, force: true });
  }
}

/** Converts a full disk to the engine's error; returns any other error unchanged. */
function noRoom(error: unknown, text: string): unknown {
  if (!isDiskFull(error)) return error;
  return new HostError(243, 'NOT_ENOUGH_SPACE', text, { cause: error });
}
