/** Rows of exports that the engine does not store: this module prints them as the engine prints its own. */
import { zstdCompressSync } from 'node:zlib';
import { ByteWriter, type ColumnSource, parquetWrite } from 'hyparquet-writer';
import {
  type ControlDataset,
  type ControlSubject,
  EXPORT_COLUMNS,
  type ExportColumn,
  type ExportFormat,
  type ExportRange,
  type ExportSubject,
  type StoredSubject,
} from '../../schema/export.ts';
import { formatTime } from '../../schema/time.ts';
import { exportSources, type RowSource } from '../queries/exports.ts';
import type { StoreReader } from '../reader.ts';
import type { RowValue, RowValues } from './rowValues.ts';

/** The rows of one export from the control database. */
interface ControlRows {
  readonly dataset: ControlDataset;
  /** The same rows in the same order each time, as long as the database does not change. */
  read(): AsyncIterable<RowValues>;
}

export type ExportSource = RowSource | ControlRows;

/** What exports read: the engine, and the rows of the control database. */
export interface ExportReader {
  readonly store: StoreReader;
  controlRows(subject: ControlSubject, range: ExportRange): ControlRows;
}

const isControl = (subject: ExportSubject): subject is ControlSubject =>
  subject.dataset === 'signals' || 'jobId' in subject;

/** The sources that together give the rows of a subject, in their order. */
export async function openSources(
  reader: ExportReader,
  subject: ExportSubject,
  options: { range: ExportRange; signal: AbortSignal },
): Promise<ExportSource[]> {
  if (isControl(subject)) return [reader.controlRows(subject, options.range)];
  return await exportSources(reader.store, subject as StoredSubject, options);
}

/** The rows as lines of JSON or CSV, without CSV's header. */
export async function* controlLines(
  { dataset, read }: ControlRows,
  format: Exclude<ExportFormat, 'parquet'>,
): AsyncGenerator<Buffer> {
  const columns = EXPORT_COLUMNS[dataset];
  const line = format === 'csv' ? csvLine : jsonLine;
  for await (const row of read()) yield Buffer.from(`${line(columns, row)}\n`);
}

/** The rows as complete Parquet files of so many rows each; without rows, one file that has the columns. */
export async function* controlParquet(
  { dataset, read }: ControlRows,
  rowGroupRows: number,
): AsyncGenerator<Buffer> {
  const columns = EXPORT_COLUMNS[dataset];
  let rows: RowValues[] = [];
  let files = 0;
  for await (const row of read()) {
    rows.push(row);
    if (rows.length < rowGroupRows) continue;
    files++;
    yield parquetOf(columns, rows);
    rows = [];
  }
  if (rows.length > 0 || files === 0) yield parquetOf(columns, rows);
}

function jsonLine(columns: readonly ExportColumn[], row: RowValues): string {
  return JSON.stringify(
    Object.fromEntries(columns.map(({ name, kind }, at) => [name, printed(kind, row[at] as RowValue)])),
  );
}

function csvLine(columns: readonly ExportColumn[], row: RowValues): string {
  return columns.map(({ kind }, at) => cellOf(kind, printed(kind, row[at] as RowValue))).join(',');
}

function printed(kind: ExportColumn['kind'], value: RowValue): RowValue {
  return kind === 'time' && value !== null ? formatTime(value as number) : value;
}

/** The first characters of a text that a spreadsheet would run, and the apostrophe that keeps it from that. */
const FORMULA = /^['=+@\t\r-]/;

function cellOf(kind: ExportColumn['kind'], value: RowValue): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const safe = kind === 'text' && FORMULA.test(value) ? `'${value}` : value;
  return `"${safe.replaceAll('"', '""')}"`;
}

interface ParquetKind {
  readonly type: 'INT64' | 'BYTE_ARRAY' | 'BOOLEAN' | 'DOUBLE';
  readonly converted_type?: 'TIMESTAMP_MILLIS' | 'UTF8' | 'UINT_64';
  readonly logical_type?: {
    readonly type: 'TIMESTAMP';
    readonly isAdjustedToUTC: true;
    readonly unit: 'MILLIS';
  };
}

/** Control rows have no ladders. */
const PARQUET_KINDS: Readonly<Record<Exclude<ExportColumn['kind'], 'levels' | 'pairs'>, ParquetKind>> = {
  time: {
    ...{ type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  bool: { type: 'BOOLEAN' },
  float: { type: 'DOUBLE' },
  uint: { type: 'INT64', converted_type: 'UINT_64' },
};

function parquetOf(columns: readonly ExportColumn[], rows: readonly RowValues[]): Buffer {
  const writer = new ByteWriter();
  const schema = columns.map(({ name, kind, nullable }) => ({
    ...{ name, repetition_type: nullable ? ('OPTIONAL' as const) : ('REQUIRED' as const) },
    ...PARQUET_KINDS[kind as keyof typeof PARQUET_KINDS],
  }));
  parquetWrite({
    writer,
    schema: [{ name: 'schema', num_children: columns.length }, ...schema],
    columnData: columns.map(({ name, kind }, at): ColumnSource => {
      return { name, data: rows.map((row) => parquetValue(kind, row[at] as RowValue)) };
    }),
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    rowGroupSize: Math.max(rows.length, 1),
  });
  return Buffer.from(writer.getBuffer());
}

function parquetValue(kind: ExportColumn['kind'], value: RowValue): unknown {
  if (value === null) return null;
  if (kind === 'time') return new Date(value as number);
  return kind === 'uint' ? BigInt(value as number) : value;
}
