import { expect, onTestFinished, test } from 'vitest';
import { marketRecord, unaskedStore } from '../../test/support/api.ts';
import { detection } from '../../test/support/detections.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openTestStore } from '../../test/support/store.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { StoreReader } from '../store/reader.ts';
import { AuditFinisher } from './auditFinisher.ts';
import type { AuditLog } from './auditLog.ts';
import type { AuditReader, UnsettledMarket } from './auditReader.ts';

/** A finisher that finds nothing to do, apart from what the parts of the test give it. */
function finisherOn(
  clock: FakeClock,
  parts: {
    readonly reader?: object;
    readonly audit?: object;
    readonly store?: object;
    readonly storeLagMs?: () => number;
    readonly metrics?: Metrics;
  },
): AuditFinisher {
  const { reader, audit = {}, store = unaskedStore, storeLagMs = () => 0, metrics = new Metrics() } = parts;
  return new AuditFinisher({
    reader: { unexecuted: async () => [], unsettled: async () => [], ...reader } as unknown as AuditReader,
    ...{ audit: audit as AuditLog, store: store as StoreReader, storeLagMs },
    ...{ clock, log: silentLogger, metrics },
  });
}

test('a row is not finished from the store before the store has the books for its fills', async () => {
  const clock = new FakeClock();
  const asked: number[] = [];
  const reader = {
    unexecuted: async (beforeMs: number) => {
      asked.push(clock.now() - beforeMs);
      return [];
    },
  };
  let lagMs = 0;
  const finisher = finisherOn(clock, { reader, storeLagMs: () => lagMs });
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
  const finisher = finisherOn(clock, {
    reader: {
      unsettled: async () => [{ marketId: '0xaa', endMs: market.endTimeMs }],
      hasRows: async () => true,
    },
    audit: { settle: async (...given: unknown[]) => settled.push(given) },
    store,
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
  const finisher = finisherOn(clock, {
    reader: {
      unsettled: async (after: UnsettledMarket | null, limit: number) => {
        const from =
          after === null ? 0 : unresolved.findIndex(({ marketId }) => marketId === after.marketId) + 1;
        const page = unresolved.slice(from, from + limit);
        asked.push([page[0]?.marketId, page.at(-1)?.marketId]);
        return page;
      },
    },
    store: { rows: async () => [] },
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

test('a market is settled from half a minute after its end', async () => {
  const clock = new FakeClock();
  const asked: unknown[] = [];
  const ended = [30_000, 29_999].map((agoMs) => ({ marketId: `0x${agoMs}`, endMs: clock.now() - agoMs }));
  const rows = async (_query: string, params: object) => {
    asked.push(params);
    return [];
  };
  const finisher = finisherOn(clock, { reader: { unsettled: async () => ended }, store: { rows } });
  await finisher.round();
  expect(asked).toEqual([{ marketId: '0x30000' }]);
  await finisher.close();
});

test('a round that fails is counted, and repeated a minute later', async () => {
  const clock = new FakeClock();
  const metrics = new Metrics();
  let rounds = 0;
  const unexecuted = async () => {
    if (++rounds === 1) throw new Error('away');
    return [];
  };
  const finisher = finisherOn(clock, { reader: { unexecuted }, metrics });
  const failures = metrics.registry.getSingleMetric('underround_audit_catch_up_failures_total');
  const failed = async () => (await failures?.get())?.values.map(({ value }) => value);
  await finisher.round();
  expect([rounds, await failed()]).toEqual([1, [1]]);
  await clock.advance(60_000);
  expect([rounds, await failed()]).toEqual([2, [1]]);
  await finisher.close();
  await clock.advance(600_000);
  expect(rounds).toBe(2);
});

test('a row gets the fills of the books some time after its detection', async () => {
  const clock = new FakeClock();
  const [found, timesMs, written] = [detection(), new Set<number>(), [] as unknown[]];
  const rows = async (_query: string, { timeMs }: { timeMs: number }) => {
    timesMs.add(timeMs - found.detectedMs);
    return [];
  };
  const finisher = finisherOn(clock, {
    reader: { unexecuted: async () => [{ detection: found }] },
    audit: { executable: async (...given: unknown[]) => written.push(given) },
    store: { rows },
  });
  await finisher.round();
  expect([...timesMs]).toEqual([50, 250, 500]);
  const none = { fillPrice: null, size: 0 };
  expect(written).toEqual([[found.auditId, [50, 250, 500].map((afterMs) => ({ afterMs, ...none }))]]);
  await finisher.close();
});

test('of the markets that are resolved, only those with rows are settled', async () => {
  const clock = new FakeClock();
  const settled: string[] = [];
  const settle = async ({ marketId }: { marketId: string }) => settled.push(marketId);
  const finisher = finisherOn(clock, {
    reader: { hasRows: async (marketId: string) => marketId === '0xaa' },
    audit: { settle },
  });
  for (const marketId of ['0xaa', '0xbb'])
    finisher.onMarket(marketRecord({ marketId, status: 'resolved', outcome: 'Up', payoutYes: 1 }));
  finisher.onMarket(marketRecord({ marketId: '0xaa', status: 'resolved', outcome: null, payoutYes: null }));
  await finisher.close();
  expect(settled).toEqual(['0xaa']);
});
