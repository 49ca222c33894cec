/** The rows of an exported file, in every format, with a bounded part of the file in memory. */
import { createReadStream } from 'node:fs';
import { zstdDecompressSync } from 'node:zlib';
import { type AsyncBuffer, asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { MIB } from '../../runtime/byteUnits.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import type { ExportColumn, ExportFormat } from '../../schema/export.ts';
import { type CsvCell, cellValue, type RowValues, rowValue } from './rowValues.ts';

/**
 * Yields the rows of a file in its order.
 * @throws {InvalidInputError} Names the row that cannot be read.
 */
export async function* rowsOfFile(
  path: string,
  { format, columns }: { format: ExportFormat; columns: readonly ExportColumn[] },
): AsyncGenerator<RowValues> {
  let row = 0;
  const read = READERS[format](path, columns);
  for (;;) {
    try {
      const next = await read.next();
      if (next.done) return;
      row++;
      yield next.value;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== undefined && !(error instanceof InvalidInputError))
        throw error;
      throw new InvalidInputError(`row ${row + 1}: ${(error as Error).message}`, { cause: error });
    }
  }
}

type ReadRows = (path: string, columns: readonly ExportColumn[]) => AsyncGenerator<RowValues>;
const READERS: Readonly<Record<ExportFormat, ReadRows>> = {
  jsonl: jsonRows,
  csv: csvRows,
  parquet: parquetRows,
};

async function* jsonRows(path: string, columns: readonly ExportColumn[]): AsyncGenerator<RowValues> {
  for await (const line of linesOf(path)) {
    const object = JSON.parse(line) as Record<string, unknown>;
    sameNames(Object.keys(object), columns);
    yield columns.map((column) => rowValue(column, object[column.name]));
  }
}

const NEWLINE = 0x0a;
/** Many times the longest row of an export. A damaged file, whose rows have no end, must not fill the memory. */
const ROW_BYTES_MAX = 64 * MIB;
const TOO_LONG = `it has more than ${ROW_BYTES_MAX} bytes`;

/** Only a line feed ends a line: other line ends may be in a text. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let pieces: Buffer[] = [];
  let length = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      if (length === 0) yield chunk.toString('utf8', start, end);
      else yield Buffer.concat([...pieces, chunk.subarray(start, end)]).toString('utf8');
      [pieces, length] = [[], 0];
      start = end + 1;
    }
    if (start === chunk.length) continue;
    pieces.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > ROW_BYTES_MAX) throw new InvalidInputError(TOO_LONG);
  }
  if (length > 0) throw new InvalidInputError('the file ends inside a line');
}

async function* csvRows(path: string, columns: readonly ExportColumn[]): AsyncGenerator<RowValues> {
  let hasHeader = false;
  for await (const cells of csvRecords(path)) {
    if (!hasHeader) {
      sameNames(
        cells.map(({ text }) => text),
        columns,
      );
      hasHeader = true;
    } else if (cells.length !== columns.length) {
      throw new InvalidInputError(`${cells.length} cells, not ${columns.length}`);
    } else yield columns.map((column, index) => cellValue(column, cells[index] as CsvCell));
  }
  if (!hasHeader) throw new InvalidInputError('the file has no header');
}

/** A record may have line feeds inside quotes: it ends at the first one after an even number of quotes. */
async function* csvRecords(path: string): AsyncGenerator<CsvCell[]> {
  let lines: string[] = [];
  let length = 0;
  let isQuoted = false;
  for await (const line of linesOf(path)) {
    lines.push(line);
    length += line.length + 1;
    if (length > ROW_BYTES_MAX) throw new InvalidInputError(`a quoted text has no end: ${TOO_LONG}`);
    if (line.split('"').length % 2 === 0) isQuoted = !isQuoted;
    if (isQuoted) continue;
    yield cellsOf(lines.join('\n'));
    [lines, length] = [[], 0];
  }
  if (isQuoted) throw new InvalidInputError('the file ends inside a quoted text');
}

function cellsOf(record: string): CsvCell[] {
  const cells: CsvCell[] = [];
  let at = 0;
  for (;;) {
    const isQuoted = record[at] === '"';
    let text = '';
    if (isQuoted) {
      for (at++; ; at++) {
        const end = record.indexOf('"', at);
        if (end < 0) throw new InvalidInputError('a quoted text has no end');
        text += record.slice(at, end);
        at = end + 1;
        if (record[at] !== '"') break;
        text += '"';
      }
    } else {
      const end = record.indexOf(',', at);
      text = record.slice(at, end < 0 ? undefined : end);
      at += text.length;
    }
    cells.push({ text, isQuoted });
    if (at >= record.length) return cells;
    if (record[at] !== ',') throw new InvalidInputError(`${JSON.stringify(record[at])} after a quoted text`);
    at++;
  }
}

async function* parquetRows(path: string, columns: readonly ExportColumn[]): AsyncGenerator<RowValues> {
  const file = await openParquet(path);
  const metadata = await parquetMetadataAsync(file);
  const roots = metadata.schema[0]?.num_children ?? 0;
  const parsers = { compressors: { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) } };
  sameNames(topLevelNames(metadata.schema, roots), columns);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await parquetReadObjects({ file, metadata, rowStart, rowEnd, ...parsers });
    for (const row of rows) yield columns.map((column) => rowValue(column, row[column.name]));
    rowStart = rowEnd;
  }
}

async function openParquet(path: string): Promise<AsyncBuffer> {
  return await asyncBufferFromFile(path);
}

function topLevelNames(schema: readonly { name: string; num_children?: number }[], roots: number): string[] {
  const names: string[] = [];
  let at = 1;
  const skip = () => {
    const { num_children: children = 0 } = schema[at++] as { num_children?: number };
    for (let i = 0; i < children; i++) skip();
  };
  for (let i = 0; i < roots; i++) {
    names.push((schema[at] as { name: string }).name);
    skip();
  }
  return names;
}

function sameNames(names: readonly string[], columns: readonly ExportColumn[]): void {
  const expected = columns.map(({ name }) => name);
  if (names.length === expected.length && names.every((name, index) => name === expected[index])) return;
  throw new InvalidInputError(`the columns are ${names.join(', ')}, not ${expected.join(', ')}`);
}
