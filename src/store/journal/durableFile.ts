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
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  }
  await syncDirectory(dirname(path));
}

/** Syncs a rename to the disk. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
