import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A killed service's engine ends a moment later and may still write. */
const REMOVE = { recursive: true, force: true, maxRetries: 30, retryDelay: 100 };

/** An empty directory that is removed after the running test. Call it inside a test or a beforeEach. */
export function temporaryDirectory(whenOver: (end: () => void) => void = onTestFinished): string {
  const path = mkdtempSync(join(tmpdir(), 'underround-'));
  whenOver(() => rmSync(path, REMOVE));
  return path;
}
