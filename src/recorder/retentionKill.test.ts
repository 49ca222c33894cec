/** A thinning of old books during which the engine is killed, and the start after it: a new recorder, keeper and engine. */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { book } from '../../test/support/records.ts';
import { openTestStore, reachTestEngine } from '../../test/support/store.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { StoreClient } from '../store/engine/client.ts';
import { loadGapsOf } from '../store/queries/resume.ts';
import { thinBooks } from '../store/retention/thinBooks.ts';
import type { Store } from '../store/store.ts';
import { Recorder } from './recorder.ts';
import { RetentionKeeper } from './retention.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-11-23T12:00:00Z');
const FIRST_MS = NOW_MS - 40 * DAY_MS;
const BOOK = book([[5_000, 1_000_000]], [[5_100, 2_000_000]]);
/** Milliseconds after the first row; the last two are of a later hour. */
const OFFSETS = [0, 10, 990, 1_000, 1_001, 5_000, 3_600_000, 3_600_001] as const;
const OLD = [100, 101, 102, 103, 104, 105, 106, 107];
const THINNED = [102, 104, 105, 107];

type Commands = Omit<Parameters<typeof thinBooks>[0], 'rows'>;

async function start(dataDir: string) {
  const common = { clock: systemClock, log: silentLogger };
  const access = await reachTestEngine(dataDir);
  const { store } = await openTestStore({ dataDir, engine: Promise.resolve(access) });
  const client = new StoreClient({ ...common, access });
  return {
    ...{ store, client },
    kill: () => process.kill(store.enginePid() as number, 'SIGKILL'),
    close: async () => {
      await client.close();
      await store.close();
    },
  };
}

type Started = Awaited<ReturnType<typeof start>>;

/** A keeper that has seen no round yet, as after a start. */
function keeperOf({ store, client }: Started, commands: Commands = client): RetentionKeeper {
  const common = { clock: new FakeClock(NOW_MS), log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink: store.writer, timeBy: 'receipt' });
  const run: Parameters<typeof thinBooks>[0] = {
    command: (query) => commands.command(query),
    commandOnce: (query) => commands.commandOnce(query),
    rows: store.rows,
  };
  const thin: Store['thinBooks'] = (day, options) => thinBooks(run, day, options);
  const thinning = { ...store, thinBooks: thin };
  const limits = { retention: { books_thinned: 30 }, budgetBytes: null, freeBytes: async () => 1_000_000 };
  return new RetentionKeeper({ ...common, ...limits, store: thinning, recorder });
}

const seqs = async ({ store }: Started) =>
  (await store.rows<{ seq: number }>('SELECT seq FROM books ORDER BY seq')).map(({ seq }) => seq);
const gaps = async ({ store }: Started) =>
  (await loadGapsOf(store, ['m'])).map(({ cause, startTimeMs, endTimeMs }) => [
    ...[cause, startTimeMs - FIRST_MS, (endTimeMs as number) - FIRST_MS],
  ]);
const GAPS = [['thinned', 0, 3_600_001]];
const drafts = ({ store }: Started) =>
  store.rows("SELECT name FROM system.databases WHERE name LIKE '%thinning'");

let written: string;
beforeAll(async () => {
  written = await mkdtemp(join(tmpdir(), 'underround-thinned-'));
  const { store } = await openTestStore({ dataDir: written });
  for (const [index, offset] of OFFSETS.entries()) {
    const eventTimeMs = FIRST_MS + offset;
    store.writer.book({
      ...{ marketId: 'm', seq: 100 + index, mirrored: true, trusted: true, underlyingPrice: null },
      ...{ eventTimeMs, receivedTimeMs: eventTimeMs + 3, yes: BOOK, no: BOOK },
    });
  }
  // The recording went on: ages are judged by its newest day.
  const newest = { eventTimeMs: NOW_MS, receivedTimeMs: NOW_MS + 3, seq: 200 };
  store.writer.underlying({ kind: 'underlying', ticker: 'BTC', source: 'twap60', price: 5, ...newest });
  await store.close();
  // Days later the journal has none of these rows.
  await rm(join(written, 'journal'), { recursive: true });
});
afterAll(() => rm(written, { recursive: true, force: true }));

async function onCopy(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-thinned-'));
  try {
    await cp(written, dataDir, { recursive: true });
    await work(dataDir);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

const isHour = (hour: string) => (query: string) =>
  query.startsWith('INSERT') && query.includes(`${hour}:00`);
const begins = (words: string) => (query: string) => query.startsWith(words);

/** Runs the statements up to the first that `isLast` chooses, kills the engine after it and runs no further one. */
function killedAfter(
  started: Started,
  isLast: (query: string) => boolean,
  partOf = (query: string) => query,
): Commands {
  let isKilled = false;
  const run = async (query: string) => {
    if (isKilled) throw new Error('killed');
    await started.client.command(partOf(query));
    isKilled = isLast(query);
    if (!isKilled) return;
    started.kill();
    throw new Error('killed');
  };
  return { command: run, commandOnce: run };
}

test.each([
  ['the removal of an earlier draft', begins('DROP'), OLD],
  ['the draft’s database', begins('CREATE DATABASE'), OLD],
  ['the draft’s table', begins('CREATE TABLE'), OLD],
  ['the first rows of the draft', isHour('12'), OLD],
  ['all rows of the draft', isHour('23'), OLD],
  ['the replacement', begins('ALTER'), THINNED],
] as const)('killed after %s: a gap covers the day, and the next start thins it', async (_, isLast, left) => {
  await onCopy(async (dataDir) => {
    const killed = await start(dataDir);
    await keeperOf(killed, killedAfter(killed, isLast)).run();
    await killed.close();
    const next = await start(dataDir);
    expect([await seqs(next), await gaps(next)]).toEqual([left, GAPS]);
    await keeperOf(next).run();
    expect([await seqs(next), await gaps(next), await drafts(next)]).toEqual([THINNED, GAPS, []]);
    await next.close();
  });
});

test.each([
  ['rows are copied', isHour('12')],
  ['the day is replaced', begins('ALTER')],
])('killed while %s: no row is missing without a gap, and the next start thins the day', async (_, isIt) => {
  await onCopy(async (dataDir) => {
    const killed = await start(dataDir);
    const { client } = killed;
    const run = async (query: string) => {
      const running = client.commandOnce(query);
      if (isIt(query)) killed.kill();
      await running;
    };
    await keeperOf(killed, { command: run, commandOnce: run }).run();
    await killed.close();
    const next = await start(dataDir);
    expect(await seqs(next)).toEqual(expect.arrayContaining(THINNED));
    expect(await gaps(next)).toEqual(GAPS);
    await keeperOf(next).run();
    expect([await seqs(next), await gaps(next), await drafts(next)]).toEqual([THINNED, GAPS, []]);
    await next.close();
  });
});

test('a day with its old and its new rows, as a killed replacement may leave it, has each once after the next start', async () => {
  await onCopy(async (dataDir) => {
    const killed = await start(dataDir);
    // The engine first adds the new parts and then takes out the old ones.
    const half = (query: string) => query.replace('REPLACE PARTITION', 'ATTACH PARTITION');
    await keeperOf(killed, killedAfter(killed, begins('ALTER'), half)).run();
    await killed.close();
    const next = await start(dataDir);
    expect(await seqs(next)).toEqual([...OLD, ...THINNED].sort((a, b) => a - b));
    await keeperOf(next).run();
    expect([await seqs(next), await gaps(next)]).toEqual([THINNED, GAPS]);
    await next.close();
  });
});

test('statements that ran, and run again because no answer came, double no row', async () => {
  await onCopy(async (dataDir) => {
    const started = await start(dataDir);
    const { client } = started;
    const twice = async (query: string) => {
      await client.command(query);
      await client.command(query);
    };
    await keeperOf(started, { command: twice, commandOnce: (query) => client.commandOnce(query) }).run();
    expect([await seqs(started), await drafts(started)]).toEqual([THINNED, []]);
    await started.close();
  });
});
