import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folders whose code determines the bytes of a result. */
const FOLDERS = ['../core/', '../backtest/'];
const FINGERPRINT_LENGTH = 12;

let known: string | null = null;

/** The release and a fingerprint of the code that produces results, so every changed line changes the receipts. */
export function codeVersion(release: string): string {
  known ??= fingerprint();
  return `${release}-${known}`;
}

function fingerprint(): string {
  const sum = createHash('sha256');
  for (const folder of FOLDERS) {
    const root = fileURLToPath(new URL(folder, import.meta.url));
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
    for (const name of files.filter((file) => /(?<!\.test)\.[jt]s$/.test(file)).sort()) {
      sum.update(`${name}\n`).update(readFileSync(root + name));
    }
  }
  return sum.digest('hex').slice(0, FINGERPRINT_LENGTH);
}
