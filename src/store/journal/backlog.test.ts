import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestStore } from '../../../test/support/store.ts';
import { away, type Insert, range, trade, tradeSeqs, WriterRig } from '../../../test/support/writerRig.ts';
import { StoreRefusedError } from '../../runtime/errors.ts';
import { batchLength } from './joinedBatch.ts';

const refused = () => new StoreRefusedError('no', { storeCode: '33' });

let rig: WriterRig;
beforeEach(async () => {
  rig = await WriterRig.make();
});
afterEach(() => rig.dispose());

test('500 waiting segments need a handful of inserts; every row arrives once and in order', async () => {
  const { engine } = rig;
  const writer = await rig.open();
  engine.present = null;
  engine.answer = away;
  await rig.tradeEverySecond(writer, range(1, 500));
  expect(writer.pending().segments).toBeGreaterThanOrEqual(500);
  engine.answer = () => null;
  engine.tried.length = 0;
  await rig.whileTimePasses(writer.flush());
  expect(engine.trades()).toEqual(range(1, 500));
  // The segment that was tried alone, and the rest.
  expect(engine.tried.length).toBeLessThanOrEqual(3);
  expect(await rig.files()).toEqual([]);
});

test('while one segment waits it is inserted alone, after its second', async () => {
  const { engine } = rig;
  const writer = await rig.open();
  for (const seq of range(1, 3)) {
    await rig.tradeEverySecond(writer, [seq]);
    await rig.until(() => engine.taken.length === seq, 50);
  }
  expect(engine.taken.map(({ data }) => tradeSeqs(data))).toEqual([[1], [2], [3]]);
});

test('a batch is retried with the same rows, even if more segments wait by then', async () => {
  const { engine } = rig;
  const writer = await rig.open();
  engine.present = null;
  engine.answer = away;
  await rig.tradeEverySecond(writer, range(1, 5));
  // The first goes alone; then the batch fails several times while segments arrive.
  engine.answer = ({ data }) => (tradeSeqs(data).length === 1 ? null : away());
  await rig.until(() => engine.tried.some(({ data }) => tradeSeqs(data).length > 1), 1_000);
  await rig.tradeEverySecond(writer, range(6, 9));
  const batches = () => engine.tried.filter(({ data }) => tradeSeqs(data).length > 1);
  await rig.until(() => batches().length >= 3, 1_000);
  const [first, ...retries] = batches().slice(0, 3) as [Insert, ...Insert[]];
  for (const retry of retries) expect(retry).toEqual(first);
  engine.answer = () => null;
  await rig.whileTimePasses(writer.flush());
  expect(engine.trades()).toEqual(range(1, 9));
});

test('only the bad segment of a refused batch is set aside', async () => {
  const { engine } = rig;
  const writer = await rig.open();
  engine.present = null;
  engine.answer = away;
  await rig.tradeEverySecond(writer, range(1, 20));
  engine.answer = ({ data }) => (tradeSeqs(data).includes(7) ? refused() : null);
  await expect(rig.whileTimePasses(writer.flush())).rejects.toMatchObject({ storeCode: '33' });
  await rig.until(() => writer.pending().rows === 0, 1_000);
  expect(engine.trades()).toEqual(range(1, 20).filter((seq) => seq !== 7));
  const [setAside, ...others] = await rig.files();
  expect(others).toEqual([]);
  expect(setAside).toContain('rejected');
});

test('refused rows that cannot be set aside are kept, and sent again', async () => {
  const { engine } = rig;
  const writer = await rig.open();
  engine.present = null;
  engine.answer = ({ data }) => (tradeSeqs(data).includes(1) ? refused() : null);
  const rejected = join(rig.dataDir, 'journal/rejected');
  await rm(rejected, { recursive: true });
  await writeFile(rejected, 'not a directory');
  writer.trade(trade(1));
  await rig.until(() => engine.tried.length > 10, 1_000);
  expect(writer.pending().rows).toBe(1);
  await rm(rejected);
  writer.trade(trade(2));
  await rig.until(() => writer.pending().rows === 0, 1_000);
  expect(engine.trades()).toEqual([2]);
  expect(await rig.files()).toContainEqual(expect.stringContaining('journal/rejected/'));
});

test('a table of a refused batch that is already in the engine is not stored twice', async () => {
  const { engine } = rig;
  const writer = await rig.open();
  engine.present = null;
  engine.answer = away;
  await rig.tradeEverySecond(writer, range(1, 3));
  const times = { eventTimeMs: rig.clock.now(), receivedTimeMs: rig.clock.now() };
  writer.underlying({ kind: 'underlying', seq: 4, ticker: 'BTC', source: 'twap60', price: 1, ...times });
  await rig.clock.advance(1_000);
  engine.answer = ({ target }) => (target.includes('.underlying') ? refused() : null);
  await expect(rig.whileTimePasses(writer.flush())).rejects.toMatchObject({ storeCode: '33' });
  await rig.until(() => writer.pending().rows === 0, 1_000);
  expect(engine.trades()).toEqual(range(1, 3));
});

test('a killed run’s joined batch is resent complete under the same token', async () => {
  rig.engine.present = null;
  rig.engine.answer = ({ data }) => (tradeSeqs(data).length === 1 ? null : away());
  const writer = await rig.open();
  await rig.tradeEverySecond(writer, [1]);
  rig.engine.answer = away;
  await rig.tradeEverySecond(writer, range(2, 6));
  rig.engine.answer = ({ data }) => (tradeSeqs(data).length === 1 ? null : away());
  const isJoined = ({ data }: Insert) => tradeSeqs(data).length > 1;
  await rig.until(() => rig.engine.tried.some(isJoined), 1_000);
  const before = rig.engine;
  const tried = before.tried.find(isJoined) as Insert;
  await rig.killRuns();
  rig.engine.present = null;
  // These rows were inserted before the kill, and a file still has them because its removal was interrupted.
  rig.engine.taken.push(...before.taken);
  const next = await rig.whileTimePasses(rig.open());
  expect(rig.engine.tried[0]).toEqual(tried);
  expect(rig.engine.trades()).toEqual(range(1, 6));
  expect(next.recovery.recoveredRows).toBe(range(1, 6).length - before.trades().length);
});

test.each([
  {
    shows: 'all that fit',
    sizes: [
      [10, 10],
      [10, 10],
    ],
    joined: 2,
  },
  {
    shows: 'not more rows than the bound',
    sizes: [
      [150_000, 1],
      [60_000, 1],
      [1, 1],
    ],
    joined: 1,
  },
  {
    shows: 'not more bytes than the bound',
    sizes: [
      [1, 20e6],
      [1, 14e6],
      [1, 1e6],
    ],
    joined: 1,
  },
  {
    shows: 'the first segment of any size',
    sizes: [
      [1, 1e9],
      [1, 1],
    ],
    joined: 1,
  },
  { shows: 'nothing of nothing', sizes: [], joined: 0 },
])('a batch contains $shows', ({ sizes, joined }) => {
  const segments = sizes.map(([rows = 0, bytes = 0]) => ({ rows, bytes }));
  expect(batchLength(segments)).toBe(joined);
});

test('the engine stores a batch of the largest size as one part: all of it is stored or none', async () => {
  let mayInsert = false;
  const { store, dispose } = await openTestStore({ mayInsert: () => mayInsert });
  const rowsOfSegment = 20_000;
  const segments = 11;
  for (let seq = 1; seq <= rowsOfSegment * segments; seq++) store.writer.trade(trade(seq));
  // The oldest goes alone, unchanged; the others fill exactly one batch.
  const flushed = store.writer.flush();
  mayInsert = true;
  await flushed;
  const parts = await store.rows(
    `SELECT rows FROM system.parts WHERE database = 'underround' AND table = 'trades' AND level = 0 ORDER BY rows`,
  );
  expect(parts).toEqual([{ rows: rowsOfSegment }, { rows: rowsOfSegment * (segments - 1) }]);
  await dispose();
});
