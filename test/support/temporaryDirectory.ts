import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty directory that is gone when the running test is over. Call it inside a test or a beforeEach. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'underround-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
