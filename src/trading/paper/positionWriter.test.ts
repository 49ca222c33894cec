import { expect, test } from 'vitest';
import { aTrade } from '../../../test/paper/positionSuite.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { TAPE_MARKET } from '../../../test/support/tapes.ts';
import type { Database } from '../../control/schema.ts';
import { type Logger, silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { firstTerms } from '../live/marketTerms.ts';
import type { SessionState } from '../live/paperSession.ts';
import { type PositionRow, positionRows } from './positions.ts';
import { PositionWriter } from './positionWriter.ts';

/** Versions of terms that may wait. */
const TERMS_MAX = 10_000;
/** Sessions in one transaction. */
const BATCH_MAX = 16;
/** One more than a transaction writes. */
const SESSIONS = BATCH_MAX + 1;

/**
 * A writer on a database that refuses some transactions, when each was tried, and what the others set.
 * @param isTrader Whether this process still trades at an attempt.
 * @param hasStrategies False: they were deleted, so that nothing more of a session is written.
 */
function rig(
  isRefused: (attempt: number) => boolean,
  isTrader = (_attempt: number) => true,
  hasStrategies = false,
) {
  const clock = new FakeClock();
  const triedAt: number[] = [];
  const sets: unknown[] = [];
  /** The number of `sets` at the end of each transaction. */
  const setsAtEnds: number[] = [];
  /** What the database does at the end of a transaction. */
  const commit = { run: async () => {} };
  const query = {
    selectFrom: () => query,
    selectAll: () => query,
    insertInto: () => query,
    values: (row: unknown) => {
      sets.push(row);
      return query;
    },
    onConflict: () => query,
    updateTable: () => query,
    set: (values: unknown) => {
      sets.push(values);
      return query;
    },
    where: () => query,
    execute: async () => [],
    executeTakeFirst: async () => ({ numUpdatedRows: hasStrategies ? 1n : 0n }),
  };
  const database = {
    transaction: () => ({
      execute: async (work: (transaction: typeof query) => Promise<void>) => {
        triedAt.push(clock.monotonic());
        if (isRefused(triedAt.length)) throw new Error('the database is away');
        await work(query);
        await commit.run();
        setsAtEnds.push(sets.length);
      },
    }),
  } as unknown as Database;
  const logged: [message: string, facts: object][] = [];
  const note = (facts: object, message: string) => logged.push([message, facts]);
  const log = { ...silentLogger, warn: note, error: note } as unknown as Logger;
  const metrics = new Metrics();
  const checkedIn: unknown[] = [];
  const writer = new PositionWriter({
    ...{ database, clock, log, metrics },
    isTrader: async (transaction) => {
      checkedIn.push(transaction);
      return isTrader(triedAt.length);
    },
  });
  return { clock, triedAt, sets, setsAtEnds, query, checkedIn, commit, logged, metrics, writer };
}

/** The rows of positions in these updates. */
const rowsIn = (sets: readonly unknown[]) => sets.filter((set) => typeof set === 'object') as PositionRow[];

function stateOf(strategyId: string): SessionState {
  return { strategyId, marketId: '0x1', fromMs: 0, outcome: null, trades: [] };
}

test('after a write that succeeded, the next failure is tried again after the first delay', async () => {
  const { clock, triedAt, writer } = rig((attempt) => [1, 2, 4].includes(attempt));
  for (let n = 0; n < SESSIONS; n++) writer.changed(stateOf(`ps_${n}`));
  await clock.advance(5_000);
  await writer.settled();
  expect(triedAt).toEqual([0, 50, 150, 150, 200]);
});

test('a transaction writes at most sixteen sessions, those that changed first', async () => {
  const { clock, sets, setsAtEnds, writer } = rig(() => false, undefined, true);
  const trade = aTrade(1_000);
  for (let n = 0; n < 2 * BATCH_MAX + 1; n++) writer.changed({ ...stateOf(`ps_${n}`), trades: [trade] });
  await clock.advance(0);
  await writer.settled();
  const setsOfSession = sets.length / (2 * BATCH_MAX + 1);
  expect(setsAtEnds.map((count) => count / setsOfSession)).toEqual([16, 32, 33]);
  const written = rowsIn(sets).map(({ paper_strategy_id }) => paper_strategy_id);
  expect(written).toEqual(Array.from({ length: 33 }, (_, n) => `ps_${n}`));
});

test('sessions of one strategy in several markets are all written', async () => {
  const { clock, sets, writer } = rig(() => false, undefined, true);
  for (const marketId of ['0x1', '0x2'])
    writer.changed({ ...stateOf('ps_1'), marketId, trades: [aTrade(1_000)] });
  await clock.advance(0);
  await writer.settled();
  expect(rowsIn(sets).map(({ market_id }) => market_id)).toEqual(['0x1', '0x2']);
});

test('of a session that changed twice before it was written, the newest state is written', async () => {
  const { clock, sets, writer } = rig(() => false, undefined, true);
  for (const pnl of [null, 700_001]) writer.changed({ ...stateOf('ps_1'), trades: [aTrade(1_000, pnl)] });
  await clock.advance(0);
  await writer.settled();
  expect(rowsIn(sets)).toEqual(positionRows({ ...stateOf('ps_1'), trades: [aTrade(1_000, 700_001)] }));
});

test.each(['settled', 'close', 'abandon'] as const)(
  '%s() waits for the end of the transaction that is being written',
  async (method) => {
    const { clock, setsAtEnds, commit, writer } = rig(() => false);
    const { promise, resolve } = Promise.withResolvers<void>();
    commit.run = () => promise;
    writer.changed(stateOf('ps_1'));
    await clock.advance(0);
    let hasEnded = false;
    const ended = writer[method]().then(() => {
      hasEnded = true;
    });
    await clock.advance(1_000);
    expect([hasEnded, setsAtEnds]).toEqual([false, []]);
    resolve();
    await clock.advanceUntil(ended, 0);
    expect(setsAtEnds).toEqual([1]);
  },
);

test('each refused write is logged and counted', async () => {
  const { clock, logged, metrics, writer } = rig((attempt) => attempt <= 2);
  writer.changed(stateOf('ps_1'));
  await clock.advance(5_000);
  await writer.settled();
  const failed = ['paper.write_failed', { err: new Error('the database is away'), sessions: 1 }];
  expect(logged).toEqual([failed, failed]);
  const failures = 'underround_paper_write_failures_total';
  expect(await metrics.registry.getSingleMetricAsString(failures)).toContain(`\n${failures} 2`);
});

test('a session that changed again during a refused write is written in its newest state', async () => {
  const { clock, sets, writer } = rig(
    (attempt) => {
      if (attempt === 1) changed(700_001);
      return attempt === 1;
    },
    undefined,
    true,
  );
  const changed = (pnl: number | null) =>
    writer.changed({ ...stateOf('ps_1'), trades: [aTrade(1_000, pnl)] });
  changed(null);
  await clock.advance(5_000);
  await writer.settled();
  expect(rowsIn(sets)).toEqual(positionRows({ ...stateOf('ps_1'), trades: [aTrade(1_000, 700_001)] }));
});

test('a resolution whose write was refused is written by the next try', async () => {
  const { clock, triedAt, sets, writer } = rig((attempt) => attempt === 1);
  writer.resolutionMoved({ marketId: '0x1', outcome: 'Up', resolvedTimeMs: 5 });
  await clock.advance(5_000);
  await writer.settled();
  expect(triedAt).toEqual([0, 50]);
  expect(sets).toEqual([{ closed_ms: 5, outcome: 'Up' }, { outcome: 'Up' }]);
});

test('a resolution that moved again during a refused write is not moved back', async () => {
  const { clock, triedAt, sets, writer } = rig((attempt) => {
    if (attempt === 1) moved(7);
    return attempt === 1;
  });
  const moved = (resolvedTimeMs: number) =>
    writer.resolutionMoved({ marketId: '0x1', outcome: 'Up', resolvedTimeMs });
  moved(5);
  await clock.advance(5_000);
  await writer.settled();
  expect(triedAt).toEqual([0, 50]);
  expect(sets).toEqual([{ closed_ms: 7, outcome: 'Up' }, { outcome: 'Up' }]);
});

test('of a resolution that moved twice before it was written, the later time is written', async () => {
  const { clock, sets, writer } = rig(() => false);
  for (const resolvedTimeMs of [5, 7])
    writer.resolutionMoved({ marketId: '0x1', outcome: 'Up', resolvedTimeMs });
  await clock.advance(0);
  await writer.settled();
  expect(sets).toEqual([{ closed_ms: 7, outcome: 'Up' }, { outcome: 'Up' }]);
});

test('a resolution that moved is written after every session that waits, also one of a later transaction', async () => {
  const { clock, triedAt, sets, writer } = rig(() => false);
  writer.resolutionMoved({ marketId: '0x1', outcome: 'Up', resolvedTimeMs: 5 });
  for (let n = 0; n < SESSIONS; n++) writer.changed(stateOf(`ps_${n}`));
  await clock.advance(1_000);
  await writer.settled();
  expect(triedAt).toHaveLength(2);
  expect(sets).toHaveLength(SESSIONS + 2);
  expect(sets.slice(SESSIONS)).toEqual([{ closed_ms: 5, outcome: 'Up' }, { outcome: 'Up' }]);
});

test('of too many terms that wait the oldest are lost, also after a refused write', async () => {
  const { clock, sets, writer } = rig((attempt) => {
    if (attempt === 1) changed(TERMS_MAX + 1);
    return attempt === 1;
  });
  const changed = (afterSeq: number) => writer.termsChanged({ ...firstTerms('0x1', TAPE_MARKET), afterSeq });
  for (let n = 0; n <= TERMS_MAX; n++) changed(n);
  await clock.advance(1_000);
  await writer.settled();
  const seqs = sets.map((row) => (row as { after_seq: number }).after_seq);
  expect([seqs.length, seqs[0], seqs.at(-1)]).toEqual([TERMS_MAX, 2, TERMS_MAX + 1]);
});

test('at the end a write that is refused is not tried again', async () => {
  const { triedAt, writer } = rig((attempt) => attempt < 10);
  writer.changed(stateOf('ps_1'));
  await writer.close();
  expect(triedAt).toEqual([0]);
});

test('at the end a write that waits for another try is tried once more, at once', async () => {
  const { clock, triedAt, sets, writer } = rig((attempt) => attempt === 1);
  writer.changed(stateOf('ps_1'));
  await clock.advance(10);
  await Promise.all([writer.close(), clock.advance(0)]);
  expect([triedAt, sets.length, clock.waiting]).toEqual([[0, 10], 1, 0]);
});

test('a process that was replaced tries no further write', async () => {
  const { clock, triedAt, sets, writer } = rig(
    () => false,
    (attempt) => attempt === 1,
  );
  for (const strategyId of ['ps_1', 'ps_2', 'ps_3']) {
    writer.changed(stateOf(strategyId));
    await clock.advance(1_000);
    await writer.settled();
  }
  expect([triedAt, sets.length]).toEqual([[0, 1_000], 1]);
});

test('whether a process still trades is checked in the transaction of each write', async () => {
  const { clock, query, checkedIn, writer } = rig(() => false);
  for (let n = 0; n < SESSIONS; n++) writer.changed(stateOf(`ps_${n}`));
  await clock.advance(0);
  await writer.settled();
  expect(checkedIn.map((transaction) => transaction === query)).toEqual([true, true]);
});

test('a process that was replaced tries no further write, also if the end of its transaction fails', async () => {
  const { clock, triedAt, commit, writer } = rig(
    () => false,
    () => false,
  );
  commit.run = async () => {
    throw new Error('the connection is lost');
  };
  writer.changed(stateOf('ps_1'));
  await clock.advance(10_000);
  await writer.settled();
  expect(triedAt).toEqual([0]);
});

test('terms are written once, before the sessions of all transactions', async () => {
  const { clock, triedAt, sets, writer } = rig(() => false);
  for (let n = 0; n < SESSIONS; n++) writer.changed(stateOf(`ps_${n}`));
  writer.termsChanged({ ...firstTerms('0x1', TAPE_MARKET), afterSeq: 1 });
  await clock.advance(0);
  await writer.settled();
  expect(triedAt).toHaveLength(2);
  expect(sets[0]).toMatchObject({ market_id: '0x1', after_seq: 1, written_ms: clock.now() });
  expect(sets.map((set) => typeof set)).toEqual(['object', ...Array(SESSIONS).fill('function')]);
});

test('other work may run between two transactions', async () => {
  const { clock, triedAt, writer } = rig(() => false);
  const waits: number[] = [];
  const { after } = FakeClock.prototype;
  clock.after = (delayMs, run) => {
    waits.push(triedAt.length);
    return after.call(clock, delayMs, run);
  };
  for (let n = 0; n < SESSIONS; n++) writer.changed(stateOf(`ps_${n}`));
  await clock.advance(0);
  await writer.settled();
  // Before the first one, and after each.
  expect(waits).toEqual([0, 1, 2]);
});

test.each<[string, (writer: PositionWriter) => void]>([
  ['a session', (writer) => writer.changed(stateOf('ps_1'))],
  ['terms', (writer) => writer.termsChanged({ ...firstTerms('0x1', TAPE_MARKET), afterSeq: 1 })],
  ['a resolution', (writer) => writer.resolutionMoved({ marketId: '0x1', outcome: 'Up', resolvedTimeMs: 5 })],
])(
  'a writer that is abandoned during the pause after a refused write of %s ends at once and writes nothing',
  async (_, change) => {
    const { clock, triedAt, writer } = rig((attempt) => attempt === 1);
    change(writer);
    await clock.advance(10);
    let hasEnded = false;
    const ended = writer.abandon().then(() => {
      hasEnded = true;
    });
    await clock.advance(0);
    expect([hasEnded, clock.waiting, triedAt]).toEqual([true, 0, [0]]);
    await ended;
  },
);

test('a writer that is abandoned before its transaction begins writes nothing in it', async () => {
  const { clock, triedAt, sets, writer } = rig(() => {
    void writer.abandon();
    return false;
  });
  writer.changed(stateOf('ps_1'));
  await clock.advance(0);
  await writer.settled();
  expect([triedAt, sets]).toEqual([[0], []]);
});

test('an abandoned writer writes no later change', async () => {
  const { clock, triedAt, writer } = rig(() => false);
  await writer.abandon();
  writer.changed(stateOf('ps_1'));
  await clock.advance(10_000);
  await writer.settled();
  expect(triedAt).toEqual([]);
});

test('an abandoned writer tries nothing again, also after a check of its election that failed', async () => {
  const { clock, triedAt, writer } = rig(
    () => false,
    () => {
      throw new Error('the connection is lost');
    },
  );
  writer.changed(stateOf('ps_1'));
  await clock.advance(0);
  expect(triedAt).toEqual([0]);
  await Promise.all([writer.abandon(), clock.advance(0)]);
  await clock.advance(10_000);
  expect(triedAt).toEqual([0]);
});

test('a process that was replaced writes no later transaction of those that wait', async () => {
  const { clock, triedAt, sets, logged, writer } = rig(
    () => false,
    () => false,
  );
  for (let n = 0; n < SESSIONS; n++) writer.changed(stateOf(`ps_${n}`));
  await clock.advance(1_000);
  await writer.settled();
  expect([triedAt, sets]).toEqual([[0], []]);
  expect(logged).toEqual([['paper.trader_replaced', { sessions: BATCH_MAX }]]);
});

test('of one version of terms too many the oldest is lost', async () => {
  const { clock, sets, writer } = rig(() => false);
  for (let n = 0; n <= TERMS_MAX; n++)
    writer.termsChanged({ ...firstTerms('0x1', TAPE_MARKET), afterSeq: n });
  await clock.advance(1_000);
  await writer.settled();
  expect(sets).toHaveLength(TERMS_MAX);
  expect(sets[0]).toMatchObject({ after_seq: 1 });
});

test('the pause after refused writes doubles, up to five seconds', async () => {
  const { clock, triedAt, writer } = rig((attempt) => attempt < 11);
  writer.changed(stateOf('ps_1'));
  await clock.advance(60_000);
  const pauses = triedAt.slice(1).map((atMs, n) => atMs - (triedAt[n] as number));
  expect(pauses).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000]);
});
