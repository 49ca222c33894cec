import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const ROOT = join(import.meta.dirname, '../../../shared/fixtures');

/** Real recordings lie beside the project, not in it; tests that read them skip by name where they are absent. */
export const recordingsAbsent = !existsSync(ROOT);

/** Where a recording lies; it need not exist. */
export function recordingPath(path: string): string {
  return join(ROOT, path);
}

/** The text of a recording, unpacked when its name ends in `.gz`. */
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
