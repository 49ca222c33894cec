import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const ROOT = join(import.meta.dirname, '../../../shared/fixtures');

/** Real recordings are outside the project; without them, tests that need them are skipped with a reason. */
export const recordingsAbsent = !existsSync(ROOT);

/** Path of a recording; it need not exist. */
export function recordingPath(path: string): string {
  return join(ROOT, path);
}

/** The text of a recording, decompressed if its name ends in `.gz`. */
export function recording(path: string): string {
  const bytes = readFileSync(recordingPath(path));
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}

/** The non-empty lines of a recording. */
export function recordingLines(path: string): string[] {
  return recording(path)
    .split('\n')
    .filter((line) => line !== '');
}
