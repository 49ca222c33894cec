import { expect, onTestFinished, test } from 'vitest';
import { marketRecord, unaskedStore } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openTestStore } from '../../test/support/store.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { StoreReader } from '../store/reader.ts';
import { AuditFinisher } from './auditFinisher.ts';
import type { AuditLog } from './auditLog.ts';
import type { AuditReader, UnsettledMarket } from './auditReader.ts';

test('a row is not finished from the store before the store has the books for its fills', async () => {
  const clock = new FakeClock();
  const asked: number[] = [];
  const reader = {
    unexecuted: async (beforeMs: number) => {
      asked.push(clock.now() - beforeMs);
      return [];
    },
    unsettled: async () => [],
  } as unknown as AuditReader;
  let lagMs = 0;
  const finisher = new AuditFinisher({
    reader,
    audit: {} as AuditLog,
    store: unaskedStore,
    storeLagMs: () => lagMs,
    clock,
    log: silentLogger,
    metrics: new Metrics(),
  });
  await finisher.round();
  lagMs = 540_000;
  await finisher.round();
  expect(asked).toEqual([30_000, 570_000]);
  await finisher.close();
});

test('a row of a market that is resolved without a known payout stays open', async () => {
  const { store, dispose } = await openTestStore();
  onTestFinished(dispose);
  const clock = new FakeClock();
  const market = marketRecord({ marketId: '0xaa', endTimeMs: clock.now() - 600_000 });
  store.writer.market({ ...market, status: 'resolved', outcome: null, payoutYes: null, seq: 1 });
  await store.writer.flush();
  const settled: unknown[] = [];
  const finisher = new AuditFinisher({
    reader: {
      unexecuted: async () => [],
      unsettled: async () => [{ marketId: '0xaa', endMs: market.endTimeMs }],
      hasRows: async () => true,
    } as unknown as AuditReader,
    audit: { settle: async (...given: unknown[]) => settled.push(given) } as unknown as AuditLog,
    ...{ store, storeLagMs: () => 0, clock, log: silentLogger, metrics: new Metrics() },
  });
  await finisher.round();
  expect(settled).toEqual([]);
  store.writer.market({ ...market, status: 'resolved', outcome: 'Down', payoutYes: 0, seq: 2 });
  await store.writer.flush();
  await finisher.round();
  expect(settled).toMatchObject([[{ marketId: '0xaa', outcome: 'Down' }, 0]]);
  await finisher.close();
});

test('markets that the venue never resolves do not hold up the later ones', async () => {
  const clock = new FakeClock();
  const endMs = clock.now() - 600_000;
  const unresolved = Array.from({ length: 1_200 }, (_, at) => ({ marketId: `0x${at}`, endMs: endMs + at }));
  const asked: (string | undefined)[][] = [];
  const finisher = new AuditFinisher({
    reader: {
      unexecuted: async () => [],
      unsettled: async (after: UnsettledMarket | null, limit: number) => {
        const from =
          after === null ? 0 : unresolved.findIndex(({ marketId }) => marketId === after.marketId) + 1;
        const page = unresolved.slice(from, from + limit);
        asked.push([page[0]?.marketId, page.at(-1)?.marketId]);
        return page;
      },
    } as unknown as AuditReader,
    audit: {} as AuditLog,
    store: { rows: async () => [] } as unknown as StoreReader,
    ...{ storeLagMs: () => 0, clock, log: silentLogger, metrics: new Metrics() },
  });
  for (let round = 0; round < 4; round++) await finisher.round();
  expect(asked).toEqual([
    ['0x0', '0x499'],
    ['0x500', '0x999'],
    ['0x1000', '0x1199'],
    ['0x0', '0x499'],
  ]);
  await finisher.close();
});
