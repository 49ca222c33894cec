/** Files of exports: bytes as the engine prints them, at the reader's pace. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { EXPORT_COLUMNS, type ExportDataset, type ExportFormat } from '../../schema/export.ts';
import type { RowForm } from '../queries/exportColumns.ts';
import {
  exportRows,
  type Place,
  type RowSource,
  type Stretch,
  stretchEnds,
  WHOLE,
} from '../queries/exports.ts';
import type { StoreReader } from '../reader.ts';
import { controlLines, controlParquet, type ExportSource } from './controlRows.ts';
import { ParquetJoiner } from './parquetFile.ts';

/**
 * Rows of one row group: the engine builds it in memory (about 70 MB for books of 20 levels per side), and this process
 * keeps two of them in their compressed form.
 */
const ROW_GROUP_ROWS = 50_000;

type Settings = Readonly<Record<string, string | number>>;
interface EngineFormat {
  readonly format: string;
  readonly form: RowForm;
  readonly settings: Settings;
}

/** The engine would repeat CSV's header line with every block, so this module writes that line. */
const TEXT_FORMATS: Readonly<Record<Exclude<ExportFormat, 'parquet'>, EngineFormat>> = {
  jsonl: {
    ...{ format: 'JSONEachRow', form: 'json' },
    settings: { output_format_json_escape_forward_slashes: 0 },
  },
  csv: { format: 'CSV', form: 'spreadsheet', settings: { format_csv_null_representation: '' } },
};
const PARQUET: EngineFormat = {
  ...{ format: 'Parquet', form: 'typed' },
  settings: {
    output_format_parquet_compression_method: 'zstd',
    output_format_parquet_row_group_size: ROW_GROUP_ROWS,
    // Both are outside of the row groups; `ParquetJoiner` would drop them.
    output_format_parquet_write_page_index: 0,
    output_format_parquet_write_bloom_filter: 0,
    // Sizes and prices repeat near one another: zstd alone gives smaller files for less time than with dictionaries
    // (books of 20 levels per side: 4.1 against 6.2 MB for 100,000, 0.53 against 0.66 s of processor time, 2026-11-23).
    output_format_parquet_max_dictionary_size: 0,
    // Two row groups are made at a time, each by one thread: dividing one among threads costs more processor time
    // (4.5 against 4.9 s for 1,000,000 books of 20 levels per side, 2026-11-23).
    max_threads: 1,
    output_format_parquet_parallel_encoding: 0,
    // The blocks of an answer in one piece need not be small.
    max_block_size: 65_409,
  },
};

interface ExportOptions {
  readonly dataset: ExportDataset;
  readonly format: ExportFormat;
  readonly signal: AbortSignal;
  /** Rows of one row group, for tests. */
  readonly rowGroupRows?: number;
}

/**
 * Streams the rows of all sources as one file.
 * @returns A stream that fails where the engine fails and never ends early as if complete; destroying it ends the
 * query.
 */
export function openExport(
  store: StoreReader,
  sources: readonly ExportSource[],
  options: ExportOptions,
): Readable {
  const closed = new AbortController();
  const own = { ...options, signal: AbortSignal.any([options.signal, closed.signal]) };
  const pieces = options.format === 'parquet' ? parquet(store, sources, own) : texts(store, sources, own);
  return fileOf(pieces, () => closed.abort());
}

/** @param onClose Called first: a generator that waits for the engine could not return before the next rows. */
function fileOf(pieces: AsyncGenerator<Buffer>, onClose: () => void): Readable {
  return new Readable({
    read() {
      pieces.next().then(
        ({ done, value }) => this.push(done ? null : value),
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      onClose();
      const end = () => done(error);
      pieces.return(undefined).then(end, end);
    },
  });
}

async function* texts(
  store: StoreReader,
  sources: readonly ExportSource[],
  { dataset, format, signal }: ExportOptions,
): AsyncGenerator<Buffer> {
  if (format === 'parquet') return;
  const { form, ...engine } = TEXT_FORMATS[format];
  if (format === 'csv') yield Buffer.from(`${EXPORT_COLUMNS[dataset].map(({ name }) => name).join(',')}\n`);
  for (const source of sources) {
    if ('read' in source) {
      yield* controlLines(source, format);
      continue;
    }
    const { query, params } = exportRows(source, form);
    yield* await store.stream(query, params, { ...engine, signal });
  }
}

async function* parquet(
  store: StoreReader,
  sources: readonly ExportSource[],
  { signal, rowGroupRows = ROW_GROUP_ROWS }: ExportOptions,
): AsyncGenerator<Buffer> {
  const joiner = new ParquetJoiner();
  const { form, ...engine } = PARQUET;
  const settings = { ...engine.settings, output_format_parquet_row_group_size: rowGroupRows };
  const load = async (part: Part) => {
    if ('file' in part) return part.file;
    const { source, stretch } = part;
    const { query, params } = exportRows(source, form, stretch);
    return await buffer(await store.stream(query, params, { ...engine, settings, signal }));
  };
  for await (const file of ahead(parts(store, sources, { signal, rowGroupRows }), load))
    yield joiner.add(file);
  yield joiner.end();
}

/** Rows of a row group: a stretch of the engine's, or a complete file of other rows. */
type Part = { readonly source: RowSource; readonly stretch: Stretch } | { readonly file: Buffer };

/** Loads the next part while the reader still has the present one. */
async function* ahead<P, T>(all: AsyncIterable<P>, load: (part: P) => Promise<T>): AsyncGenerator<T> {
  let next: Promise<T> | null = null;
  try {
    for await (const part of all) {
      const loading = load(part);
      // It is awaited later; a failure before that must not end the process.
      loading.catch(() => undefined);
      if (next !== null) yield await next;
      next = loading;
    }
    if (next !== null) yield await next;
  } finally {
    await next?.catch(() => undefined);
  }
}

async function* parts(
  store: StoreReader,
  sources: readonly ExportSource[],
  { signal, rowGroupRows }: { signal: AbortSignal; rowGroupRows: number },
): AsyncGenerator<Part> {
  for (const source of sources) {
    if ('read' in source) {
      for await (const file of controlParquet(source, rowGroupRows)) yield { file };
      continue;
    }
    if (source.dataset === 'markets' || source.dataset === 'gaps') {
      yield { source, stretch: WHOLE };
      continue;
    }
    const { query, params } = stretchEnds(source, rowGroupRows);
    const ends = await store.rows<Place>(query, params, { signal });
    for (const [index, upTo] of ends.entries())
      yield { source, stretch: { after: ends[index - 1] ?? null, upTo } };
    yield { source, stretch: { after: ends.at(-1) ?? null, upTo: null } };
  }
}
