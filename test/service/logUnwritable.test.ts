import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandAbsent } from '../support/builtCommand.ts';
import { type RunningCommand, startCommand, startProgram } from '../support/runningService.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';

const serve = () => ({
  UNDERROUND_DATA_DIR: temporaryDirectory(),
  UNDERROUND_RATE_LIMITS: 'off',
  ...VENUES_OFF,
});

/** Asks often enough for several writes of the log. */
async function worksAndStops({ url, stop }: RunningCommand): Promise<void> {
  for (let i = 0; i < 500; i++) {
    const answer = await fetch(`${url}/health`);
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  }
  expect(await stop()).toBe(0);
}

describe.skipIf(commandAbsent)('a service whose log cannot be written works, and stops when asked', () => {
  test.skipIf(!existsSync('/dev/full'))('on a full disk', async () => {
    const command = [process.execPath, join(PROJECT_ROOT, 'bin/underround.mjs'), 'serve'];
    await worksAndStops(await startProgram(['sh', '-c', 'exec "$@" 2>/dev/full', 'sh', ...command], serve()));
  });

  test('into a pipe whose reader has left', async () => {
    const service = await startCommand(['serve'], serve());
    service.child.stderr?.destroy();
    await worksAndStops(service);
  });
});
