import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { book } from '../../test/support/records.ts';
import { openTestStore, reachTestEngine, type TestStore } from '../../test/support/store.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { away, NOON_MS, range, trade } from '../../test/support/writerRig.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { KindedRecord } from '../schema/records.ts';
import { StoreClient } from './engine/client.ts';
import { parseSegment } from './journal/journalFormat.ts';
import type { InsertClient } from './journal/rowInserter.ts';
import { PartitionWriter } from './partitionWriter.ts';

let opened: TestStore;
let client: StoreClient;
beforeAll(async () => {
  const dataDir = temporaryDirectory(afterAll);
  const parts = { clock: systemClock, log: silentLogger };
  const access = await reachTestEngine(dataDir);
  opened = await openTestStore({ dataDir, engine: Promise.resolve(access) });
  client = new StoreClient({ access, ...parts });
});
afterAll(() => opened.dispose());

let metrics: Metrics;
let dataDir: string;
/** The engine as the writer under test reaches it; each test may put failures before it. */
let engine: InsertClient;
beforeEach(() => {
  metrics = new Metrics();
  dataDir = temporaryDirectory();
  engine = {
    insert: (options) => client.insert(options),
    rows: (query, params) => client.rows(query, params),
  };
});
afterEach(async () => {
  for (const table of ['trades', 'books', 'perp_depth', 'markets', 'gaps'])
    await client.command(`TRUNCATE TABLE ${table}`);
});

const open = (clock = systemClock) => {
  const through: InsertClient = {
    insert: (options) => engine.insert(options),
    rows: (query, params) => engine.rows(query, params),
  };
  return PartitionWriter.open({
    ...{ client: through, partition: 3, dataDir, clock },
    log: silentLogger,
    metrics,
  });
};
const trades = (first: number, last: number): KindedRecord[] =>
  range(first, last).map((seq) => ({ kind: 'trade', record: trade(seq) }));
const books = (first: number, last: number): KindedRecord[] =>
  range(first, last).map((seq) => ({
    kind: 'book',
    record: {
      ...{ seq, marketId: 'm', eventTimeMs: NOON_MS, receivedTimeMs: NOON_MS, underlyingPrice: null },
      ...{ yes: book([[5_000, 10_000]], []), no: book([], [[5_000, 10_000]]), mirrored: true, trusted: true },
    },
  }));
const seqsIn = async (table: string) =>
  (await client.rows<{ seq: number }>(`SELECT seq FROM ${table} ORDER BY seq`)).map(({ seq }) => seq);
const setAside = () => readdirSync(join(dataDir, 'journal/rejected')).sort();
const counted = async (name: string) =>
  (await metrics.registry.getSingleMetric(name)?.get())?.values[0]?.value ?? 0;

/** Inserts into one table and then dies, like a process that is killed between the inserts of a batch. */
function diesAfter(table: string): void {
  const { insert } = engine;
  engine.insert = async (options) => {
    if (!options.target.includes(`.${table} `)) throw away();
    await insert(options);
  };
}

describe('a batch', () => {
  test('is stored once, each record in its table', async () => {
    const writer = await open();
    await writer.insert([...trades(1, 3), ...books(4, 5)], 't/1-5');
    expect([await seqsIn('trades'), await seqsIn('books')]).toEqual([range(1, 3), [4, 5]]);
  });

  test('with the same token is stored once', async () => {
    const writer = await open();
    for (let i = 0; i < 3; i++) await writer.insert(trades(1, 3), 't/1-3b');
    expect(await seqsIn('trades')).toEqual(range(1, 3));
  });

  test('whose answer was lost is stored once', async () => {
    let isLost = true;
    const { insert } = engine;
    engine.insert = async (options) => {
      await insert(options);
      if (isLost) {
        isLost = false;
        throw away();
      }
    };
    const writer = await open();
    await writer.insert(trades(1, 3), 't/1-3c');
    expect(await seqsIn('trades')).toEqual(range(1, 3));
  });

  test('over midnight is stored once', async () => {
    const night = (seq: number): KindedRecord => ({
      kind: 'trade',
      record: trade(seq, Date.UTC(2026, 10, 21) + (seq - 2) * 1_000),
    });
    const writer = await open();
    for (let i = 0; i < 2; i++) await writer.insert([1, 2, 3].map(night), 't/night');
    expect(await seqsIn('trades')).toEqual([1, 2, 3]);
  });

  test('without records inserts nothing', async () => {
    engine.insert = () => Promise.reject(new Error('inserted'));
    await (await open()).insert([], 't/none');
  });
});

describe('another process', () => {
  test('stores no record again that was stored without a checkpoint, in batches with other ends', async () => {
    await (await open()).insert([...trades(1, 6), ...books(7, 8)], 't/d1-8');
    const next = await open();
    next.mayBeStoredUpTo(10);
    await next.insert(trades(1, 4), 't/d1-4');
    await next.insert([...trades(5, 6), ...books(7, 8), ...trades(9, 10)], 't/d5-10');
    await next.insert(trades(11, 12), 't/d11-12');
    expect(await seqsIn('trades')).toEqual([...range(1, 6), ...range(9, 12)]);
    expect(await seqsIn('books')).toEqual([7, 8]);
  });

  test('waits for lagging replicas before it asks which rows are stored', async () => {
    await (await open()).insert(trades(1, 3), 't/r1-3');
    let isLagging = true;
    const lagging: InsertClient = {
      insert: (options) => client.insert(options),
      rows: async (query, params) => (isLagging ? [] : client.rows(query, params)),
      syncReplicas: async (table) => {
        expect(table).toBe('trades');
        isLagging = false;
      },
    };
    const parts = { client: lagging, partition: 3, dataDir, clock: systemClock, log: silentLogger, metrics };
    const next = await PartitionWriter.open(parts);
    next.mayBeStoredUpTo(3);
    await next.insert(trades(1, 4), 't/r1-4');
    expect(await seqsIn('trades')).toEqual(range(1, 4));
  });

  test('stores the other tables of a batch of which one was stored', async () => {
    const clock = new FakeClock(NOON_MS);
    const first = await open(clock);
    diesAfter('books');
    const inserting = expect(first.insert([...trades(1, 3), ...books(4, 5)], 't/e1-5')).rejects.toThrow(
      'away',
    );
    while ((await seqsIn('books')).length < 2) await clock.advance(1);
    first.close();
    await inserting;
    engine = {
      insert: (options) => client.insert(options),
      rows: (query, params) => client.rows(query, params),
    };
    const next = await open();
    next.mayBeStoredUpTo(5);
    await next.insert([...trades(1, 3), ...books(4, 5)], 't/e1-5 again');
    expect([await seqsIn('trades'), await seqsIn('books')]).toEqual([range(1, 3), [4, 5]]);
  });
});

describe('while the engine is away', () => {
  test('a batch fails after 30 s without progress; its records are given again, in other batches, and stored once', async () => {
    const clock = new FakeClock(NOON_MS);
    const writer = await open(clock);
    const { insert } = engine;
    // The engine stores the rows and never answers.
    engine.insert = async (options) => {
      await insert(options);
      throw away();
    };
    engine.rows = () => Promise.reject(away());
    let isOver = false;
    const failing = writer.insert(trades(1, 4), 't/f1-4').finally(() => {
      isOver = true;
    });
    const failed = expect(failing).rejects.toMatchObject({ name: 'StoreUnavailableError' });
    while ((await seqsIn('trades')).length < 4 && !isOver) await clock.advance(1);
    expect(isOver).toBe(false);
    await clock.advanceUntil(failed, 1_000);
    expect(await counted('underround_partition_batches_failed_total')).toBe(1);
    engine = {
      insert: (options) => client.insert(options),
      rows: (query, params) => client.rows(query, params),
    };
    await writer.insert(trades(1, 2), 't/f1-2');
    await writer.insert(trades(3, 6), 't/f3-6');
    await writer.insert(trades(7, 8), 't/f7-8');
    expect(await seqsIn('trades')).toEqual(range(1, 8));
  });

  test('a closed writer ends its batch at once and accepts no other', async () => {
    engine.insert = () => Promise.reject(away());
    const writer = await open(new FakeClock(NOON_MS));
    const inserting = expect(writer.insert(trades(1, 2), 't/g')).rejects.toThrow('away');
    writer.close();
    await inserting;
    await expect(writer.insert(trades(1, 2), 't/g')).rejects.toThrow('is closed');
  });
});

describe('rows that the store cannot hold', () => {
  test('are set aside alone; all others are stored', async () => {
    await client.command('ALTER TABLE trades ADD CONSTRAINT IF NOT EXISTS small CHECK price < 9000');
    const writer = await open();
    const bad = [3, 17].map(
      (seq): KindedRecord => ({ kind: 'trade', record: { ...trade(seq), price: 9_999 } }),
    );
    const good = trades(1, 20).filter(({ record }) => record.seq !== 3 && record.seq !== 17);
    const all = [...good, ...bad].sort((a, b) => a.record.seq - b.record.seq);
    await writer.insert([...all, ...books(21, 21)], 't/h1-21');
    await client.command('ALTER TABLE trades DROP CONSTRAINT IF EXISTS small');
    expect(await seqsIn('trades')).toEqual(good.map(({ record }) => record.seq));
    expect(await seqsIn('books')).toEqual([21]);
    expect(setAside()).toEqual(['trades-17.seg', 'trades-3.seg']);
    const { tables, targets, tornBytes } = parseSegment(
      readFileSync(join(dataDir, 'journal/rejected/trades-3.seg')),
    );
    expect([[...tables.keys()], tables.get('trades')?.rows, tornBytes]).toEqual([['trades'], 1, 0]);
    expect(targets.trades).toContain('underround.trades (market_id, ts, seq');
    expect(await counted('underround_store_rejected_rows_total')).toBe(2);
  });

  test('are set aside as JSON where they cannot be encoded', async () => {
    const writer = await open();
    const depth: KindedRecord = {
      kind: 'perpDepth',
      record: {
        ...{
          kind: 'perp_depth',
          seq: 2,
          ticker: 'BTC',
          venue: 'bybit',
          eventTimeMs: NOON_MS,
          receivedTimeMs: NOON_MS,
        },
        ...{ engineTimeMs: null, roundTripMs: null, updateId: 1, bids: [['1e9', '1']], asks: [] },
      },
    };
    await writer.insert([...trades(1, 1), depth, ...trades(3, 3)], 't/i1-3');
    expect(await seqsIn('trades')).toEqual([1, 3]);
    expect(setAside()).toEqual(['perpDepth-2.json']);
    const { kind, record, reason } = JSON.parse(
      readFileSync(join(dataDir, 'journal/rejected/perpDepth-2.json'), 'utf8'),
    );
    expect([kind, record.bids, reason]).toEqual([
      'perpDepth',
      [['1e9', '1']],
      'InvalidInputError: not a decimal the store can hold: "1e9"',
    ]);
  });

  test('of a table that is missing are not set aside: the batch fails', async () => {
    const writer = await open();
    await client.command('RENAME TABLE IF EXISTS trades TO trades_away');
    const failing = writer.insert(trades(1, 3), 't/j1-3');
    await expect(failing).rejects.toMatchObject({ name: 'StoreRefusedError', storeCode: '60' });
    await client.command('RENAME TABLE IF EXISTS trades_away TO trades');
    expect(setAside()).toEqual([]);
    await writer.insert(trades(1, 3), 't/j1-3');
    expect(await seqsIn('trades')).toEqual(range(1, 3));
  });
});
