import { pipeline, type Readable, Transform, type TransformCallback } from 'node:stream';
import type { ExportDataset, ExportFormat, ExportSubject } from '../schema/export.ts';
import { exportColumns, exportRows } from './queries/exports.ts';
import type { StoreReader } from './reader.ts';

/** How the engine prints each; it would repeat CSV's header line with every block, so that line is ours. */
const ENGINE_FORMATS: Readonly<Record<ExportFormat, { format: string; settings: Record<string, number> }>> = {
  jsonl: { format: 'JSONEachRow', settings: { output_format_json_escape_forward_slashes: 0 } },
  csv: { format: 'CSV', settings: {} },
};

/**
 * A recording as a file, as the engine prints it and no faster than it is read.
 * @returns Fails where the engine does, and never ends as if it were whole; destroying it ends the query.
 * @throws {StoreUnavailableError} After bounded retries.
 */
export async function openExport(
  store: StoreReader,
  subject: ExportSubject,
  options: { startMs: number | null; endMs: number | null; format: ExportFormat; signal: AbortSignal },
): Promise<Readable> {
  const { format, signal } = options;
  const { query, params } = exportRows(subject, options);
  const rows = await store.stream(query, { ...params }, { ...ENGINE_FORMATS[format], signal });
  if (format === 'jsonl') return rows;
  // Either end's failure, and a file nobody reads any more, destroys the other end.
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
