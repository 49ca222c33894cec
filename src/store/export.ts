import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import {
  type ExportDataset,
  type ExportFormat,
  type ExportSubject,
  PARQUET_ROWS_MAX,
  PARQUET_ROWS_TEXT,
} from '../schema/export.ts';
import { type ExportRange, exportColumns, exportCount, exportRows } from './queries/exports.ts';
import type { StoreReader } from './reader.ts';

/**
 * Engine format of each export format. The engine would repeat CSV's header line with every block, so this module
 * writes that line.
 */
const ENGINE_FORMATS: Readonly<
  Record<ExportFormat, { format: string; settings: Readonly<Record<string, string | number>> }>
> = {
  jsonl: { format: 'JSONEachRow', settings: { output_format_json_escape_forward_slashes: 0 } },
  csv: { format: 'CSV', settings: {} },
  parquet: {
    format: 'Parquet',
    settings: {
      output_format_parquet_compression_method: 'zstd',
      output_format_parquet_row_group_size: 20_000,
    },
  },
};

interface Asked extends ExportRange {
  readonly format: ExportFormat;
  readonly signal: AbortSignal;
}

/** Returns why the recording is too long for the format, as a sentence; null when it is not. */
export async function whyTooLong(
  store: StoreReader,
  subject: ExportSubject,
  { format, signal, ...range }: Asked,
): Promise<string | null> {
  if (format !== 'parquet') return null;
  const { query, params } = exportCount(subject, range);
  const [found] = await store.rows<{ total: string }>(query, { ...params }, { signal });
  const total = Number(found?.total);
  if (total <= PARQUET_ROWS_MAX) return null;
  const rows = total.toLocaleString('en-US');
  return `${rows} rows; a Parquet file holds at most ${PARQUET_ROWS_TEXT}: name a shorter range, or another format`;
}

/**
 * Streams a recording as a file, printed by the engine at the reader's pace.
 * @returns A stream that fails where the engine fails and never ends early as if complete; destroying it ends the
 * query.
 * @throws {StoreUnavailableError} After bounded retries.
 */
export async function openExport(
  store: StoreReader,
  subject: ExportSubject,
  { format, signal, ...range }: Asked,
): Promise<Readable> {
  const times = format === 'parquet' ? 'moments' : 'texts';
  const { query, params } = exportRows(subject, { ...range, times, isSpreadsheet: format === 'csv' });
  const rows = await store.stream(query, { ...params }, { ...ENGINE_FORMATS[format], signal });
  if (format !== 'csv') return rows;
  // A failure or a close at either end destroys the other end.
  return pipeline(rows, new CsvHeader(subject.dataset), () => {});
}

class CsvHeader extends Transform {
  #header: string | null;

  constructor(dataset: ExportDataset) {
    super();
    this.#header = `${exportColumns(dataset).join(',')}\n`;
  }

  override _transform(rows: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#begin();
    done(null, rows);
  }

  override _flush(done: TransformCallback): void {
    this.#begin();
    done();
  }

  #begin(): void {
    if (this.#header !== null) this.push(this.#header);
    this.#header = null;
  }
}
