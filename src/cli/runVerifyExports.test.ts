import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandLine } from '../../test/support/commandLine.ts';
import { writeExportedFile } from '../../test/support/exportedFile.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { registerVerify } from './verify.ts';

const { runWhole } = commandLine(registerVerify);

/** A folder of exported files, each with so many rows. */
async function folderOf(...files: readonly number[]): Promise<string> {
  const folder = temporaryDirectory();
  for (const [at, count] of files.entries()) {
    const rows = Array.from({ length: count }, (_, seq) => ({
      market_id: 'm',
      seq,
      ts: '2026-11-20T12:00:00Z',
    }));
    const whole = rows.map((row) => ({ ...row, received_at: row.ts }));
    await writeExportedFile(join(folder, `${at}.jsonl`), { dataset: 'quotes', rows: whole, gaps: [] });
  }
  return folder;
}

test.each([
  [[0], '1 file with 0 rows is as exported'],
  [[1], '1 file with 1 row is as exported'],
  [[1, 1_200], '2 files with 1,201 rows are as exported'],
])('verify of a folder with files of %j rows', async (files, line) => {
  const { out, exit } = await runWhole('verify', await folderOf(...files));
  expect({ out, exit }).toEqual({ out: [line], exit: undefined });
});

test.each([
  [[1], 'underround: 1 of 1 file is not as exported'],
  [[1, 1], 'underround: 1 of 2 files is not as exported'],
])('verify of a folder with files of %j rows and a changed one', async (files, line) => {
  const folder = await folderOf(...files);
  appendFileSync(join(folder, '0.jsonl'), '{}\n');
  const { err, exit } = await runWhole('verify', folder);
  expect([err.at(-1), exit]).toEqual([line, 1]);
});

test('the manifest names its file', async () => {
  const path = join(await folderOf(2), '0.jsonl.manifest.json');
  expect((await runWhole('verify', path)).out).toEqual(['1 file with 2 rows is as exported']);
});

test.each(['--at', '--s3-endpoint', '--s3-region', '--data-dir'])(
  'refuses %s, which chooses a backup or its place',
  async (word) => {
    const folder = await folderOf(1);
    expect(await runWhole('verify', folder, word, 'x')).toEqual({
      ...{ out: [], exit: 1 },
      err: [`underround: ${folder} is no backup, and ${word} applies to backups alone: leave it out`],
    });
  },
);
