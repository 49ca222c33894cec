import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folders whose code determines the bytes of a result. */
const FOLDERS = ['../core/', '../backtest/'];
const FINGERPRINT_LENGTH = 12;

let known: string | null = null;

/** The release and a fingerprint of the code that produces results, so every changed line changes the receipts. */
export function codeVersion(release: string): string {
  known ??= fingerprintOf(FOLDERS.map((folder) => fileURLToPath(new URL(folder, import.meta.url))));
  return `${release}-${known}`;
}

export function fingerprintOf(folders: readonly string[]): string {
  const sum = createHash('sha256');
  for (const folder of folders) {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    for (const name of files.filter((file) => /(?<!\.test)\.[jt]s$/.test(file)).sort()) {
      sum.update(`${name}\n`).update(readFileSync(join(folder, name)));
    }
  }
  return sum.digest('hex').slice(0, FINGERPRINT_LENGTH);
}
