import { hash } from 'node:crypto';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { writeExportedFile } from '../../../test/support/exportedFile.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { EXPORT_COLUMNS } from '../../schema/export.ts';
import { formatTime } from '../../schema/time.ts';
import type { StoreReader } from '../reader.ts';
import { importFiles } from './importFiles.ts';
import { rowHash } from './rowHash.ts';
import { rowValue } from './rowValues.ts';

const START = formatTime(Date.UTC(2026, 10, 20, 12));
const GAP = {
  ...{ market_id: 'm', gap_id: 'gap_1', start: START, end: START, start_received: START },
  ...{ end_received: START, cause: 'disconnected', feed: 'f', repaired_by: null },
  ...{ known_time: START, known_seq: 1, seq: 2 },
};

test('the file of one market is compared with the stored rows of that market alone', async () => {
  const path = join(temporaryDirectory(onTestFinished), 'gaps.jsonl');
  await writeExportedFile(path, { dataset: 'gaps', rows: [GAP], gaps: [] });
  const columns = EXPORT_COLUMNS.gaps;
  const own = rowHash(
    columns,
    columns.map((column) => rowValue(column, GAP[column.name as keyof typeof GAP])),
  );
  // The store has a gap of another market too.
  const stream: StoreReader['stream'] = async (query) =>
    Readable.from([
      query.includes('t.market_id IN') ? own : Buffer.concat([own, hash('sha256', 'x', 'buffer')]),
    ]);
  const inserted: string[] = [];
  const insert = async (records: readonly { kind: string }[]) => {
    inserted.push(...records.map(({ kind }) => kind));
  };
  const parts = {
    store: { stream },
    writer: { insert },
    onFile: () => {},
    signal: new AbortController().signal,
  };
  const imported = await importFiles([path], parts as never);
  expect(imported).toEqual({ files: 1, rows: { gaps: 1 }, skipped: [] });
  expect(inserted).toEqual(['gap']);
});
