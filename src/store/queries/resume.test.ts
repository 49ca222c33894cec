import { afterAll, beforeAll, expect, test } from 'vitest';
import { bookRecord, marketRecord } from '../../../test/support/api.ts';
import { openTestStore, type TestStore } from '../../../test/support/store.ts';
import { loadProvenAround, marketsRecordedIn } from './resume.ts';

const T0 = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 3_600_000;

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
  const { writer } = opened.store;
  const window = { startTimeMs: T0 - 300_000, endTimeMs: T0, recordedSinceMs: null };
  writer.market({ ...marketRecord({ marketId: 'without an outcome', ...window }), seq: 1 });
  const resolved = { status: 'resolved', resolvedTimeMs: T0 + 600_000 } as const;
  writer.market({ ...marketRecord({ marketId: 'resolved', ...window, ...resolved }), seq: 2 });
  const early = { ...window, recordedSinceMs: T0 - 900_000 };
  writer.market({ ...marketRecord({ marketId: 'recorded before its window', ...early }), seq: 3 });
  for (const [at, afterMs] of [0, 10, 20, 30, 40].entries()) {
    const levels = { yesBids: [[5_000, 1]], yesAsks: [] } as const;
    writer.book(bookRecord({ seq: 10 + at, marketId: 'books', timeMs: T0 + afterMs, ...levels }));
  }
  await writer.flush();
});
afterAll(() => opened.dispose());

test.each([
  ['before a window', -300_001, ['recorded before its window']],
  ['when a window begins', -300_000, ['recorded before its window', 'resolved', 'without an outcome']],
  ['until the outcome', 600_000, ['recorded before its window', 'resolved', 'without an outcome']],
  ['after the outcome', 600_001, ['recorded before its window', 'without an outcome']],
  ['an hour after the end without one', HOUR_MS, ['recorded before its window', 'without an outcome']],
  ['later', HOUR_MS + 1, []],
])('a market is recorded %s', async (_, afterMs, ids) => {
  const range = { fromMs: T0 + afterMs, toMs: T0 + afterMs };
  expect(await marketsRecordedIn(opened.store, range)).toEqual(ids);
});

test('the proven rows around a span are not those at its ends', async () => {
  const span = { fromMs: T0 + 10, toMs: T0 + 30 };
  const around = (await loadProvenAround(opened.store, ['books', 'unknown'], span)).get('books');
  const at = (afterMs: number) => ({ eventTimeMs: T0 + afterMs, receivedTimeMs: T0 + afterMs + 40 });
  expect(around).toEqual({ before: at(0), after: at(40) });
});
