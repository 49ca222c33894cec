import { parquetMetadata } from 'hyparquet';
import { expect, test } from 'vitest';
import { EXPORT_COLUMNS } from '../../schema/export.ts';
import { controlParquet } from './controlRows.ts';
import type { RowValues } from './rowValues.ts';

const ROW: RowValues = EXPORT_COLUMNS.job_cells.map(({ kind }) => (kind === 'text' ? 'x' : 1));

/** The rows of each file, and the names of its columns. */
async function filesOf(rows: number) {
  const read = async function* () {
    for (let row = 0; row < rows; row++) yield ROW;
  };
  const files = [];
  for await (const file of controlParquet({ dataset: 'job_cells', read }, 2)) {
    const { num_rows: count, schema } = parquetMetadata(Uint8Array.from(file).buffer);
    files.push({ count: Number(count), names: schema.slice(1).map(({ name }) => name) });
  }
  return files;
}

test.each([
  [0, [0]],
  [1, [1]],
  [2, [2]],
  [3, [2, 1]],
])(
  '%i rows of the control database are Parquet files of %j rows, all with the columns',
  async (rows, counts) => {
    const names = EXPORT_COLUMNS.job_cells.map(({ name }) => name);
    expect(await filesOf(rows)).toEqual(counts.map((count) => ({ count, names })));
  },
);
