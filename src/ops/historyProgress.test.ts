import { expect, test } from 'vitest';
import { idleLive, KEY, testApi } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { stubStore } from '../../test/support/stubStore.ts';
import { type HistoryProgress, historyLines, historyPercent } from './historyProgress.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const SETTLED = `/v1/perp/depth?ticker=BTC&end=${new Date(NOW - 3_600_000).toISOString()}`;
const progress = (share: number, failure: string | null = null): HistoryProgress => ({
  ...{ share, hours: 0.83, failure },
});

async function headersOf(history: HistoryProgress | null) {
  const live = { ...idleLive, history: () => history };
  const app = testApi({ store: stubStore(), clock: new FakeClock(NOW), live });
  const { headers } = await app.inject({ url: SETTLED, headers: KEY });
  await app.close();
  return [headers['x-history-recorded'], headers.etag === undefined, headers['cache-control']];
}

test('a response reports how much history is recorded, and is not cacheable until all of it is', async () => {
  expect(await headersOf(progress(0.424))).toEqual(['42%', true, 'no-store']);
  expect(await headersOf(null)).toEqual([undefined, false, 'private, max-age=3600']);
});

test('is never complete before the end', () => {
  expect([0, 0.999, 1].map((share) => historyPercent({ share }))).toEqual([0, 99, 99]);
});

test.each([
  ['nothing once the history is complete', null, []],
  ['its progress', progress(0.5), ['history is being recorded: 50 % of 0.83 h']],
  [
    'why it stopped',
    progress(0.5, 'disk full'),
    ['history is incomplete, 50 % of 0.83 h recorded: disk full'],
  ],
])('readiness lists %s', (_, state, lines) => {
  expect(historyLines(state)).toEqual(lines);
});
