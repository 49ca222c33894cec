import { readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { oneClock } from '../../../test/support/gaps.ts';
import { book } from '../../../test/support/records.ts';
import { away, FakeEngine, type Insert, NOON_MS, trade, WriterRig } from '../../../test/support/writerRig.ts';
import { StoreRefusedError } from '../../runtime/errors.ts';
import { parseSegment } from './journalFormat.ts';
import { MEMORY_BYTES_MAX } from './segmentQueue.ts';

const DAY_MS = 86_400_000;

let rig: WriterRig;
beforeEach(async () => {
  rig = await WriterRig.make();
});
afterEach(() => rig.dispose());

const metric = (name: string) => rig.metrics.registry.getSingleMetricAsString(name);

/** A killed run that left these trades in one segment of its journal, one chunk each. */
async function killedRun(seqs: readonly number[]): Promise<void> {
  rig.engine.answer = away;
  const writer = await rig.open();
  for (const seq of seqs) {
    writer.trade(trade(seq));
    await rig.clock.advance(50);
    // No time passes while a busy disk writes: after a second of it, another segment would begin.
    await writer.keep();
  }
  await rig.killRuns();
}

test('a row is in the journal after 100 ms and in the engine after one second', async () => {
  const writer = await rig.open();
  writer.trade(trade(1));
  await rig.clock.advance(100);
  await rig.until(async () => (await rig.files()).length === 1);
  expect(rig.engine.tried).toEqual([]);
  await rig.clock.advance(1_000);
  await rig.until(() => writer.pending().rows === 0);
  expect(rig.engine.taken.map((insert) => insert.target)).toEqual([
    'underround.trades (market_id, ts, seq, received, side, price, size, trade_id, late)',
  ]);
  await rig.until(async () => (await rig.files()).length === 0);
});

test('a retry sends the same bytes under the same token', async () => {
  const writer = await rig.open();
  let failures = 3;
  rig.engine.answer = () => (failures-- > 0 ? away() : null);
  rig.engine.present = [1, 2];
  writer.trade(trade(1));
  writer.trade(trade(2));
  const flushed = writer.flush();
  await rig.until(() => rig.engine.taken.length > 0, 1_000);
  await flushed;
  expect(rig.engine.tried.length).toBe(4);
  expect(new Set(rig.engine.tried.map((insert) => insert.token)).size).toBe(1);
  expect(new Set(rig.engine.tried.map((insert) => insert.data.toString('hex'))).size).toBe(1);
});

test('acknowledged rows that a retry finds missing are sent under another token', async () => {
  const writer = await rig.open();
  rig.engine.present = [1];
  rig.engine.answer = () => {
    if (rig.engine.tried.length === 1) return away();
    // The engine treats the second insert as a duplicate of the first; the third is stored.
    if (rig.engine.tried.length === 3) rig.engine.present = [1, 2];
    return null;
  };
  writer.trade(trade(1));
  writer.trade(trade(2));
  const flushed = writer.flush();
  await rig.until(() => rig.engine.taken.length === 2, 1_000);
  await flushed;
  const [first, second] = rig.engine.taken;
  expect(second?.token).toBe(`${first?.token}+`);
  expect(second?.data.length).toBe((first?.data.length ?? 0) / 2);
  const inserted = await metric('underround_store_inserted_rows_total');
  expect(inserted.split('\n').at(-1)).toBe('underround_store_inserted_rows_total{table="trades"} 2');
});

test('a batch never crosses midnight', async () => {
  const writer = await rig.open();
  for (const [seq, timeMs] of [
    [1, NOON_MS],
    [2, NOON_MS + DAY_MS],
    [3, NOON_MS],
  ] as const)
    writer.trade(trade(seq, timeMs));
  await writer.flush();
  const days = rig.engine.taken.map((insert) => Number(insert.token.split('/').at(-1)));
  expect(days).toEqual([NOON_MS / DAY_MS, NOON_MS / DAY_MS + 1].map(Math.floor));
  expect(rig.engine.taken[0]?.data.length).toBe((rig.engine.taken[1]?.data.length ?? 0) * 2);
});

test('rows the engine keeps refusing are set aside, reported, and do not block others', async () => {
  const writer = await rig.open();
  rig.engine.answer = (insert) =>
    insert.target.includes('.trades') ? new StoreRefusedError('no', { storeCode: '33' }) : null;
  writer.trade(trade(1));
  const refused = expect(writer.flush()).rejects.toMatchObject({
    name: 'StoreRefusedError',
    storeCode: '33',
  });
  writer.gap(
    oneClock({
      seq: 2,
      gapId: 'g',
      marketId: 'm',
      startTimeMs: 1,
      endTimeMs: null,
      cause: 'store_down',
      feed: 'f',
      repairedBy: null,
      knownTimeMs: null,
      knownSeq: null,
    }),
  );
  const flushed = writer.flush().catch(() => undefined);
  await rig.until(() => rig.engine.taken.length > 0, 1_000);
  await refused;
  await flushed;
  const [kept] = await rig.files();
  expect(kept).toContain('rejected');
  expect([
    ...(parseSegment(await readFile(kept as string))
      .tables.get('trades')
      ?.seqs.subarray(0, 1) ?? []),
  ]).toEqual([1]);
  expect(await metric('underround_store_rejected_rows_total')).toContain(' 1');
});

test('while the engine is away memory stays bounded, and rows on disk are inserted in order', async () => {
  const writer = await rig.open();
  rig.engine.answer = away;
  const levels = Array.from({ length: 5_000 }, (_, i) => [i, 10_001] as const);
  const yes = book(levels, levels);
  const rows = 2_600;
  for (let seq = 1; seq <= rows; seq++) {
    writer.book({
      seq,
      marketId: 'm',
      eventTimeMs: NOON_MS,
      receivedTimeMs: NOON_MS,
      yes,
      no: book([], []),
      mirrored: true,
      trusted: true,
      underlyingPrice: null,
    });
    if (seq % 200 === 0) {
      await rig.clock.advance(100);
      await rig.until(() => writer.pending().memoryBytes <= MEMORY_BYTES_MAX + 40 * 1024 * 1024, 50);
    }
  }
  await rig.until(() => writer.pending().memoryBytes <= MEMORY_BYTES_MAX + 16 * 1024 * 1024, 50);
  expect(writer.pending().rows).toBe(rows);
  rig.engine.answer = () => null;
  rig.engine.present = Array.from({ length: rows }, (_, i) => i + 1);
  const flushed = writer.flush();
  await rig.until(() => writer.pending().rows === 0, 1_000);
  await flushed;
  const taken = Buffer.concat(rig.engine.taken.map((insert) => insert.data));
  const rowBytes = taken.length / rows;
  // market id (2 bytes) and ts (8) come before seq.
  const seqs = Array.from({ length: rows }, (_, i) => Number(taken.readBigUInt64LE(i * rowBytes + 10)));
  expect(seqs).toEqual(rig.engine.present);
});

test('a clean close leaves no files, and the next run knows it was clean', async () => {
  const writer = await rig.open();
  expect(writer.previousRun).toEqual({ clean: true, lastAliveTimeMs: null });
  writer.trade(trade(1));
  await writer.close();
  expect(rig.engine.taken.length).toBe(1);
  expect(await rig.files()).toEqual([]);
  const endedAtMs = rig.clock.now();
  await rig.clock.advance(60_000);
  expect((await rig.open()).previousRun).toEqual({ clean: true, lastAliveTimeMs: endedAtMs });
});

test('a close while the engine is away leaves the journal, and the next run inserts it', async () => {
  const writer = await rig.open();
  rig.engine.answer = away;
  writer.trade(trade(1));
  await rig.whileTimePasses(writer.close());
  expect((await rig.files()).length).toBe(1);
  const { data } = rig.engine.tried[0] as Insert;
  rig.engine = new FakeEngine();
  rig.engine.answer = () => {
    rig.engine.present = [1];
    return null;
  };
  const next = await rig.open();
  expect(next.recovery).toMatchObject({ recoveredRows: 1, skippedRows: 0, tornBytes: 0 });
  expect(next.previousRun.clean).toBe(true);
  expect(rig.engine.taken.map((insert) => insert.data)).toContainEqual(data);
  expect(await rig.files()).toEqual([]);
});

test('a killed run is reported as killed, with the time it was last alive', async () => {
  await killedRun([1, 2]);
  rig.engine.present = [1, 2];
  const aliveAtMs = rig.clock.now();
  await rig.clock.advance(60_000);
  const next = await rig.open();
  expect(next.previousRun.clean).toBe(false);
  expect(aliveAtMs - (next.previousRun.lastAliveTimeMs ?? 0)).toBeLessThanOrEqual(50);
  expect(next.recovery).toMatchObject({ recoveredRows: 0, skippedRows: 2 });
  expect(rig.engine.taken).toEqual([]);
});

test('only the rows that are missing are recovered, under a separate token', async () => {
  await killedRun([1, 2, 3]);
  rig.engine.present = [1, 3];
  rig.engine.answer = () => {
    rig.engine.present = [1, 2, 3];
    return null;
  };
  expect((await rig.open()).recovery).toMatchObject({ recoveredRows: 1, skippedRows: 2 });
  expect(rig.engine.taken[0]?.token).toContain('/rest/');
  expect(rig.engine.taken[0]?.data.readBigUInt64LE(10)).toBe(2n);
});

test('a journal cut at any byte yields the rows of its complete chunks', async () => {
  await killedRun([1, 2, 3]);
  const [path] = (await rig.files()) as [string];
  const whole = await readFile(path);
  let chunks = 0;
  for (let length = 0; length <= whole.length; length++) {
    const { tables, tornBytes } = parseSegment(whole.subarray(0, length));
    const rows = tables.get('trades');
    const seqs = [...(rows?.seqs.subarray(0, rows.rows) ?? [])];
    expect(seqs).toEqual([1, 2, 3].slice(0, seqs.length));
    expect(seqs.length).toBeGreaterThanOrEqual(chunks);
    chunks = seqs.length;
    if (length === whole.length) expect({ chunks, tornBytes }).toEqual({ chunks: 3, tornBytes: 0 });
    else if (seqs.length === 3) expect.unreachable('a cut chunk counted as complete');
  }
  await truncate(path, whole.length - 1);
  rig.engine.present = [1, 2];
  expect((await rig.open()).recovery).toMatchObject({ skippedRows: 2, recoveredRows: 0 });
});

test('a flipped bit ends the journal before its chunk', async () => {
  await killedRun([1, 2, 3]);
  const [path] = (await rig.files()) as [string];
  const whole = await readFile(path);
  const start = whole.indexOf('UCHK');
  for (let at = start; at < whole.length; at += 7) {
    const bad = Buffer.from(whole);
    bad[at] = (bad[at] as number) ^ 1;
    const rows = parseSegment(bad).tables.get('trades');
    expect(rows?.rows ?? 0).toBeLessThan(3);
  }
});

test('the journal of a living process is not touched', async () => {
  rig.engine.answer = away;
  const first = await rig.open();
  first.trade(trade(1));
  await rig.clock.advance(50);
  await rig.until(async () => (await rig.files()).length === 1);
  const second = await rig.open({ writerName: 'import' });
  expect(second.recovery).toMatchObject({ recoveredRows: 0, skippedRows: 0 });
  expect((await rig.files()).length).toBe(1);
});

test('an unwritable journal is reported, and retried until it can be written', async () => {
  const writer = await rig.open();
  rig.engine.answer = away;
  const run = (await readdir(join(rig.dataDir, 'journal'))).find((name) =>
    name.startsWith('main.'),
  ) as string;
  await rm(join(rig.dataDir, 'journal', run), { recursive: true });
  writer.trade(trade(1));
  await rig.clock.advance(50);
  await rig.until(() => !writer.pending().journalWorks);
  for (const name of ['underround_journal_failures_total', 'underround_store_journal_failures_total'])
    expect(await metric(name)).toMatch(/ [1-9]/);
  expect(writer.reasons()).toEqual([
    'the journal cannot be written: a crash now would lose what is received',
  ]);
  rig.engine.answer = () => null;
  rig.engine.present = [1];
  const flushed = writer.flush();
  await rig.until(() => rig.engine.taken.length > 0, 1_000);
  await flushed;
  expect(rig.engine.taken.length).toBe(1);
});

test('acknowledged rows that never appear are finally set aside', async () => {
  const writer = await rig.open();
  rig.engine.answer = () => (rig.engine.tried.length === 1 ? away() : null);
  writer.trade(trade(1));
  const refused = expect(writer.flush()).rejects.toThrow('acknowledged rows do not appear');
  await rig.until(() => writer.pending().rows === 0, 1_000);
  await refused;
});
