/**
 * Restricts files and directories to the user of this process: the data directory and the directories outside of it.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { chmod, lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import { makeFileOnce } from '../../runtime/makeFileOnce.ts';

/** For `process.umask`: new files and directories are accessible only to their owner. */
export const OWNER_ONLY_UMASK = 0o077;
const DIRECTORY_MODE = 0o700;
const OWNER_BITS = 0o700;
const OTHERS_BITS = 0o077;
/** The presence of this file also shows that the whole data directory was restricted once. */
const NAME_FILE = 'private-name';
const NAME_BYTES = 16;
const NAME = /^[0-9a-f]{32}$/;

/**
 * A name that other users cannot guess, for directories outside of the data directory. It is created once and kept in
 * the data directory, so that every process of it uses the same name, also after a crash.
 */
export function privateName(dataDir: string): string {
  const path = join(dataDir, NAME_FILE);
  const known = readName(path);
  if (known !== null) return known;
  makeFileOnce(path, randomBytes(NAME_BYTES).toString('hex'));
  const made = readName(path);
  if (made === null) throw new ConfigError(`${path} holds no name; delete it and start again`);
  return made;
}

function readName(path: string): string | null {
  try {
    const text = readFileSync(path, 'utf8');
    return NAME.test(text) ? text : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Creates a directory for this user only, or checks the existing one, so that no other user can have put files there.
 * @throws {ConfigError} When it is a symbolic link or a file, belongs to another user or is open to others.
 */
export function makeOwnDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: DIRECTORY_MODE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const stats = lstatSync(path);
  const refusal = (reason: string) => new ConfigError(`${path} is not used: it ${reason}; remove it`);
  if (stats.isSymbolicLink()) throw refusal('is a symbolic link');
  if (!stats.isDirectory()) throw refusal('is no directory');
  if (!isOurs(stats.uid)) throw refusal(`belongs to user ${stats.uid}`);
  if ((stats.mode & OTHERS_BITS) !== 0) throw refusal('is open to other users');
}

/**
 * Removes all permissions of other users in the data directory: in the whole tree at the first start, later in its
 * first level. The directory itself may be a symbolic link.
 * @throws {ConfigError} When a part of it belongs to another user.
 */
export async function closeDataDirectory(dataDir: string, log: Logger): Promise<void> {
  const isFirst = readName(join(dataDir, NAME_FILE)) === null;
  const path = await realpath(dataDir);
  // Parents first: other users cannot replace files below a closed directory meanwhile.
  const changed = await closeToOthers(path, isFirst ? Number.POSITIVE_INFINITY : 1);
  if (changed > 0) log.warn({ dataDir, changed }, 'data_directory.closed_to_others');
}

/**
 * @param depth Levels below the path that are always checked; below a directory that was open to others, all levels
 * are.
 */
async function closeToOthers(path: string, depth: number): Promise<number> {
  const stats = await unlessGone(lstat(path));
  if (stats === null || stats.isSymbolicLink()) return 0;
  if (!isOurs(stats.uid)) {
    const us = process.getuid?.();
    throw new ConfigError(
      `${path} belongs to user ${stats.uid}, this process runs as user ${us}: start it as that user, or change the owner`,
    );
  }
  const isOpen = (stats.mode & OTHERS_BITS) !== 0;
  if (isOpen) await unlessGone(chmod(path, stats.mode & OWNER_BITS));
  let changed = isOpen ? 1 : 0;
  if (!stats.isDirectory() || (depth < 1 && !isOpen)) return changed;
  for (const name of (await unlessGone(readdir(path))) ?? []) {
    changed += await closeToOthers(join(path, name), isOpen ? Number.POSITIVE_INFINITY : depth - 1);
  }
  return changed;
}

/** Another process of this data directory may delete files at any time. */
async function unlessGone<T>(work: Promise<T>): Promise<T | null> {
  return await work.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
}

/** Where the system has no user ids (Windows), every owner counts as this user. */
function isOurs(uid: number): boolean {
  const us = process.getuid?.();
  return us === undefined || us === uid;
}
