import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { oneClock } from '../../../test/support/gaps.ts';
import { bundle, openTestStore, type TestStore, testHostEntry } from '../../../test/support/store.ts';
import type { Store } from '../store.ts';

let opened: TestStore | null = null;
let child: ChildProcess | null = null;
let dataDir: string | null = null;
afterEach(async () => {
  if (child && child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  await opened?.dispose();
  if (dataDir) await rm(dataDir, { recursive: true, force: true });
});

async function seqsOf(store: Store, table: string): Promise<number[]> {
  const rows = await store.rows<{ seq: number }>(`SELECT seq FROM ${table} ORDER BY seq`);
  return rows.map((row) => row.seq);
}

function write(store: Store, seq: number): void {
  const timeMs = 1_700_000_000_000 + seq;
  const times = { eventTimeMs: timeMs, receivedTimeMs: timeMs };
  store.writer.trade({ seq, marketId: 'm', ...times, side: 'BUY_NO', price: 1, size: 1, tradeId: `${seq}` });
  store.writer.underlying({ kind: 'underlying', seq, ticker: 'ETH', source: 'twap60', price: seq, ...times });
  store.writer.gap(
    oneClock({
      ...{ seq, gapId: `g${seq % 50}`, marketId: 'm', startTimeMs: timeMs, endTimeMs: null },
      cause: 'store_down',
      feed: 'f',
      repairedBy: null,
      knownTimeMs: null,
      knownSeq: null,
    }),
  );
}

test('an engine killed during inserts is restarted; no row is lost or stored twice', async () => {
  opened = await openTestStore();
  const { store, metrics } = opened;
  const total = 20_000;
  const kills = 5;
  const rowsBetweenFlushes = total / kills / 4;
  for (let seq = 1; seq <= total; seq++) {
    write(store, seq);
    if (seq % rowsBetweenFlushes !== 0) continue;
    const inserted = store.writer.flush();
    if (seq % (total / kills) === 0) {
      // During the insert: a different number of event loop turns after it was sent, each time.
      for (let turn = 0; turn < 3 * (seq / (total / kills)); turn++)
        await new Promise((resolve) => setImmediate(resolve));
      const pid = store.enginePid();
      if (pid !== null) process.kill(pid, 'SIGKILL');
    }
    await inserted;
  }
  const wanted = Array.from({ length: total }, (_, i) => i + 1);
  expect(await seqsOf(store, 'trades')).toEqual(wanted);
  expect(await seqsOf(store, 'underlying')).toEqual(wanted);
  expect(await store.rows('SELECT count() AS n, max(seq) AS newest FROM gaps FINAL')).toEqual([
    { n: 50, newest: total },
  ]);
  expect(await metrics.registry.getSingleMetricAsString('underround_store_engine_restarts_total')).toContain(
    `underround_store_engine_restarts_total ${kills}`,
  );
});

test('reads sent while the engine is dead are answered by the next engine', async () => {
  opened = await openTestStore();
  const { store } = opened;
  process.kill(store.enginePid() as number, 'SIGKILL');
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, x) => store.rows('SELECT {x:UInt8} AS x', { x })),
  );
  expect(answers.map(([row]) => row)).toEqual(Array.from({ length: 20 }, (_, x) => ({ x })));
});

interface Opened {
  recovery: {
    recoveredRows: number;
    skippedRows: number;
    tornBytes: number;
    lastJournalTimeMs: number | null;
  };
  previousRun: { clean: boolean; lastAliveTimeMs: number | null };
}

/**
 * Starts the recording child. `said` is its report when its store was open; `far` resolves once it has recorded for
 * `farMs`.
 */
async function startWriter(args: { notes: string; firstSeq: number; startMs: number; farMs: number }) {
  const script = await bundle('test/support/crashingWriter.ts');
  const words = [args.notes, args.firstSeq, args.startMs, args.farMs].map(String);
  const started = spawn(process.execPath, [script, dataDir as string, await testHostEntry(), ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the writer ended early');
    return value as string;
  };
  const said = JSON.parse(await next()) as Opened;
  return { said, far: next };
}

async function readNotes(path: string): Promise<{ seq: number; timeMs: number }[]> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  // The last line may be cut. It was noted before its row was appended, so it is ignored.
  return lines.slice(0, -1).map((line) => {
    const [seq = 0, timeMs = 0] = line.split(' ').map(Number);
    return { seq, timeMs };
  });
}

/** Longest recorded time that a kill may lose. */
const LOSS_MS_MAX = 100;
const RUN_MS = [150, 900, 1_080, 1_900, 400];
/** Time between the starts of two runs, longer than any run lasts. */
const RUN_APART_MS = 86_400_000;

test('a recorder killed again and again loses at most its last 100 ms and stores no row twice', async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'underround-crash-'));
  const ends: {
    firstSeq: number;
    lastSeq: number;
    lastTimeMs: number;
    keptFrom: { seq: number; timeMs: number }[];
  }[] = [];
  let firstSeq = 1;
  for (const [run, farMs] of RUN_MS.entries()) {
    const notes = join(dataDir, `notes-${run}`);
    const startMs = 1_795_176_000_000 + run * RUN_APART_MS;
    const { said, far } = await startWriter({ notes, firstSeq, startMs, farMs });
    const before = ends.at(-1);
    expect(said.previousRun.clean).toBe(run === 0);
    if (before) {
      // Known to be alive until just before it died: the recorded loss is as long as the real loss.
      expect(before.lastTimeMs - (said.previousRun.lastAliveTimeMs ?? 0)).toBeLessThanOrEqual(LOSS_MS_MAX);
    }
    expect(await far()).toBe('far');
    child?.kill('SIGKILL');
    await new Promise((resolve) => child?.once('exit', resolve));
    const noted = await readNotes(notes);
    const lastTimeMs = noted.at(-1)?.timeMs ?? 0;
    ends.push({ firstSeq, lastSeq: noted.at(-1)?.seq ?? 0, lastTimeMs, keptFrom: noted });
    firstSeq += 1_000_000;
  }
  opened = await openTestStore({ dataDir });
  expect(opened.store.writer.previousRun.clean).toBe(false);
  for (const table of ['trades', 'underlying']) {
    const seqs = await seqsOf(opened.store, table);
    expect(new Set(seqs).size).toBe(seqs.length);
    for (const { firstSeq: first, lastTimeMs, keptFrom } of ends) {
      const kept = seqs.filter((seq) => seq >= first && seq < first + 1_000_000);
      // No holes: the stored rows are a prefix of the recorded rows.
      expect(kept).toEqual(Array.from({ length: kept.length }, (_, i) => first + i));
      const lost = keptFrom.slice(kept.length);
      expect(lastTimeMs - (lost[0]?.timeMs ?? lastTimeMs)).toBeLessThanOrEqual(LOSS_MS_MAX);
    }
  }
  const bodies = await opened.store.rows(
    "SELECT count() AS wrong FROM trades WHERE trade_id != concat('t', toString(seq)) OR size != seq",
  );
  expect(bodies).toEqual([{ wrong: 0 }]);
});

test('a second process uses the running engine, and starts its own when that one ends', async () => {
  opened = await openTestStore();
  const second = await openTestStore({ dataDir: opened.dataDir, writerName: 'import' });
  expect(second.store.enginePid()).toBe(null);
  write(second.store, 1);
  await second.store.writer.flush();
  expect(await seqsOf(opened.store, 'trades')).toEqual([1]);
  await opened.store.close();
  write(second.store, 2);
  await second.store.writer.flush();
  expect(await seqsOf(second.store, 'trades')).toEqual([1, 2]);
  expect(second.store.enginePid()).not.toBe(null);
  await second.dispose();
  opened = null;
});
