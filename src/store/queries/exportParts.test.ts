import { expect, onTestFinished, test } from 'vitest';
import { marketRecord } from '../../../test/support/api.ts';
import { oneClock } from '../../../test/support/gaps.ts';
import { openTestStore } from '../../../test/support/store.ts';
import { exportParts } from './exportParts.ts';
import { exportRows, exportSources } from './exports.ts';

const T0 = Date.UTC(2026, 10, 20, 12);
const M = `0x${'a'.repeat(64)}`;
const UNKNOWN = { ticker: 'unknown', eventType: 'unknown' } as const;
const signal = new AbortController().signal;

test.each([
  ['trades', 'series=BTC-5m/date=2026-11-20'],
  ['gaps', 'series=BTC-5m'],
  ['markets', 'series=BTC-5m'],
] as const)(
  'a market whose series became known is exported once, in that series: %s',
  async (dataset, folder) => {
    const { store, dispose } = await openTestStore();
    onTestFinished(dispose);
    const market = marketRecord({ marketId: M, startTimeMs: T0, endTimeMs: T0 + 300_000 });
    store.writer.market({ ...market, ...UNKNOWN, seq: 1 });
    const times = { eventTimeMs: T0 + 1, receivedTimeMs: T0 + 2 };
    store.writer.trade({
      ...{ seq: 2, marketId: M, ...times },
      ...{ side: 'BUY_YES', price: 5_000, size: 1_000_000, tradeId: 't' },
    });
    store.writer.gap(
      oneClock({
        ...{ seq: 3, gapId: 'g', marketId: M, startTimeMs: T0, endTimeMs: T0 + 1 },
        ...{ cause: 'silent_feed', feed: 'f', repairedBy: null, knownTimeMs: null, knownSeq: null },
      }),
    );
    await store.writer.flush();
    store.writer.market({ ...market, seq: 4 });
    await store.writer.flush();

    const range = { startMs: null, endMs: null };
    const filter = { ticker: null, eventType: null, source: null, venue: null };
    const parts = await exportParts(store, dataset, { filter, range, signal });
    expect(parts.map((part) => part.folder)).toEqual([folder]);
    const rowsOf = async (series: typeof UNKNOWN | { ticker: 'BTC'; eventType: '5m' }) => {
      const sources = await exportSources(store, { dataset, markets: series }, { range, signal });
      const rows = sources.map((source) => exportRows(source, 'json'));
      const read = rows.map(({ query, params }) => store.rows(query, { ...params }, { signal }));
      return (await Promise.all(read)).flat().length;
    };
    expect(await rowsOf({ ticker: 'BTC', eventType: '5m' })).toBe(1);
    expect(await rowsOf(UNKNOWN)).toBe(0);
  },
);

test('each day of a range has its own part of it, the first and the last cut by its ends', async () => {
  const { store, dispose } = await openTestStore();
  onTestFinished(dispose);
  const day = (days: number) => Date.UTC(2026, 10, 20 + days);
  for (const [at, hours] of [23, 30, 54, 73].entries()) {
    const eventTimeMs = day(0) + hours * 3_600_000;
    const price = { kind: 'underlying', ticker: 'BTC', source: 'chainlink', price: 1 } as const;
    store.writer.underlying({ ...price, eventTimeMs, receivedTimeMs: eventTimeMs, seq: at + 1 });
  }
  await store.writer.flush();
  const range = { startMs: day(0) + 20 * 3_600_000, endMs: day(2) + 7 * 3_600_000 };
  const filter = { ticker: null, eventType: null, source: null, venue: null };
  const parts = await exportParts(store, 'underlying', { filter, range, signal });
  const folder = 'asset=BTC/source=chainlink/date=2026-11-';
  expect(parts.map((part) => [part.folder, part.range])).toEqual([
    [`${folder}20`, { startMs: range.startMs, endMs: day(1) }],
    [`${folder}21`, { startMs: day(1), endMs: day(2) }],
    [`${folder}22`, { startMs: day(2), endMs: range.endMs }],
  ]);
});
