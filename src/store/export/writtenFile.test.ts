import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { recordingReader } from '../../../test/support/exportReader.ts';
import { failFileCalls } from '../../../test/support/failingFiles.ts';
import { openTestStore } from '../../../test/support/store.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { systemClock } from '../../runtime/clock.ts';
import { InvalidInputError, StoreUnavailableError } from '../../runtime/errors.ts';
import { manifestPath, writeExport } from './writtenFile.ts';

test('a file that cannot be written again has no manifest any more: it is not finished', async () => {
  const folder = temporaryDirectory(onTestFinished);
  const path = join(folder, 'markets.csv');
  for (const name of [path, manifestPath(path)]) writeFileSync(name, 'of an earlier export');
  const away = () => Promise.reject(new StoreUnavailableError('away'));
  const reader = { store: { rows: away, stream: away }, controlRows: () => expect.unreachable() };
  const writing = writeExport(reader, {
    ...{ subject: { dataset: 'markets', markets: 'all' }, range: { startMs: null, endMs: null } },
    ...{ format: 'csv', path, clock: systemClock, signal: new AbortController().signal },
  });
  await expect(writing).rejects.toThrow('away');
  expect(readdirSync(folder)).toEqual(['markets.csv']);
});

test.each([/markets\.csv\.part$/, /manifest\.json\.part$/])(
  'a full disk at %s leaves neither a file nor a manifest, and is named',
  async (path) => {
    const { store, dispose } = await openTestStore();
    onTestFinished(dispose);
    const folder = temporaryDirectory();
    failFileCalls(['rename'], path, 'ENOSPC');
    const writing = writeExport(recordingReader(store), {
      ...{ subject: { dataset: 'markets', markets: 'all' }, range: { startMs: null, endMs: null } },
      ...{ format: 'csv', path: join(folder, 'markets.csv'), clock: systemClock },
      signal: new AbortController().signal,
    });
    await expect(writing).rejects.toThrow(
      new InvalidInputError(`the disk of ${folder} is full; free space there and repeat the command`),
    );
    expect(readdirSync(folder)).toEqual([]);
  },
);
