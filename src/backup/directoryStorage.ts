import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lstat, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { isDiskFull } from '../runtime/diskFull.ts';
import { syncDirectory, writeSynced } from '../runtime/durableFile.ts';
import { BackupDamagedError, InvalidInputError } from '../runtime/errors.ts';
import { makeDurableDirectories } from '../runtime/makeDirectories.ts';
import { nullIfAbsent } from '../runtime/nullIfAbsent.ts';
import { readDiskSpace } from '../store/engine/diskGuard.ts';
import { claimDirectory } from '../store/journal/claimDirectory.ts';
import type { BackupStorage, StorageClaim } from './backupStorage.ts';
import { namedWrite } from './namedAccess.ts';

/** Objects are written here and renamed into place. */
const INCOMING = 'incoming';

/** Of one file, and not of the whole directory: a failing disk, or a damaged file system. */
const UNREADABLE = ['EIO', 'EBADMSG', 'EUCLEAN', 'EISDIR'];

/** Backups in a directory: one file for each object. */
export class DirectoryStorage implements BackupStorage {
  readonly name: string;
  /** Names of the objects that were added since the claim. */
  readonly #added = new Set<string>();

  constructor(directory: string) {
    this.name = resolve(directory);
  }

  async list(prefix: string): Promise<ReadonlyMap<string, number>> {
    const root = join(this.name, prefix);
    const found = new Map<string, number>();
    const entries = await nullIfAbsent(readdir(root, { withFileTypes: true, recursive: true }));
    for (const entry of entries ?? []) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      found.set(path.slice(this.name.length + 1), (await stat(path)).size);
    }
    return found;
  }

  async read(name: string): Promise<Buffer> {
    try {
      return await readFile(join(this.name, name));
    } catch (cause) {
      const { code = '' } = cause as NodeJS.ErrnoException;
      if (code === 'ENOENT') throw new BackupDamagedError(`${name} is missing in ${this.name}`, { cause });
      if (!UNREADABLE.includes(code)) throw cause;
      throw new BackupDamagedError(`${name} in ${this.name} cannot be read: ${code}`, { cause });
    }
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    const draft = join(this.name, INCOMING, randomBytes(16).toString('hex'));
    const path = join(this.name, name);
    const isNew = (await nullIfAbsent(lstat(path))) === null;
    try {
      await namedWrite(`${name} in ${this.name}`, writeSynced(draft, bytes, 'wx'));
      makeDurableDirectories(dirname(path));
      await rename(draft, path);
      if (isNew) this.#added.add(name);
      await syncDirectory(dirname(path));
    } catch (cause) {
      await rm(draft, { force: true }).catch(() => undefined);
      // An object whose name may be lost with the power is not stored.
      if (this.#added.delete(name)) await rm(path, { force: true }).catch(() => undefined);
      if (!isDiskFull(cause)) throw cause;
      const message = `the disk of ${this.name} is full; free space there or name another place`;
      throw new InvalidInputError(message, { cause });
    }
  }

  async isWithin(directory: string): Promise<boolean> {
    const [outer, inner] = await Promise.all([realpath(directory), realpath(this.#existing())]);
    if (inner !== outer && !inner.startsWith(outer + sep)) return false;
    return (await stat(inner)).dev === (await stat(outer)).dev;
  }

  async freeBytes(): Promise<number> {
    return (await readDiskSpace(this.#existing())).freeBytes;
  }

  /** The directory, or the nearest one above it that exists. */
  #existing(): string {
    let existing = this.name;
    while (!existsSync(existing)) existing = dirname(existing);
    return existing;
  }

  async claim(): Promise<StorageClaim> {
    const incoming = join(this.name, INCOMING);
    makeDurableDirectories(incoming);
    const claim = await claimDirectory(incoming, `writes a backup into ${this.name}`);
    const drafts = (await readdir(incoming)).filter((name) => /^[0-9a-f]{32}$/.test(name));
    for (const name of drafts) await rm(join(incoming, name), { force: true });
    this.#added.clear();
    return {
      discard: async () => {
        for (const name of this.#added) await rm(join(this.name, name), { force: true });
        this.#added.clear();
      },
      release: () => claim.release(),
    };
  }
}
