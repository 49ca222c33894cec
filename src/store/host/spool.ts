/** Where the bodies of inserts lie while the engine reads them. */
import { readdir, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../ops/log.ts';
import { makeOwnDirectory } from '../ownerOnly.ts';
import { HostError } from './hostError.ts';

/**
 * Files are written to memory (`/dev/shm`) where there is such a thing, and to the data directory where not or
 * when the memory file system is full: containers often give it 64 MiB only.
 */
export class Spool {
  readonly #dirs: readonly string[];
  #next = 0;

  private constructor(dirs: readonly string[]) {
    this.#dirs = dirs;
  }

  /**
   * Makes and empties the directories: whoever holds the engine's lock owns them, what lies there is from a dead host. One
   * that somebody else may have made is left as it is, and the next is used.
   */
  static async open(dirs: readonly string[], log: Pick<Logger, 'warn'>): Promise<Spool> {
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
    return new Spool(usable);
  }

  /** Writes `data` to a file, calls `use` with its path and removes it after. */
  async with<T>(data: readonly Buffer[], use: (path: string) => Promise<T>): Promise<T> {
    const name = `${this.#next++}.bin`;
    for (const [index, dir] of this.#dirs.entries()) {
      const path = join(dir, name);
      try {
        try {
          await writeFile(path, data, { mode: 0o600 });
        } catch (error) {
          if (index < this.#dirs.length - 1) continue;
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
          // Rows that find no room are not at fault: whoever sent them tries again.
          throw new HostError(243, 'NOT_ENOUGH_SPACE', `No room for an insert in ${dir}`, { cause: error });
        }
        return await use(path);
      } finally {
        await unlink(path).catch(() => undefined);
      }
    }
    throw new Error('no directory for insert bodies');
  }

  async close(): Promise<void> {
    for (const dir of this.#dirs) await rm(dir, { recursive: true, force: true });
  }
}
