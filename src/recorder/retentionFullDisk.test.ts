/** Removals while the engine may get no rows, because the disk is full. */
import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openTestStore } from '../../test/support/store.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { loadGapsOf } from '../store/queries/resume.ts';
import { Recorder } from './recorder.ts';
import { RetentionKeeper } from './retention.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2026-11-23T12:00:00Z');
const OLD_MS = NOW_MS - 40 * DAY_MS;
const LIMITS = { retention: { trades: 30 }, budgetBytes: null, freeBytes: async () => 0 };
/** The recording went on: ages are judged by its newest day. */
const PARTS = [
  { table: 'trades', day: '2026-10-14', bytes: 1 },
  { table: 'underlying', day: '2026-11-23', bytes: 1 },
];
const pending = () => new Promise<void>(() => {});

/** A keeper of a store with one old day of trades, and the order of what it did. */
function keeperWith(writer: { mayInsert: boolean; flush(): Promise<void>; keep(): Promise<void> }) {
  const clock = new FakeClock(NOW_MS);
  const common = { clock, log: silentLogger, metrics: new Metrics() };
  const done: string[] = [];
  const none = () => undefined;
  const sink = {
    ...{ book: none, quote: none, trade: none, underlying: none, perpDepth: none, market: none },
  };
  const recorder = new Recorder({ ...common, sink: { ...sink, gap: none }, timeBy: 'receipt' });
  const times = { fromMs: OLD_MS, toMs: OLD_MS, receivedFromMs: OLD_MS, receivedToMs: OLD_MS };
  const rows = async (query: string) => {
    if (query.includes('system.parts')) return PARTS as never;
    if (query.includes('GROUP BY market_id')) return [{ marketId: 'm', ...times }] as never;
    return [] as never;
  };
  const store = {
    ...{ rows, stream: pending as never, writer, thinBooks: async () => true },
    removeThinningDraft: async () => undefined,
    removeDay: async (table: string) => void done.push(`removed ${table}`),
  };
  const keeper = new RetentionKeeper({ ...common, ...LIMITS, store, recorder });
  const until = (work: Promise<void>) => clock.advanceUntil(work, 250);
  return { keeper, clock, done, until };
}

test('the gap is in the journal where the disk fills up during its insert', async () => {
  const writer = {
    mayInsert: true,
    flush: pending,
    keep: async () => void done.push('kept'),
  };
  const { keeper, clock, done, until } = keeperWith(writer);
  const round = keeper.run();
  await clock.advance(1_000);
  expect(done).toEqual([]);
  writer.mayInsert = false;
  await until(round);
  expect(done).toEqual(['kept', 'removed trades']);
});

test.each([
  ['the engine does not answer', true],
  ['the journal has no room either', false],
])('a stop ends the wait, and the rows stay, where %s', async (_, mayInsert) => {
  const { keeper, clock, done } = keeperWith({ mayInsert, flush: pending, keep: pending });
  void keeper.run();
  await clock.advance(1_000);
  // No time passes.
  await keeper.stop();
  expect(done).toEqual([]);
});

test('a round ends without a removal where its gap is stored nowhere', async () => {
  const { keeper, done, until } = keeperWith({ mayInsert: false, flush: pending, keep: pending });
  await until(keeper.run());
  expect(done).toEqual([]);
});

test('rows are removed while the engine may get none, and the gap reaches it afterwards', async () => {
  let mayInsert = true;
  const { store, dispose } = await openTestStore({ mayInsert: () => mayInsert });
  const common = { clock: new FakeClock(NOW_MS), log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink: store.writer, timeBy: 'receipt' });
  for (const [index, eventTimeMs] of [OLD_MS, NOW_MS].entries()) {
    const times = { eventTimeMs, receivedTimeMs: eventTimeMs + 3, seq: index + 1 };
    store.writer.trade({ marketId: 'm', ...times, side: 'BUY_NO', price: 1, size: 1, tradeId: `${index}` });
  }
  await store.writer.flush();
  const keeper = new RetentionKeeper({ ...common, ...LIMITS, store, recorder });
  onTestFinished(async () => {
    await keeper.stop();
    await dispose();
  });
  mayInsert = false;
  await keeper.run();
  expect(await store.rows('SELECT seq FROM trades')).toEqual([{ seq: 2 }]);
  mayInsert = true;
  await store.writer.flush();
  const gaps = await loadGapsOf(store, ['m']);
  expect(gaps).toMatchObject([{ cause: 'retention', startTimeMs: OLD_MS, endTimeMs: OLD_MS }]);
});
