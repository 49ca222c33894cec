import { existsSync, truncateSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { range, trade, WriterRig } from '../../../test/support/writerRig.ts';
import { silentLogger } from '../../runtime/log.ts';
import { parseSegment } from './journalFormat.ts';
import { KeptSegmentRegistry } from './keptSegmentRegistry.ts';

let rig: WriterRig;
/** Rows inserted before this time are in parts that were read back. */
let readUpToMs: number;
beforeEach(async () => {
  rig = await WriterRig.make();
  rig.engine.present = null;
  readUpToMs = Number.NEGATIVE_INFINITY;
});
afterEach(() => rig.dispose());

const open = () => rig.open({ readableUpTo: () => readUpToMs, recovery: 'background' });

async function keptTrades(): Promise<number[]> {
  const tables = [];
  for (const path of await rig.files('.kept'))
    tables.push(parseSegment(await readFile(path)).tables.get('trades'));
  return tables.flatMap((rows) => [...(rows?.seqs.subarray(0, rows.rows) ?? [])]);
}

test('a segment stays in the journal until its rows were read back, and uses no memory', async () => {
  const writer = await open();
  await rig.tradeEverySecond(writer, [1]);
  await rig.whileTimePasses(writer.flush());
  expect(writer.pending()).toMatchObject({ rows: 0, memoryBytes: 0 });
  expect(await keptTrades()).toEqual([1]);
  const insertedByMs = rig.clock.monotonic();
  await rig.clock.advance(60_000);
  expect(await keptTrades()).toEqual([1]);
  await rig.tradeEverySecond(writer, [2]);
  await rig.whileTimePasses(writer.flush());
  readUpToMs = insertedByMs;
  await rig.until(async () => (await rig.files('.kept')).length === 1, 50);
  expect(await keptTrades()).toEqual([2]);
  expect(writer.lagMs()).toBe(0);
});

test('rows that were inserted before they were journalled are kept too', async () => {
  const writer = await open();
  writer.trade(trade(1));
  await rig.whileTimePasses(writer.flush(), 0);
  expect(await keptTrades()).toEqual([1]);
});

test('a flush waits until segments that were just inserted are kept', async () => {
  const writer = await open();
  for (const seq of range(1, 20)) {
    await rig.tradeEverySecond(writer, [seq]);
    while (writer.pending().rows > 0) await rig.clock.advance(10);
    await writer.flush();
    expect(await keptTrades()).toEqual(range(1, seq));
  }
});

test('rows of kept segments that the engine loses are inserted again once', async () => {
  const { engine } = rig;
  const writer = await open();
  for (const seq of range(1, 4)) {
    await rig.tradeEverySecond(writer, [seq]);
    await rig.whileTimePasses(writer.flush());
  }
  expect(engine.trades()).toEqual(range(1, 4));
  expect(await rig.whileTimePasses(writer.reinsertKept())).toBe(0);
  // A broken part is detached.
  engine.taken.splice(1, 2);
  expect(await rig.whileTimePasses(writer.reinsertKept())).toBe(2);
  expect(engine.trades()).toEqual([1, 4, 2, 3]);
  // The part with these rows now breaks as well; the engine knows its token.
  engine.taken.splice(2, 1);
  expect(await rig.whileTimePasses(writer.reinsertKept())).toBe(2);
  expect(await rig.whileTimePasses(writer.reinsertKept())).toBe(0);
  expect(engine.trades()).toEqual([1, 4, 2, 3]);
});

test('reinserted rows are kept until they were read back too', async () => {
  const { engine } = rig;
  const writer = await open();
  await rig.tradeEverySecond(writer, [1]);
  await rig.whileTimePasses(writer.flush());
  const insertedByMs = rig.clock.monotonic();
  engine.taken.length = 0;
  await rig.clock.advance(1_000);
  await rig.whileTimePasses(writer.reinsertKept());
  readUpToMs = insertedByMs;
  await rig.clock.advance(1_000);
  expect(await keptTrades()).toEqual([1]);
});

test('a clean run leaves unconfirmed segments; the next run reports `clean` and checks them', async () => {
  const { engine } = rig;
  const writer = await open();
  for (const seq of range(1, 3)) {
    await rig.tradeEverySecond(writer, [seq]);
    await rig.whileTimePasses(writer.flush());
  }
  await rig.whileTimePasses(writer.close());
  expect(await keptTrades()).toEqual(range(1, 3));
  engine.taken.splice(1, 1);
  const next = await open();
  expect(next.previousRun.clean).toBe(true);
  expect(next.lagMs()).toBe(0);
  await rig.whileTimePasses(next.recovered);
  expect(engine.trades()).toEqual([1, 3, 2]);
  expect(next.recovery.recoveredRows).toBe(1);
  expect(await keptTrades()).toEqual(range(1, 3));
  readUpToMs = rig.clock.monotonic();
  await rig.until(async () => (await rig.files('.kept')).length === 0, 50);
});

test('after a kill, missing rows of kept segments are inserted again', async () => {
  const writer = await open();
  for (const seq of range(1, 2)) {
    await rig.tradeEverySecond(writer, [seq]);
    await rig.whileTimePasses(writer.flush());
  }
  const { taken } = rig.engine;
  await rig.killRuns();
  rig.engine.present = null;
  rig.engine.taken.push(...taken.slice(0, 1));
  const next = await open();
  await rig.whileTimePasses(next.recovered);
  expect(rig.engine.trades()).toEqual([1, 2]);
});

test('the number of kept files is bounded: beyond the limit the oldest is deleted', async () => {
  const writer = await open();
  for (const seq of range(1, 1_003)) {
    writer.trade(trade(seq));
    await rig.whileTimePasses(writer.flush(), 50);
  }
  await rig.until(async () => (await rig.files('.kept')).length <= 1_000, 50);
  expect(await keptTrades()).toEqual(range(4, 1_003));
});

test('the size of kept files is bounded: beyond the limit only as many of the oldest are deleted', async () => {
  const directory = temporaryDirectory();
  const kept = [1, 2, 3].map((number) => {
    const path = join(directory, `${number}.kept`);
    writeFileSync(path, '');
    // Sparse: it uses no disk space.
    truncateSync(path, 100 * 1024 * 1024);
    return path;
  });
  const readableUpTo = () => readUpToMs;
  const registry = new KeptSegmentRegistry({ readableUpTo, clock: rig.clock, log: silentLogger });
  await registry.adopt({ runId: 'r', kept } as never);
  expect(registry.size).toBe(3);
  await registry.sweep();
  expect(registry.size).toBe(2);
});

test.each([
  [1_000, 1_000],
  [1_001, 1_000],
  [1_003, 1_000],
])('of %i kept files a sweep leaves %i', async (count, left) => {
  const directory = temporaryDirectory();
  const kept = range(1, count).map((number) => join(directory, `${number}.kept`));
  for (const path of kept) writeFileSync(path, '');
  const readableUpTo = () => readUpToMs;
  const registry = new KeptSegmentRegistry({ readableUpTo, clock: rig.clock, log: silentLogger });
  await registry.adopt({ runId: 'r', kept } as never);
  await registry.sweep();
  expect(registry.size).toBe(left);
  expect(kept.filter((path) => existsSync(path))).toEqual(kept.slice(count - left));
});
