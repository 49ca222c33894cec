/** Kept data directories of earlier states of this project. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DEMO_MARKER } from '../../src/runtime/demoMarker.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/dataDirectory');

/** The key that encrypts the webhook secrets of the kept directories. */
export const KEPT_SECRET_KEY = Buffer.alloc(32, 7).toString('base64');

/** A copy of the data directory that a commit's service left when it was killed. */
export function keptDataDirectory(commit: string, dataDir = temporaryDirectory()): string {
  execFileSync('tar', ['-xzf', join(FOLDER, `${commit}.tar.gz`), '-C', dataDir]);
  // Demos recorded them; a service refuses a demo's directory.
  rmSync(join(dataDir, DEMO_MARKER), { force: true });
  return dataDir;
}
