import { closeSync, fsyncSync, openSync } from 'node:fs';
import { open, readFile, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file's text atomically: a crash or a full disk leaves the old text or the new one, never a part of it. The
 * text goes to a draft beside it, is synced to the disk, and moves into place by one rename. Equal text writes nothing.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  if ((await readFile(path, 'utf8').catch(() => null)) === text) return;
  const draft = `${path}.draft`;
  try {
    await writeSynced(draft, text, 'w');
    await rename(draft, path);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Writes a file that only its owner may read, and syncs its content to the disk. @param flags As for `open`. */
export async function writeSynced(path: string, content: string | Uint8Array, flags: string): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Syncs renames and new files in a directory to the disk. */
export async function syncDirectory(path: string): Promise<void> {
  await syncPath(path);
}

/** As `syncDirectory`, before it returns. */
export function syncDirectoryNow(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Syncs a file to the disk, if it is still there. */
export async function syncFile(path: string): Promise<void> {
  try {
    await syncPath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function syncPath(path: string): Promise<void> {
  const opened = await open(path, 'r');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}
