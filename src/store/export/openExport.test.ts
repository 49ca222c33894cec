import { once } from 'node:events';
import { addAbortSignal, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { zstdDecompressSync } from 'node:zlib';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bookRecord } from '../../../test/support/api.ts';
import { openTestStore, type TestStore } from '../../../test/support/store.ts';
import { StoreUnavailableError } from '../../runtime/errors.ts';
import {
  exportRows,
  exportSources,
  marketSource,
  type RowSource,
  type Stretch,
  WHOLE,
} from '../queries/exports.ts';
import type { StoreReader } from '../reader.ts';
import { openExport } from './openExport.ts';

const T0 = Date.UTC(2026, 10, 20, 12);
const MARKETS = ['0xa', '0xb'];
const ROWS = 50;
const ROW_GROUP_ROWS = 8;
const NEVER = new AbortController().signal;
const RANGE = { startMs: null, endMs: null };

let opened: TestStore;
let sources: readonly RowSource[];
beforeAll(async () => {
  opened = await openTestStore();
  for (let row = 0; row < ROWS; row++) {
    const [timeMs, yesBids] = [T0 + (row >> 2), [[5_000 + row, 1_000_000]] as [number, number][]];
    for (const [index, marketId] of MARKETS.entries())
      opened.store.writer.book(
        bookRecord({ seq: row * 2 + index + 1, marketId, timeMs, yesBids, yesAsks: [] }),
      );
  }
  await opened.store.writer.flush();
  const subject = { dataset: 'snapshots', markets: { marketIds: MARKETS } } as const;
  sources = await exportSources(opened.store, subject, { range: RANGE, signal: NEVER });
});
afterAll(() => opened?.dispose());

const options = {
  dataset: 'snapshots',
  format: 'parquet',
  signal: NEVER,
  rowGroupRows: ROW_GROUP_ROWS,
} as const;

const arrayBuffer = (bytes: Buffer) =>
  bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;

/** A store that counts the statements for rows; `onStream` may replace the answer. */
function watched(onStream: (started: number) => Readable | null = () => null) {
  const seen = { started: 0 };
  const store: StoreReader = {
    rows: (query, params, more) => opened.store.rows(query, params, more),
    stream: async (query, params, more) =>
      onStream(++seen.started) ?? (await opened.store.stream(query, params, more)),
  };
  return { store, seen };
}

describe('the statement for a stretch of a market', () => {
  test('reads the granules of the stretch, not all of the market', async () => {
    const { store } = opened;
    const [marketId, rows] = ['0xlong', 40_000];
    for (let row = 0; row < rows; row++) {
      const [seq, timeMs] = [1_000 + row, T0 + row];
      store.writer.book(bookRecord({ seq, marketId, timeMs, yesBids: [], yesAsks: [] }));
    }
    await store.writer.flush();
    const source = marketSource('snapshots', marketId, RANGE);
    const granulesOf = async (stretch: Stretch) => {
      const { query, params } = exportRows(source, 'typed', stretch);
      const plan = await store.rows<{ explain: string }>(`EXPLAIN indexes = 1 ${query}`, params);
      const read = plan.flatMap(({ explain }) => /Granules: (\d+)\//.exec(explain)?.[1] ?? []);
      return Number(read.at(-1));
    };
    const [all, one] = await Promise.all([
      granulesOf(WHOLE),
      granulesOf({
        after: { tsMs: T0 + 20_000, seq: 21_000 },
        upTo: { tsMs: T0 + 20_007, seq: 21_007 },
      }),
    ]);
    expect(all).toBeGreaterThanOrEqual(Math.floor(rows / 8_192));
    expect(one).toBeLessThanOrEqual(2);
  });
});

describe('a Parquet file of several statements', () => {
  test('has every row once and in order, in row groups of bounded size', async () => {
    const { store, seen } = watched();
    const file = arrayBuffer(await buffer(openExport(store, sources, options)));
    const metadata = parquetMetadata(file);
    const perMarket = Math.ceil(ROWS / ROW_GROUP_ROWS);
    expect(seen.started).toBe(perMarket * MARKETS.length);
    expect(metadata.row_groups.map((group) => Number(group.num_rows))).toEqual(
      MARKETS.flatMap(() => [...Array(perMarket - 1).fill(ROW_GROUP_ROWS), ROWS % ROW_GROUP_ROWS]),
    );
    // Readers that divide a file by its row groups find each where its first column begins.
    expect(metadata.row_groups.map((group) => group.file_offset)).toEqual(
      metadata.row_groups.map(({ columns: [first] }) => first?.meta_data?.data_page_offset),
    );
    const columns = ['market_id', 'seq'];
    const rows = await parquetReadObjects({
      file,
      columns,
      compressors: { ZSTD: (bytes) => zstdDecompressSync(bytes) },
    });
    expect(rows).toEqual(
      MARKETS.flatMap((id, index) =>
        Array.from({ length: ROWS }, (_, row) => ({ market_id: id, seq: BigInt(row * 2 + index + 1) })),
      ),
    );
  });

  test('without rows has the columns', async () => {
    const subject = { dataset: 'snapshots', markets: { ticker: 'BTC', eventType: '5m' } } as const;
    const none = await exportSources(opened.store, subject, { range: RANGE, signal: NEVER });
    const metadata = parquetMetadata(arrayBuffer(await buffer(openExport(opened.store, none, options))));
    expect([Number(metadata.num_rows), metadata.schema[1]?.name]).toEqual([0, 'market_id']);
  });
});

describe('a reader', () => {
  test('that reads nothing lets only a bounded number of statements start', async () => {
    const { store, seen } = watched();
    const file = openExport(store, sources, options);
    const pieces = file[Symbol.asyncIterator]();
    await pieces.next();
    // The stream's own buffer holds a few small row groups; the generator is at most one statement ahead.
    expect(seen.started).toBeLessThan(Math.ceil(ROWS / ROW_GROUP_ROWS) * MARKETS.length);
    file.destroy();
  });

  test.each(['parquet', 'csv', 'jsonl'] as const)(
    'of %s gets an error in the middle, never a short file',
    async (format) => {
      const failed = new StoreUnavailableError('the store did not answer: gone');
      const breaks = format === 'parquet' ? 3 : 2;
      const failing = () =>
        new Readable({
          read() {
            this.destroy(failed);
          },
        });
      const { store } = watched((started) => (started === breaks ? failing() : null));
      await expect(buffer(openExport(store, sources, { ...options, format }))).rejects.toBe(failed);
    },
  );

  test('that leaves ends the statement, also one that has no rows yet', async () => {
    const silent = new Readable({ read() {} });
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const store: StoreReader = {
      rows: (query, params, more) => opened.store.rows(query, params, more),
      stream: async (_query, _params, { signal }) => {
        asked();
        return addAbortSignal(signal as AbortSignal, silent);
      },
    };
    const file = openExport(store, sources, { ...options, format: 'jsonl' });
    file.resume();
    await isAsked;
    const closed = once(file, 'close');
    file.destroy();
    await closed;
    expect(silent.destroyed).toBe(true);
  });
});

test('a failure of one statement while the next one is prepared reaches the reader, and not the process', async () => {
  const missed: unknown[] = [];
  let prepare = () => {};
  const prepared = new Promise<void>((resolve) => {
    prepare = resolve;
  });
  const onMissed = (error: unknown) => void missed.push(error);
  process.on('unhandledRejection', onMissed);
  onTestFinished(() => void process.off('unhandledRejection', onMissed));
  let asked = 0;
  const rows = async <T>() => {
    // The rows of the first market fail while the places of the second one are looked up.
    if (++asked === 2) await prepared;
    return [] as T[];
  };
  const stream = () => Promise.reject(new StoreUnavailableError('away'));
  const reading = buffer(openExport({ rows, stream }, sources, options));
  while (asked < 2) await setImmediate();
  await setImmediate();
  prepare();
  await expect(reading).rejects.toThrow('away');
  expect(missed).toEqual([]);
});

test('an incomplete file of the engine is an error', async () => {
  const { store } = watched(() => Readable.from([Buffer.from('PAR1')]));
  await expect(buffer(openExport(store, sources, options))).rejects.toThrow(
    'the store sent an incomplete Parquet file',
  );
});
