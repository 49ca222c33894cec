import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bookRecord } from '../../../test/support/api.ts';
import {
  away,
  type FakeEngine,
  type Insert,
  NOON_MS,
  range,
  trade,
  tradeSeqs,
  WriterRig,
} from '../../../test/support/writerRig.ts';
import { StoreRefusedError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { scanJournals } from './journalScan.ts';

const refused = () => new StoreRefusedError('no', { storeCode: '33' });

let rig: WriterRig;
beforeEach(async () => {
  rig = await WriterRig.make();
});
afterEach(() => rig.dispose());

/** An engine that is unreachable at first and then stores its inserts. */
function absent(engine: FakeEngine): FakeEngine {
  engine.present = null;
  engine.answer = away;
  return engine;
}

/** A killed run that left these trades in its journal, one trade per segment. */
async function killedRun(seqs: readonly number[], writerName = 'main'): Promise<void> {
  rig.engine.answer = away;
  const killed = await rig.open({ writerName, recovery: 'background' });
  await rig.tradeEverySecond(killed, seqs);
  // However long the disk takes: the last sign of life is then not older than the last row.
  await killed.keep();
  await rig.killRuns();
}

test('a writer opens while a killed run’s rows still wait, and inserts them beside its own', async () => {
  await killedRun(range(1, 500));
  const killedAtMs = rig.clock.now();
  await rig.clock.advance(60_000);
  const engine = absent(rig.engine);
  const writer = await rig.open({ recovery: 'background' });
  expect(writer.previousRun.clean).toBe(false);
  expect(killedAtMs - (writer.previousRun.lastAliveTimeMs ?? 0)).toBeLessThanOrEqual(1_000);
  writer.trade(trade(501, rig.clock.now()));
  let isFlushed = false;
  const flushed = writer.flush().then(() => {
    isFlushed = true;
  });
  await rig.clock.advance(5_000);
  expect({ isFlushed, trades: engine.trades() }).toEqual({ isFlushed: false, trades: [] });
  engine.answer = () => null;
  engine.tried.length = 0;
  await rig.whileTimePasses(flushed);
  expect(engine.trades().sort((a, b) => a - b)).toEqual(range(1, 501));
  expect(writer.recovery).toMatchObject({ recoveredRows: 500, skippedRows: 0 });
  expect(engine.tried.length).toBeLessThanOrEqual(4);
  expect(await rig.files()).toEqual([]);
});

test('the lag is the age of the oldest row not in the engine, including rows of dead runs', async () => {
  await killedRun([1, 2]);
  await rig.clock.advance(30_000);
  const engine = absent(rig.engine);
  const metrics = new Metrics();
  const writer = await rig.open({ recovery: 'background', metrics });
  const gauge = async () => {
    const text = await metrics.registry.getSingleMetricAsString('underround_store_lag_seconds');
    return Number(/^underround_store_lag_seconds (\S+)$/m.exec(text)?.[1]);
  };
  const sinceFirstRow = () => rig.clock.now() - NOON_MS;
  // The journal's first write is within its period of the first row.
  expect(sinceFirstRow() - writer.lagMs()).toBeGreaterThanOrEqual(0);
  expect(sinceFirstRow() - writer.lagMs()).toBeLessThanOrEqual(50);
  engine.answer = () => null;
  await rig.whileTimePasses(writer.recovered);
  expect(writer.lagMs()).toBe(0);
  engine.answer = away;
  await rig.clock.advance(700);
  writer.trade(trade(3, rig.clock.now()));
  const receivedAtMs = rig.clock.now();
  await rig.clock.advance(10_000);
  expect(writer.lagMs()).toBe(rig.clock.now() - receivedAtMs);
  expect(writer.reasons()).toEqual([]);
  await rig.clock.advance(1_500);
  expect(await gauge()).toBe(11.5);
  expect(writer.reasons()).toEqual(['stored data is 11 s behind what was received']);
  engine.answer = () => null;
  await rig.whileTimePasses(writer.flush());
  expect(await gauge()).toBe(0);
});

test.each([
  ['up to the venue time of its oldest book', 300, 300],
  ['at most 5 s before that book was written', 86_400_000, 5_000],
])('the lag of a dead run is counted %s', async (_, ageMs, countedMs) => {
  rig.engine.answer = away;
  const killed = await rig.open({ recovery: 'background' });
  const levels = { yesBids: [[4_900, 1]], yesAsks: [[5_000, 1]] } as const;
  killed.book(bookRecord({ seq: 1, marketId: 'm', timeMs: NOON_MS - ageMs, trusted: true, ...levels }));
  // However long the disk takes. The next run has an id of a later time.
  await killed.keep();
  await rig.clock.advance(200);
  await rig.killRuns();
  const writer = await rig.open({ recovery: 'background' });
  const beforeBookMs = writer.lagMs() - (rig.clock.now() - NOON_MS);
  expect(beforeBookMs).toBeLessThanOrEqual(countedMs);
  // The journal writes within 100 ms.
  expect(beforeBookMs).toBeGreaterThanOrEqual(countedMs === ageMs ? ageMs : countedMs - 100);
});

test('a kill during recovery loses no row and stores none twice', async () => {
  await killedRun(range(1, 3));
  await killedRun(range(4, 6), 'import');
  const engine = absent(rig.engine);
  // The first run's oldest segment and its other two.
  engine.answer = () => (engine.taken.length < 2 ? null : away());
  await rig.open({ recovery: 'background' });
  await rig.until(() => engine.tried.length > 2, 1_000);
  expect(engine.trades().length).toBe(3);
  const { taken } = engine;
  await rig.killRuns();
  rig.engine.present = null;
  rig.engine.taken.push(...taken);
  const next = await rig.whileTimePasses(rig.open());
  expect(rig.engine.trades().sort((a, b) => a - b)).toEqual(range(1, 6));
  expect(next.recovery.recoveredRows).toBe(3);
});

test('a kill between two tables of a batch stores no table twice', async () => {
  rig.engine.answer = away;
  const writer = await rig.open();
  const times = { eventTimeMs: NOON_MS, receivedTimeMs: NOON_MS };
  await rig.tradeEverySecond(writer, [1]);
  writer.underlying({ kind: 'underlying', seq: 9, ticker: 'BTC', source: 'twap60', price: 1, ...times });
  await rig.tradeEverySecond(writer, range(2, 3));
  await rig.killRuns();
  const engine = absent(rig.engine);
  engine.answer = ({ target }) => (target.includes('.trades') ? null : away());
  await rig.open({ recovery: 'background' });
  await rig.until(() => engine.trades().length === 3 && engine.tried.length > 3, 1_000);
  const { taken } = engine;
  await rig.killRuns();
  rig.engine.present = null;
  rig.engine.taken.push(...taken);
  rig.engine.tried.length = 0;
  await rig.whileTimePasses(rig.open());
  expect(rig.engine.trades()).toEqual(range(1, 3));
});

/** Lets an insert of a dead process end in the living engine as soon as the first insert of the next one was taken. */
function endsLate(engine: FakeEngine, running: Insert): void {
  const insert = engine.insert.bind(engine);
  engine.insert = async (options) => {
    await insert(options);
    if (!engine.taken.some(({ token }) => token === running.token)) engine.taken.push(running);
  };
}

/** The next start on the engine that still works on this insert; the seqs that the engine has in the end. */
async function startWhileRunning(running: Insert, taken: readonly Insert[] = []): Promise<number[]> {
  await rig.killRuns();
  const { engine } = rig;
  engine.present = null;
  engine.taken.push(...taken);
  endsLate(engine, running);
  await rig.whileTimePasses(rig.open());
  return engine.trades().sort((a, b) => a - b);
}

test('the insert of one segment that a killed run left running is not stored twice', async () => {
  const engine = absent(rig.engine);
  await rig.tradeEverySecond(await rig.open(), range(1, 4));
  expect(await startWhileRunning(engine.tried[0] as Insert)).toEqual(range(1, 4));
});

test('a running insert is not stored twice where the file of a stored segment before it remains', async () => {
  const engine = absent(rig.engine);
  await rig.tradeEverySecond(await rig.open(), range(1, 4));
  const [first] = engine.tried as [Insert];
  const [path] = (await rig.files()) as [string];
  const bytes = await readFile(path);
  engine.answer = ({ data }) => (tradeSeqs(data).length === 1 ? null : away());
  const isRunning = ({ data }: Insert) => tradeSeqs(data).length > 1;
  await rig.until(() => engine.tried.some(isRunning), 1_000);
  await writeFile(path, bytes);
  const running = engine.tried.find(isRunning) as Insert;
  expect(await startWhileRunning(running, [first])).toEqual(range(1, 4));
});

test('a running insert of a killed recovery, which sent a refused batch one by one, is not stored twice', async () => {
  await killedRun(range(1, 5));
  const engine = absent(rig.engine);
  const isBatch = ({ data }: Insert) => tradeSeqs(data).length > 1;
  const isOf = ({ data }: Insert, seq: number) => tradeSeqs(data)[0] === seq;
  engine.answer = (insert) => (isBatch(insert) ? refused() : isOf(insert, 3) ? away() : null);
  await rig.open({ recovery: 'background' });
  const isRunning = (insert: Insert) => !isBatch(insert) && isOf(insert, 3);
  await rig.until(() => engine.tried.some(isRunning), 1_000);
  const { taken } = engine;
  const running = engine.tried.find(isRunning) as Insert;
  expect(await startWhileRunning(running, taken)).toEqual(range(1, 5));
});

test('a run that one process recovers is not touched by another, which waits for it', async () => {
  await killedRun(range(1, 3));
  const engine = absent(rig.engine);
  const first = await rig.open({ recovery: 'background' });
  let isOpen = false;
  const progress: string[] = [];
  const { dataDir, clock } = rig;
  const writerName = 'import';
  const scan = scanJournals({ dataDir, clock, log: silentLogger, writerName });
  await scan;
  const second = rig
    .open({ scan, writerName, onRecovery: ({ segments, done }) => progress.push(`${done}/${segments}`) })
    .then((writer) => {
      isOpen = true;
      return writer;
    });
  await rig.clock.advance(2_000);
  expect(isOpen).toBe(false);
  engine.answer = () => null;
  const { recovery } = await rig.whileTimePasses(second);
  expect(engine.trades()).toEqual(range(1, 3));
  expect(first.recovery.recoveredRows).toBe(3);
  expect(recovery.recoveredRows).toBe(0);
  expect(progress).toEqual(['1/3', '2/3', '3/3']);
});

test('a process that took over a run releases it when it is closed before the rows are stored', async () => {
  await killedRun(range(1, 3));
  absent(rig.engine);
  const { dataDir, clock } = rig;
  const claims = async () => {
    const names = await readdir(join(dataDir, 'journal'), { recursive: true });
    return names.filter((name) => name.includes('/claim-'));
  };
  const first = await rig.open({ recovery: 'background' });
  const writerName = 'import';
  const scan = scanJournals({ dataDir, clock, log: silentLogger, writerName });
  await scan;
  const second = await rig.open({ scan, writerName, recovery: 'background' });
  await rig.whileTimePasses(first.close());
  await rig.until(async () => (await claims()).length === 1, 250);
  await rig.whileTimePasses(second.close());
  expect(await claims()).toEqual([]);
  expect((await rig.files()).length).toBe(3);
});

test('a closed writer leaves unrecovered segments for the next start', async () => {
  await killedRun(range(1, 3));
  const engine = absent(rig.engine);
  const writer = await rig.open({ recovery: 'background' });
  await rig.clock.advance(1_000);
  await rig.whileTimePasses(writer.close());
  expect((await rig.files()).length).toBe(3);
  engine.answer = () => null;
  const next = await rig.whileTimePasses(rig.open());
  expect(next.previousRun.clean).toBe(true);
  expect(engine.trades()).toEqual(range(1, 3));
  expect((await readdir(join(rig.dataDir, 'journal'))).length).toBe(2);
});

test('while inserts are not allowed nothing is sent, and journalling continues', async () => {
  let allowed = true;
  const { engine } = rig;
  engine.present = null;
  const writer = await rig.open({ mayInsert: () => allowed });
  engine.answer = away;
  await rig.tradeEverySecond(writer, [1]);
  await rig.until(() => engine.tried.length > 0, 1_000);
  allowed = false;
  await rig.clock.advance(6_000);
  engine.answer = () => null;
  engine.tried.length = 0;
  await rig.tradeEverySecond(writer, range(2, 4));
  await rig.clock.advance(60_000);
  expect(engine.tried).toEqual([]);
  expect(await rig.journalled()).toEqual([4]);
  allowed = true;
  await rig.whileTimePasses(writer.flush());
  expect(engine.trades()).toEqual(range(1, 4));
});

test('a writer that must not insert opens at once, and closes at once leaving its journal', async () => {
  await killedRun([1]);
  const writer = await rig.open({ recovery: 'background', mayInsert: () => false });
  await rig.tradeEverySecond(writer, [2]);
  // No time passes.
  await rig.whileTimePasses(writer.close(), 0);
  expect(rig.engine.tried).toEqual([]);
  expect((await rig.files()).length).toBe(2);
});
