import { randomBytes } from 'node:crypto';
import { linkSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncDirectoryNow } from './durableFile.ts';

/**
 * Writes a file that only its owner may read, unless it exists. It appears complete or not at all, also if the machine
 * loses power, and stays once this returns. If several processes create it at once, one succeeds and all of them then
 * read the same text.
 */
export function makeFileOnce(path: string, text: string): void {
  const draft = `${path}.${randomBytes(16).toString('hex')}`;
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  syncDirectoryNow(dirname(path));
}
