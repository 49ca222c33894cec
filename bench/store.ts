/** Ingest, bytes on disk and snapshot reads, through the engine's own process and socket as in the service. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import { RowBuffer } from '../src/store/journal/rowBuffer.ts';
import { openStore, type Store } from '../src/store/store.ts';
import { encodeBook } from '../src/store/tables/encodeBook.ts';
import type { Figure } from './figure.ts';
import { backlog } from './storeBacklog.ts';
import { bookSource } from './storeBooks.ts';

const START_MS = Date.UTC(2026, 10, 20, 6);
/** A feed of 2,000 changes per second, by the rows' own times. */
const ROWS_PER_MS = 2;
const INGEST_ROWS = 400_000;
const MARKETS = 50;
const READERS = 4;
/** Rows that may wait while the benchmark appends: two segments, the maximum of a live feed. */
const WAITING_ROWS_MAX = 40_000;

export async function run(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-bench-'));
  const store = await openStore({
    ...{ dataDir, clickhouseUrl: null, clock: systemClock, log: silentLogger, metrics: new Metrics() },
  });
  try {
    const figures = [encoding(), ...(await ingest(store)), ...(await bytesOnDisk(store))];
    return [...figures, ...(await backlog())];
  } finally {
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function encoding(): Figure {
  const rows = 200_000;
  const source = bookSource({ markets: 1, levels: 99, seed: 3 });
  const out = new RowBuffer();
  const record = source.next(1, START_MS);
  const started = performance.now();
  for (let i = 0; i < rows; i++) {
    if (out.rows === 10_000) out.reset();
    encodeBook(out, record, false);
  }
  const value = rows / ((performance.now() - started) / 1_000);
  return { name: 'encode book rows, 99 levels', value, unit: 'rows/s', goal: '>= 100,000' };
}

async function ingest(store: Store): Promise<Figure[]> {
  const source = bookSource({ markets: MARKETS, levels: 99, seed: 1 });
  const stop = new AbortController();
  const reads = Array.from({ length: READERS }, (_, i) =>
    readLatest(store, source.marketIds, i, stop.signal),
  );
  const blocks = watchLoop();
  const started = performance.now();
  for (let seq = 1; seq <= INGEST_ROWS; seq++) {
    store.writer.book(source.next(seq, START_MS + Math.floor(seq / ROWS_PER_MS)));
    if (seq % 500 !== 0) continue;
    // Sleeps instead of spinning: the engine needs the core.
    do await new Promise((resolve) => setTimeout(resolve, 1));
    while (store.writer.pending().rows > WAITING_ROWS_MAX);
  }
  await store.writer.flush();
  const seconds = (performance.now() - started) / 1_000;
  const longestMs = blocks();
  stop.abort();
  const counts = await Promise.all(reads);
  const [row] = await store.rows<{ n: number }>('SELECT count() AS n FROM books');
  if (row?.n !== INGEST_ROWS) throw new Error(`${row?.n} of ${INGEST_ROWS} rows arrived`);
  return [
    {
      name: `ingest to disk with ${READERS} readers`,
      value: INGEST_ROWS / seconds,
      unit: 'rows/s',
      goal: '>= 20,000',
    },
    {
      name: 'reads beside it',
      value: counts.reduce((sum, count) => sum + count, 0) / seconds,
      unit: 'reads/s',
    },
    { name: 'longest event-loop block of the writer', value: longestMs, unit: 'ms' },
  ];
}

/** Reads the newest 100 books of one market after another until stopped. */
async function readLatest(
  store: Store,
  marketIds: readonly string[],
  first: number,
  signal: AbortSignal,
): Promise<number> {
  let reads = 0;
  for (let turn = first; !signal.aborted; turn++) {
    const marketId = marketIds[turn % marketIds.length];
    await store.rows(
      'SELECT ts, yes_bid_px[1] AS bid FROM books WHERE market_id = {marketId:String} ORDER BY ts DESC LIMIT 100',
      { marketId },
    );
    reads++;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return reads;
}

async function bytesOnDisk(store: Store): Promise<Figure[]> {
  const bytes = async () => {
    const [row] = await store.rows<{ bytes: number }>(
      "SELECT sum(bytes_on_disk) / sum(rows) AS bytes FROM system.parts WHERE database = currentDatabase() AND table = 'books' AND active",
    );
    return row?.bytes ?? Number.NaN;
  };
  const live = await bytes();
  await (await store.stream('OPTIMIZE TABLE books FINAL', {}, { format: 'Null' })).toArray();
  return [
    { name: 'stored bytes a book change, as merged so far', value: live, unit: 'bytes' },
    {
      name: 'stored bytes a book change, merged',
      value: await bytes(),
      unit: 'bytes',
      goal: '<= 60',
      better: 'less',
    },
  ];
}

/** Measures the duration of event loop turns; the returned function stops it and returns the longest, in ms. */
function watchLoop(): () => number {
  let longest = 0;
  let last = performance.now();
  let watching = true;
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (watching) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    watching = false;
    return longest;
  };
}
