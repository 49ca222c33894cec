import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { EXPORT_COLUMNS, type ExportDataset } from '../../src/schema/export.ts';
import { RowHasher } from '../../src/store/export/rowHash.ts';
import { rowValue } from '../../src/store/export/rowValues.ts';
import { hashFile, manifestPath } from '../../src/store/export/writtenFile.ts';

/** Values by the columns' names, as JSON lines have them. */
type Row = Readonly<Record<string, unknown>>;

/**
 * Writes a file of JSON lines with its manifest, as if its rows had been exported.
 * @param rows Columns that are left out are null, true, 0 or empty.
 * @param gaps Rows of the dataset `gaps`.
 */
export async function writeExportedFile(
  path: string,
  { dataset, rows, gaps }: { dataset: ExportDataset; rows: readonly Row[]; gaps: readonly Row[] },
): Promise<void> {
  const columns = EXPORT_COLUMNS[dataset];
  const whole = rows.map((row) =>
    Object.fromEntries(
      columns.map(({ name, kind, nullable }) => {
        const otherwise = nullable ? null : kind === 'bool' ? true : kind === 'text' ? '' : 0;
        return [name, name in row ? row[name] : otherwise];
      }),
    ),
  );
  writeFileSync(path, whole.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const hasher = new RowHasher(columns);
  for (const row of whole) hasher.add(columns.map((column) => rowValue(column, row[column.name])));
  const manifest = {
    manifest_version: 1,
    file: { name: basename(path), format: 'jsonl', ...(await hashFile(path)) },
    ...{ rows: rows.length, data_sha256: hasher.digest() },
    columns: columns.map(({ name, kind, nullable, unit }) => ({ name, type: kind, nullable, unit })),
    asked: {
      ...{ dataset, market_ids: ['m'], ticker: null, event_type: null },
      ...{ source: null, venue: null, start: null, end: null },
    },
    ...{ gaps, made_by: { release: '1', engine: '1' } },
  };
  writeFileSync(manifestPath(path), JSON.stringify(manifest));
}
