import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { readConfig } from '../config.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { openRecording } from './openRecording.ts';

test('a command that reads says at once that a full disk has no room for the rows of a crash', async () => {
  const dataDir = temporaryDirectory();
  const run = join(dataDir, 'journal', 'main.1-2');
  mkdirSync(run, { recursive: true });
  writeFileSync(join(run, '000000001.seg'), '');
  const read = readConfig({ UNDERROUND_DATA_DIR: dataDir });
  if (!('config' in read)) throw new Error(read.problems.join());
  const opening = openRecording({ ...read.config, diskReserve: { bytes: 2 ** 60 } });
  await expect(opening).rejects.toThrow(StoreUnavailableError);
  await expect(opening).rejects.toThrow(
    /^rows that a crash left in the journal cannot be stored: the disk has \d+ MiB free, the reserve is 1099511627776 MiB; free space, or lower UNDERROUND_DISK_RESERVE$/,
  );
  expect(readdirSync(dataDir)).toEqual(['journal']);
});
