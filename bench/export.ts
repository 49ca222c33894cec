/**
 * Parquet of many books: speed beside a file that the engine writes alone, and the memory of both processes.
 * `EXPORT_ROWS` sets the number of books, 50,000,000 for the goal of the issue.
 */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import { StoreClient } from '../src/store/engine/client.ts';
import { reachEngine } from '../src/store/engine/engineAccess.ts';
import { buildManifest, hashRows } from '../src/store/export/manifest.ts';
import { openExport } from '../src/store/export/openExport.ts';
import { exportRows, exportSources, type RowSource } from '../src/store/queries/exports.ts';
import { openStore, type Store } from '../src/store/store.ts';
import { DATABASE, TABLES, writtenColumns } from '../src/store/tables/schema.ts';
import type { Figure } from './figure.ts';
import { cpuMs, residentMb } from './processCost.ts';
import { bookSource } from './storeBooks.ts';

const ROWS = Number(process.env.EXPORT_ROWS ?? '1000000');
/** Written row by row; the engine then copies them. */
const WRITTEN_ROWS = 100_000;
const MARKETS = 4;
const LEVELS = 20;
const START_MS = Date.UTC(2026, 10, 20);
const ROW_MS = 5;
const SAMPLE_MS = 50;
const NEVER = new AbortController().signal;
const RANGE = { startMs: null, endMs: null };

export async function run(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-bench-'));
  const parts = { clock: systemClock, log: silentLogger };
  const metrics = new Metrics();
  const access = await reachEngine({ ...parts, dataDir, clickhouseUrl: null, metrics });
  const store = await openStore({
    ...{ ...parts, dataDir, clickhouseUrl: null, metrics, engine: Promise.resolve(access) },
  });
  try {
    const client = new StoreClient({ access, ...parts });
    const marketIds = await fill(store, client);
    const subject = { dataset: 'snapshots', markets: { marketIds } } as const;
    const sources = await exportSources(store, subject, { range: RANGE, signal: NEVER });
    const alone = await timed(() => engineFiles(client, sources, dataDir));
    const pids = [process.pid, ...(access.hostPid === null ? [] : [access.hostPid])];
    const usedMs = cpuMs(pids);
    const memory = watchMemory(pids);
    const path = join(dataDir, 'books.parquet');
    const asked = { dataset: 'snapshots', format: 'parquet', signal: NEVER } as const;
    const written = await timed(() => pipeline(openExport(store, sources, asked), createWriteStream(path)));
    const cpuSeconds = (cpuMs(pids) - usedMs) / 1_000;
    const [own = 0, engine = 0] = memory();
    const { num_rows: rows } = await parquetMetadataAsync(await asyncBufferFromFile(path));
    if (Number(rows) !== ROWS) throw new Error(`${rows} of ${ROWS} rows in the file`);
    const file = { name: 'books.parquet', bytes: null, sha256: null };
    const described = { subject, range: RANGE, format: 'parquet', file, signal: NEVER } as const;
    const hashed = await timed(async () =>
      buildManifest(store, sources, { ...described, hashed: await hashRows(store, sources, NEVER) }),
    );
    const name = `books of ${LEVELS} levels per side to one Parquet file`;
    return [
      { name, value: ROWS / written, unit: 'rows/s', goal: '>= 300,000' },
      {
        name: 'processor time for 1,000,000 of them, of both processes',
        value: (cpuSeconds / ROWS) * 1e6,
        unit: 's',
        goal: '<= 6.6 with two processors',
      },
      {
        name: 'beside the files that the engine writes alone',
        value: alone / written,
        unit: 'x',
        goal: '>= 0.7',
        better: 'more',
      },
      { name: 'the hash of the rows, for a manifest', value: ROWS / hashed, unit: 'rows/s' },
      { name: 'memory that this process gains meanwhile', value: own, unit: 'MB', goal: '<= 200' },
      { name: 'memory that the engine gains meanwhile', value: engine, unit: 'MB', goal: '<= 600' },
    ];
  } finally {
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function fill(store: Store, client: StoreClient): Promise<readonly string[]> {
  const source = bookSource({ markets: MARKETS, levels: LEVELS, seed: 1 });
  for (let seq = 1; seq <= WRITTEN_ROWS; seq++) {
    store.writer.book(source.next(seq, START_MS + seq * ROW_MS));
    if (seq % 10_000 === 0) await store.writer.flush();
  }
  const columns = writtenColumns(TABLES.books).map(({ name }) => name);
  for (let copy = 1; copy * WRITTEN_ROWS < ROWS; copy++) {
    const [rows, later] = [copy * WRITTEN_ROWS, copy * WRITTEN_ROWS * ROW_MS];
    const moved = columns.map((name) => {
      if (name === 'seq') return `seq + ${rows}`;
      return name === 'ts' || name === 'received' ? `${name} + toIntervalMillisecond(${later})` : name;
    });
    await client.command(
      `INSERT INTO ${DATABASE}.books (${columns.join(', ')}) SELECT ${moved.join(', ')} FROM ${DATABASE}.books
       WHERE seq <= ${Math.min(WRITTEN_ROWS, ROWS - rows)}
         -- A statement may be tried again.
         AND (SELECT max(seq) FROM ${DATABASE}.books) = ${rows}`,
    );
  }
  return source.marketIds;
}

/** The same rows and settings, one file for each market, without any other process. */
async function engineFiles(
  client: StoreClient,
  sources: readonly RowSource[],
  dataDir: string,
): Promise<void> {
  for (const [index, source] of sources.entries()) {
    const { query, params } = exportRows(source, 'typed');
    const marketId = String(params.market_id);
    const file = join(dataDir, `engine-${index}.parquet`);
    await client.command(
      `INSERT INTO FUNCTION file('${file}', 'Parquet') ${query.replaceAll('{market_id:String}', `'${marketId}'`)}`,
      {
        output_format_parquet_compression_method: 'zstd',
        output_format_parquet_row_group_size: 50_000,
        // A statement may be tried again.
        engine_file_truncate_on_insert: 1,
      },
    );
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

/** @returns A function that ends the watch and gives the most megabytes gained by this process and by the engine's. */
function watchMemory(pids: readonly number[]): () => readonly number[] {
  const now = () => pids.map((pid) => residentMb([pid]));
  const first = now();
  const most = pids.map(() => 0);
  const sample = () => {
    for (const [index, mb] of now().entries()) {
      most[index] = Math.max(most[index] as number, mb - (first[index] as number));
    }
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    sample();
    return most;
  };
}
