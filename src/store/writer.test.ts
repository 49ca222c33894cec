import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { book } from '../../test/support/records.ts';
import { StoreRefusedError, StoreUnavailableError } from '../errors.ts';
import { silentLogger } from '../ops/log.ts';
import { Metrics } from '../ops/metrics.ts';
import type { TradeRecord } from '../schema/records.ts';
import type { InsertClient } from './inserter.ts';
import { parseSegment } from './journalFormat.ts';
import { MEMORY_BYTES_MAX } from './segmentQueue.ts';
import { StoreWriter } from './writer.ts';

interface Insert {
  target: string;
  token: string;
  data: Buffer;
}

/** An engine that says what it is told to; it keeps what it took. */
class FakeEngine implements InsertClient {
  readonly tried: Insert[] = [];
  readonly taken: Insert[] = [];
  /** Seqs it claims to hold. */
  present: number[] = [];
  answer: (insert: Insert) => Error | null = () => null;

  async insert(options: { target: string; format: string; data: Uint8Array; token: string }): Promise<void> {
    const insert = { target: options.target, token: options.token, data: Buffer.from(options.data) };
    this.tried.push(insert);
    const failure = this.answer(insert);
    if (failure) throw failure;
    this.taken.push(insert);
  }

  async rows<T>(): Promise<T[]> {
    return this.present.map((seq) => ({ seq })) as T[];
  }
}

/** Every seq a test uses. */
const ALL = Array.from({ length: 3_000 }, (_, seq) => seq);
const away = () => new StoreUnavailableError('away');
const DAY_MS = 86_400_000;
const NOON_MS = Date.UTC(2026, 10, 20, 12);

let dataDir: string;
let clock: FakeClock;
let engine: FakeEngine;
let metrics: Metrics;
let opened: { writer: StoreWriter; engine: FakeEngine }[];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'underround-writer-'));
  clock = new FakeClock(NOON_MS);
  engine = new FakeEngine();
  metrics = new Metrics();
  opened = [];
});
afterEach(async () => {
  for (const { writer, engine: its } of opened) {
    its.answer = () => null;
    its.present = ALL;
    let closed = false;
    const done = () => {
      closed = true;
    };
    writer.close().then(done, done);
    await until(() => closed, 1_000);
  }
  await rm(dataDir, { recursive: true, force: true });
});

async function open(writerName = 'main'): Promise<StoreWriter> {
  const writer = await StoreWriter.open({
    dataDir,
    client: engine,
    clock,
    log: silentLogger,
    metrics,
    writerName,
  });
  opened.push({ writer, engine });
  return writer;
}

function trade(seq: number, eventTimeMs = NOON_MS): TradeRecord {
  return {
    seq,
    marketId: 'm',
    eventTimeMs,
    receivedTimeMs: eventTimeMs,
    side: 'BUY_YES',
    price: 1,
    size: 1,
    tradeId: `${seq}`,
  };
}

/** Lets disk and promises go on, and the clock by so much a turn, until it holds; the test's own limit bounds it. */
async function until(holds: () => boolean | Promise<boolean>, stepMs = 0): Promise<void> {
  while (!(await holds())) await clock.advance(stepMs);
}

async function segmentFiles(): Promise<string[]> {
  const names = await readdir(join(dataDir, 'journal'), { recursive: true });
  return names
    .filter((name) => name.endsWith('.seg'))
    .map((name) => join(dataDir, 'journal', name))
    .sort();
}

/** Makes the run on disk look like one whose process was killed. */
async function disownRuns(): Promise<void> {
  const journal = join(dataDir, 'journal');
  for (const name of await readdir(journal)) {
    if (name.includes('.'))
      await writeFile(join(journal, name, 'owner'), JSON.stringify({ pid: 2 ** 22 + 1, start: '1' }));
  }
}

/** A killed run that left these trades in its journal, one chunk each. */
async function killedRun(seqs: readonly number[]): Promise<void> {
  engine.answer = away;
  const writer = await open();
  for (const seq of seqs) {
    writer.trade(trade(seq));
    await clock.advance(50);
    const journalled = async () => {
      const [path] = await segmentFiles();
      if (!path) return false;
      return (
        parseSegment(await readFile(path))
          .tables.get('trades')
          ?.seqs.includes(seq) ?? false
      );
    };
    await until(journalled);
  }
  await disownRuns();
  engine = new FakeEngine();
}

test('a row is in the journal after 100 ms and the engine has it after its second', async () => {
  const writer = await open();
  writer.trade(trade(1));
  await clock.advance(100);
  await until(async () => (await segmentFiles()).length === 1);
  expect(engine.tried).toEqual([]);
  await clock.advance(1_000);
  await until(() => writer.pending().rows === 0);
  expect(engine.taken.map((insert) => insert.target)).toEqual([
    'underround.trades (market_id, ts, seq, received, side, price, size, trade_id)',
  ]);
  await until(async () => (await segmentFiles()).length === 0);
});

test('a retry sends the same bytes under the same token', async () => {
  const writer = await open();
  let failures = 3;
  engine.answer = () => (failures-- > 0 ? away() : null);
  engine.present = [1, 2];
  writer.trade(trade(1));
  writer.trade(trade(2));
  const flushed = writer.flush();
  await until(() => engine.taken.length > 0, 1_000);
  await flushed;
  expect(engine.tried.length).toBe(4);
  expect(new Set(engine.tried.map((insert) => insert.token)).size).toBe(1);
  expect(new Set(engine.tried.map((insert) => insert.data.toString('hex'))).size).toBe(1);
});

test('rows that a retry finds missing although the engine said yes are sent under another token', async () => {
  const writer = await open();
  engine.present = [1];
  engine.answer = () => {
    if (engine.tried.length === 1) return away();
    // The second is taken for a duplicate of the first; the third gets in.
    if (engine.tried.length === 3) engine.present = [1, 2];
    return null;
  };
  writer.trade(trade(1));
  writer.trade(trade(2));
  const flushed = writer.flush();
  await until(() => engine.taken.length === 2, 1_000);
  await flushed;
  const [first, second] = engine.taken;
  expect(second?.token).toBe(`${first?.token}+`);
  expect(second?.data.length).toBe((first?.data.length ?? 0) / 2);
});

test('a batch never crosses midnight', async () => {
  const writer = await open();
  for (const [seq, timeMs] of [
    [1, NOON_MS],
    [2, NOON_MS + DAY_MS],
    [3, NOON_MS],
  ] as const)
    writer.trade(trade(seq, timeMs));
  await writer.flush();
  const days = engine.taken.map((insert) => Number(insert.token.split('/').at(-1)));
  expect(days).toEqual([NOON_MS / DAY_MS, NOON_MS / DAY_MS + 1].map(Math.floor));
  expect(engine.taken[0]?.data.length).toBe((engine.taken[1]?.data.length ?? 0) * 2);
});

test('rows the engine keeps refusing are set aside, told, and do not hold up others', async () => {
  const writer = await open();
  engine.answer = (insert) =>
    insert.target.includes('.trades') ? new StoreRefusedError('no', { storeCode: '33' }) : null;
  writer.trade(trade(1));
  const refused = expect(writer.flush()).rejects.toMatchObject({
    name: 'StoreRefusedError',
    storeCode: '33',
  });
  writer.gap({
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
  });
  const flushed = writer.flush().catch(() => undefined);
  await until(() => engine.taken.length > 0, 1_000);
  await refused;
  await flushed;
  const [kept] = await segmentFiles();
  expect(kept).toContain('rejected');
  expect([
    ...(parseSegment(await readFile(kept as string))
      .tables.get('trades')
      ?.seqs.subarray(0, 1) ?? []),
  ]).toEqual([1]);
  expect(await metrics.registry.getSingleMetricAsString('underround_store_rejected_rows_total')).toContain(
    ' 1',
  );
});

test('while the engine is away memory stays bound, and what went to disk comes back in order', async () => {
  const writer = await open();
  engine.answer = away;
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
      await clock.advance(100);
      await until(() => writer.pending().memoryBytes <= MEMORY_BYTES_MAX + 40 * 1024 * 1024, 50);
    }
  }
  await until(() => writer.pending().memoryBytes <= MEMORY_BYTES_MAX + 16 * 1024 * 1024, 50);
  expect(writer.pending().rows).toBe(rows);
  engine.answer = () => null;
  engine.present = Array.from({ length: rows }, (_, i) => i + 1);
  const flushed = writer.flush();
  await until(() => writer.pending().rows === 0, 1_000);
  await flushed;
  const taken = Buffer.concat(engine.taken.map((insert) => insert.data));
  const rowBytes = taken.length / rows;
  // market id (2 bytes) and ts (8) stand before seq.
  const seqs = Array.from({ length: rows }, (_, i) => Number(taken.readBigUInt64LE(i * rowBytes + 10)));
  expect(seqs).toEqual(engine.present);
});

test('a clean close leaves nothing, and the next run knows it was clean', async () => {
  const writer = await open();
  expect(writer.previousRun).toEqual({ clean: true, lastAliveTimeMs: null });
  writer.trade(trade(1));
  await writer.close();
  expect(engine.taken.length).toBe(1);
  expect(await segmentFiles()).toEqual([]);
  const endedAtMs = clock.now();
  await clock.advance(60_000);
  expect((await open()).previousRun).toEqual({ clean: true, lastAliveTimeMs: endedAtMs });
});

test('a close while the engine is away leaves the journal, and the next run brings it in', async () => {
  const writer = await open();
  engine.answer = away;
  writer.trade(trade(1));
  const closed = writer.close();
  let done = false;
  void closed.then(() => {
    done = true;
  });
  await until(() => done, 1_000);
  expect((await segmentFiles()).length).toBe(1);
  const { data } = engine.tried[0] as Insert;
  engine = new FakeEngine();
  engine.answer = () => {
    engine.present = [1];
    return null;
  };
  const next = await open();
  expect(next.recovery).toMatchObject({ recoveredRows: 1, skippedRows: 0, tornBytes: 0 });
  expect(next.previousRun.clean).toBe(true);
  expect(engine.taken.map((insert) => insert.data)).toContainEqual(data);
  expect(await segmentFiles()).toEqual([]);
});

test('a killed run is told as such, with the time it was last alive', async () => {
  await killedRun([1, 2]);
  engine.present = [1, 2];
  const aliveAtMs = clock.now();
  await clock.advance(60_000);
  const next = await open();
  expect(next.previousRun.clean).toBe(false);
  expect(aliveAtMs - (next.previousRun.lastAliveTimeMs ?? 0)).toBeLessThanOrEqual(50);
  expect(next.recovery).toMatchObject({ recoveredRows: 0, skippedRows: 2 });
  expect(engine.taken).toEqual([]);
});

test('only the rows that are missing are recovered, under a token of their own', async () => {
  await killedRun([1, 2, 3]);
  engine.present = [1, 3];
  engine.answer = () => {
    engine.present = [1, 2, 3];
    return null;
  };
  expect((await open()).recovery).toMatchObject({ recoveredRows: 1, skippedRows: 2 });
  expect(engine.taken[0]?.token).toContain('/rest/');
  expect(engine.taken[0]?.data.readBigUInt64LE(10)).toBe(2n);
});

test('a journal cut anywhere gives the rows whose chunks are whole', async () => {
  await killedRun([1, 2, 3]);
  const [path] = (await segmentFiles()) as [string];
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
    else if (seqs.length === 3) expect.unreachable('a cut chunk was taken for whole');
  }
  await truncate(path, whole.length - 1);
  engine.present = [1, 2];
  expect((await open()).recovery).toMatchObject({ skippedRows: 2, recoveredRows: 0 });
});

test('a flipped bit ends the journal before its chunk', async () => {
  await killedRun([1, 2, 3]);
  const [path] = (await segmentFiles()) as [string];
  const whole = await readFile(path);
  const start = whole.indexOf('UCHK');
  for (let at = start; at < whole.length; at += 7) {
    const bad = Buffer.from(whole);
    bad[at] = (bad[at] as number) ^ 1;
    const rows = parseSegment(bad).tables.get('trades');
    expect(rows?.rows ?? 0).toBeLessThan(3);
  }
});

test('the journal of a process that lives is left alone', async () => {
  engine.answer = away;
  const first = await open('main');
  first.trade(trade(1));
  await clock.advance(50);
  await until(async () => (await segmentFiles()).length === 1);
  const second = await open('import');
  expect(second.recovery).toMatchObject({ recoveredRows: 0, skippedRows: 0 });
  expect((await segmentFiles()).length).toBe(1);
});

test('a journal that cannot be written is told, and tried again until it can', async () => {
  const writer = await open();
  engine.answer = away;
  const run = (await readdir(join(dataDir, 'journal'))).find((name) => name.startsWith('main.')) as string;
  await rm(join(dataDir, 'journal', run), { recursive: true });
  writer.trade(trade(1));
  await clock.advance(50);
  await until(() => !writer.pending().journalWorks);
  expect(await metrics.registry.getSingleMetricAsString('underround_store_journal_failures_total')).toMatch(
    / [1-9]/,
  );
  engine.answer = () => null;
  engine.present = [1];
  const flushed = writer.flush();
  await until(() => engine.taken.length > 0, 1_000);
  await flushed;
  expect(engine.taken.length).toBe(1);
});

test('acknowledged rows that never appear are set aside in the end', async () => {
  const writer = await open();
  engine.answer = () => (engine.tried.length === 1 ? away() : null);
  writer.trade(trade(1));
  const refused = expect(writer.flush()).rejects.toThrow('acknowledged rows do not appear');
  await until(() => writer.pending().rows === 0, 1_000);
  await refused;
});
