import { type FileHandle, open as openFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { MARKET } from '../../../test/support/wire.ts';
import { StoreUnavailableError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { GapRecord, MarketRecord, TradeRecord } from '../../schema/records.ts';
import { parseSegment } from './journalFormat.ts';
import type { InsertClient } from './rowInserter.ts';
import { StoreWriter } from './writer.ts';

const NOON_MS = Date.UTC(2026, 10, 20, 12);
const TIMES = { eventTimeMs: NOON_MS, receivedTimeMs: NOON_MS };
/** More event loop turns than a close needs when it waits for nothing. */
const TURNS_OF_A_CLOSE = 500;

interface Insert {
  readonly target: string;
  readonly token: string;
  readonly data: Buffer;
}

/** An engine that is away, or has the trades that were sent to it. */
class StubEngine implements InsertClient {
  readonly tried: Insert[] = [];
  isAway = false;
  present: readonly number[] = [];

  async insert({ target, token, data }: { target: string; token: string; data: Uint8Array }): Promise<void> {
    this.tried.push({ target, token, data: Buffer.from(data) });
    if (this.isAway) throw new StoreUnavailableError('away');
    if (target.includes('.trades ')) this.present = [TRADE.seq];
  }

  async rows<T>(): Promise<T[]> {
    return this.present.map((seq) => ({ seq })) as T[];
  }

  tokenOf(table: string): string | undefined {
    return this.tried.find(({ target }) => target.includes(`.${table} `))?.token;
  }
}

const TRADE: TradeRecord = {
  ...{ seq: 2, marketId: 'm', ...TIMES, side: 'BUY_YES', price: 1, size: 1, tradeId: '2' },
};
const GAP: GapRecord = {
  ...{ seq: 1, gapId: 'g', marketId: 'm', startTimeMs: 1, endTimeMs: null, cause: 'store_down' },
  ...{ startReceivedMs: 1, endReceivedMs: null },
  ...{ feed: 'f', repairedBy: null, knownTimeMs: null, knownSeq: null },
};

/** For each segment file in a directory: the tables whose rows it holds. */
async function tablesOfSegments(journal: string): Promise<string[][]> {
  const names = await readdir(journal, { recursive: true });
  const files = names.filter((name) => name.endsWith('.seg')).map((name) => readFile(join(journal, name)));
  return (await Promise.all(files)).map((file) => [...parseSegment(file).tables.keys()].sort());
}

/** A data directory; all its writers are closed after the test. */
function rig() {
  const dataDir = temporaryDirectory();
  const clock = new FakeClock(NOON_MS);
  const journal = join(dataDir, 'journal');
  /** Runs disk operations and promises, advancing the clock by `stepMs` a turn, until the condition is true. */
  const until = async (holds: () => boolean | Promise<boolean>, stepMs = 0) => {
    while (!(await holds())) await clock.advance(stepMs);
  };
  const open = async (engine: StubEngine) => {
    const writer = await StoreWriter.open({
      ...{ dataDir, client: engine, clock, log: silentLogger, metrics: new Metrics() },
    });
    onTestFinished(async () => {
      engine.isAway = false;
      let isClosed = false;
      const done = () => {
        isClosed = true;
      };
      writer.close().then(done, done);
      await until(() => isClosed, 1_000);
    });
    return writer;
  };
  const isJournalled = async (seq: number) => {
    const names = await readdir(journal, { recursive: true });
    const [segment] = names.filter((name) => name.endsWith('.seg'));
    if (segment === undefined) return false;
    const { tables } = parseSegment(await readFile(join(journal, segment)));
    return tables.get('trades')?.seqs.includes(seq) ?? false;
  };
  /** Makes the run on disk look like one of a killed process. */
  const kill = async () => {
    for (const name of (await readdir(journal)).filter((entry) => entry.includes('.')))
      await writeFile(join(journal, name, 'owner'), JSON.stringify({ pid: 2 ** 22 + 1, start: '1' }));
  };
  return { dataDir, clock, until, open, isJournalled, kill };
}

/** Holds the first write to a file until it is released. */
async function holdFirstWrite(dataDir: string) {
  const probe = await openFile(join(dataDir, 'probe'), 'w');
  const handles = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  const write = handles.write as (...args: unknown[]) => Promise<never>;
  const held = { writes: 0, release: () => {} };
  const released = new Promise<void>((resolve) => {
    held.release = resolve;
  });
  const spy = vi.spyOn(handles, 'write').mockImplementation(async function (this: FileHandle, ...args) {
    if (++held.writes === 1) await released;
    return await write.apply(this, args);
  });
  onTestFinished(() => spy.mockRestore());
  return held;
}

test('a record that fails half-way through its row leaves no bytes behind: the next row is complete', async () => {
  const engine = new StubEngine();
  const writer = await rig().open(engine);
  const record = { ...MARKET, seq: 1 };
  writer.market(record);
  await writer.flush();
  // A name far longer than any type's: the columns after it do not fit.
  const tooLong = 'x'.repeat(100_000) as MarketRecord['eventType'];
  expect(() => writer.market({ ...record, eventType: tooLong })).toThrow(RangeError);
  writer.market(record);
  await writer.flush();
  expect(engine.tried).toHaveLength(2);
  expect(engine.tried[1]?.data).toEqual(engine.tried[0]?.data);
});

test('rows that are kept are in the journal while the engine is away', async () => {
  const { open, isJournalled } = rig();
  const engine = new StubEngine();
  engine.isAway = true;
  const writer = await open(engine);
  writer.trade(TRADE);
  await writer.keep();
  expect(await isJournalled(TRADE.seq)).toBe(true);
  expect(engine.tried).toEqual([]);
});

test('the journal holds the rows of every table before the engine gets those of the first', async () => {
  const { open, dataDir } = rig();
  const engine = new StubEngine();
  const seen: string[][][] = [];
  const insert = engine.insert.bind(engine);
  engine.insert = async (rows) => {
    seen.push(await tablesOfSegments(join(dataDir, 'journal')));
    await insert(rows);
  };
  const writer = await open(engine);
  writer.gap(GAP);
  writer.trade(TRADE);
  // Within one period of the journal: a kill between the two inserts would lose only the second table's rows.
  await writer.flush();
  expect(seen).toEqual([[['gaps', 'trades']], [['gaps', 'trades']]]);
});

test('a truncated journal write counts for none of its tables', async () => {
  const { open, until, dataDir } = rig();
  const engine = new StubEngine();
  engine.isAway = true;
  const writer = await open(engine);
  writer.gap(GAP);
  writer.trade(TRADE);
  void writer.flush();
  const journal = join(dataDir, 'journal');
  // The file is there before its rows are.
  await until(async () => (await tablesOfSegments(journal)).some((tables) => tables.length > 0), 50);
  const [name] = (await readdir(journal, { recursive: true })).filter((entry) => entry.endsWith('.seg'));
  const whole = await readFile(join(journal, name as string));
  const headLength = whole.length - parseSegment(whole.subarray(0, whole.length - 1)).tornBytes - 1;
  for (let length = 0; length < whole.length; length++) {
    const { tables, tornBytes } = parseSegment(whole.subarray(0, length));
    expect([...tables.keys()]).toEqual([]);
    expect(tornBytes).toBe(length < headLength ? length : length - headLength);
  }
  expect([...parseSegment(whole).tables.keys()].sort()).toEqual(['gaps', 'trades']);
});

test('a close waits for the running journal write: the end mark is written last', async () => {
  const { dataDir, clock, until, open } = rig();
  const writer = await open(new StubEngine());
  const held = await holdFirstWrite(dataDir);
  await clock.advance(50);
  await until(() => held.writes === 1);
  let isClosed = false;
  const closed = writer.close().then(() => {
    isClosed = true;
  });
  for (let turn = 0; turn < TURNS_OF_A_CLOSE && !isClosed; turn++) await clock.advance(0);
  expect([isClosed, held.writes]).toEqual([false, 1]);
  held.release();
  await closed;
  expect(held.writes).toBe(2);
  const next = await open(new StubEngine());
  expect(next.previousRun).toEqual({ clean: true, lastAliveTimeMs: clock.now() });
});

test('rows appended during a journal write are kept by a write of their own', async () => {
  const { dataDir, clock, until, open, isJournalled } = rig();
  const engine = new StubEngine();
  engine.isAway = true;
  const writer = await open(engine);
  const held = await holdFirstWrite(dataDir);
  await clock.advance(50);
  await until(() => held.writes === 1);
  writer.trade(TRADE);
  const kept = writer.keep();
  held.release();
  await kept;
  expect(await isJournalled(TRADE.seq)).toBe(true);
});

test('rows that neither journal nor engine can take are dropped beyond 256 MiB, except gaps and markets', async () => {
  const { until, open } = rig();
  const engine = new StubEngine();
  engine.isAway = true;
  const writer = await open(engine);
  const pending = writer.pending.bind(writer);
  let memoryBytes = 256 * 1024 * 1024;
  const spy = vi.spyOn(writer, 'pending').mockImplementation(() => ({ ...pending(), memoryBytes }));
  onTestFinished(() => spy.mockRestore());
  writer.trade(TRADE);
  await writer.keep();
  expect(writer.isDropping).toBe(false);
  memoryBytes++;
  await until(() => writer.isDropping, 50);
  writer.trade({ ...TRADE, seq: 3 });
  expect(pending().rows).toBe(1);
  writer.gap(GAP);
  writer.market({ ...MARKET, seq: 4 });
  expect(pending().rows).toBe(3);
  memoryBytes = 0;
  await until(() => !writer.isDropping, 50);
  writer.trade({ ...TRADE, seq: 5 });
  expect(pending().rows).toBe(4);
});

test('a killed run’s gaps are inserted under a new token, its trades under the run’s token', async () => {
  const { until, open, isJournalled, kill } = rig();
  const first = new StubEngine();
  first.isAway = true;
  const writer = await open(first);
  writer.gap(GAP);
  writer.trade(TRADE);
  void writer.flush();
  await until(async () => first.tried.length > 0 && (await isJournalled(TRADE.seq)), 50);
  await kill();
  const noted = first.tried.map(({ token }) => token);
  expect(noted[0]).toContain('/1/gaps/');
  const second = new StubEngine();
  expect((await open(second)).recovery).toMatchObject({ recoveredRows: 2, skippedRows: 0 });
  // An engine killed between recording a token and storing its rows drops the next insert of that token, and gap rows
  // are not queried afterwards.
  expect(second.tokenOf('gaps')).toMatch(/^newest\/.*\/gaps\//);
  expect(noted).not.toContain(second.tokenOf('gaps'));
  // Another insert of the same trades may still run: the engine must recognise this one as the same.
  const runId = noted[0]?.split('/')[0];
  expect(second.tokenOf('trades')).toBe(`${runId}/1/trades/${Math.floor(NOON_MS / 86_400_000)}`);
});
