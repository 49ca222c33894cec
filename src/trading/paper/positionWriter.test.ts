import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import type { Database } from '../../control/schema.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { SessionState } from '../live/paperSession.ts';
import { PositionWriter } from './positionWriter.ts';

/** One more than a transaction writes. */
const SESSIONS = 17;

/** A writer on a database that refuses some transactions, when each was tried, and what the others set. */
function rig(isRefused: (attempt: number) => boolean) {
  const clock = new FakeClock();
  const triedAt: number[] = [];
  const sets: unknown[] = [];
  const query = {
    updateTable: () => query,
    set: (values: unknown) => {
      sets.push(values);
      return query;
    },
    where: () => query,
    execute: async () => [],
    // The strategy was deleted, so that nothing more of a session is written.
    executeTakeFirst: async () => ({ numUpdatedRows: 0n }),
  };
  const database = {
    transaction: () => ({
      execute: async (work: (transaction: typeof query) => Promise<void>) => {
        triedAt.push(clock.monotonic());
        if (isRefused(triedAt.length)) throw new Error('the database is away');
        await work(query);
      },
    }),
  } as unknown as Database;
  const writer = new PositionWriter({ database, clock, log: silentLogger, metrics: new Metrics() });
  return { clock, triedAt, sets, writer };
}

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

test('at the end a write that is refused is not tried again', async () => {
  const { triedAt, writer } = rig((attempt) => attempt < 10);
  writer.changed(stateOf('ps_1'));
  await writer.close();
  expect(triedAt).toEqual([0]);
});
