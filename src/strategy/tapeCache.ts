/** Tapes of past windows that were read from a service, in a folder: a second run reads them from there. */
import { createHash, hash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const HASH_BYTES = 32;
const CACHE_BYTES_MAX = 10 * 1024 ** 3;
const ENDING = '.tape';

export class TapeCache {
  readonly #folder: string;
  readonly #onFailure: (cause: unknown) => void;
  #written = 0;
  #hasFailed = false;

  /**
   * @param folder Created with the first tape.
   * @param onFailure Called with the first failure to write: nothing more is cached.
   */
  constructor(folder: string, onFailure: (cause: unknown) => void) {
    this.#folder = folder;
    this.#onFailure = onFailure;
  }

  /** @returns Null where there is none, or a damaged one. */
  async read(key: string): Promise<Buffer | null> {
    let file: Buffer;
    try {
      file = await readFile(this.#pathOf(key));
    } catch {
      return null;
    }
    const bytes = file.subarray(0, -HASH_BYTES);
    const isWhole =
      file.length >= HASH_BYTES && hash('sha256', bytes, 'buffer').equals(file.subarray(-HASH_BYTES));
    return isWhole ? bytes : null;
  }

  /** Two processes may write the same tape. A full or read-only disk only costs the cache. */
  async write(key: string, bytes: Buffer): Promise<void> {
    if (this.#hasFailed) return;
    const path = this.#pathOf(key);
    const part = `${path}.${process.pid}.${this.#written++}`;
    try {
      await mkdir(this.#folder, { recursive: true });
      await writeFile(part, Buffer.concat([bytes, hash('sha256', bytes, 'buffer')]));
      await rename(part, path);
    } catch (cause) {
      // Of two writes at once, one report is enough.
      if (!this.#hasFailed) this.#onFailure(cause);
      this.#hasFailed = true;
      await rm(part, { force: true }).catch(() => undefined);
    }
  }

  /** Removes the tapes that were read longest ago, where all together are too large. */
  async prune(bytesMax = CACHE_BYTES_MAX): Promise<void> {
    let total = 0;
    const newestFirst = this.#files().sort((one, other) => other.usedMs - one.usedMs);
    for (const { path, bytes } of newestFirst) {
      total += bytes;
      if (total > bytesMax) await rm(path, { force: true });
    }
  }

  #files(): { path: string; bytes: number; usedMs: number }[] {
    let names: string[];
    try {
      names = readdirSync(this.#folder);
    } catch {
      // No tape was cached yet.
      return [];
    }
    return names.flatMap((name) => {
      if (!name.includes(ENDING)) return [];
      const path = join(this.#folder, name);
      // Another process may have removed it since.
      const found = statSync(path, { throwIfNoEntry: false });
      if (found === undefined) return [];
      return [{ path, bytes: found.size, usedMs: Math.max(found.mtimeMs, found.atimeMs) }];
    });
  }

  #pathOf(key: string): string {
    return join(this.#folder, `${createHash('sha256').update(key).digest('hex')}${ENDING}`);
  }
}
