import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { BatchFile } from './batchFile.ts';

test('the batch noted last is read back, and none once it is cleared', async () => {
  const run = temporaryDirectory();
  expect(await BatchFile.read(run)).toBeNull();
  const file = new BatchFile(run);
  await file.note({ first: 1, last: 2 });
  await file.note({ first: 3, last: 70_000 });
  expect(await BatchFile.read(run)).toEqual({ first: 3, last: 70_000 });
  await file.clear();
  expect(await BatchFile.read(run)).toBeNull();
  await file.note({ first: 4, last: 5 });
  expect(await BatchFile.read(run)).toEqual({ first: 4, last: 5 });
  await file.close();
});

test('a note that a crash of the machine left half written or changed is none', async () => {
  const run = temporaryDirectory();
  const file = new BatchFile(run);
  await file.note({ first: 3, last: 9 });
  await file.close();
  const path = join(run, 'batch');
  const noted = await readFile(path);
  for (let at = 0; at < noted.length; at++) {
    const changed = Buffer.from(noted);
    changed.writeUInt8(noted.readUInt8(at) ^ 1, at);
    await writeFile(path, changed);
    expect(await BatchFile.read(run), `byte ${at}`).toBeNull();
  }
  await writeFile(path, noted);
  await truncate(path, noted.length - 1);
  expect(await BatchFile.read(run)).toBeNull();
});
