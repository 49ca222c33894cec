import { afterAll, beforeAll, expect, it } from 'vitest';
import { oneClock } from '../../../test/support/gaps.ts';
import { openTestStore, type TestStore } from '../../../test/support/store.ts';
import { MARKET } from '../../../test/support/wire.ts';
import type { EventType } from '../../schema/market.ts';
import { gapIncidents, seriesDays, seriesLags } from './quality.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 10, 20);
const RANGE = { fromMs: START_MS, toMs: START_MS + 2 * DAY_MS };

let opened: TestStore;
let seq = 0;

/** @param atMinute Start of the five minutes, after the first day's. @param since Minute of its first proven book. */
function market(marketId: string, atMinute: number, since = -1, eventType: EventType = '5m') {
  const startTimeMs = START_MS + atMinute * MINUTE_MS;
  const times = { startTimeMs, endTimeMs: startTimeMs + 5 * MINUTE_MS };
  const recordedSinceMs = startTimeMs + since * MINUTE_MS;
  const record = { ...MARKET, ...times, marketId, slug: marketId, eventType, recordedSinceMs };
  opened.store.writer.market({ ...record, seq: ++seq });
}

function gap(marketId: string, fromMinute: number, toMinute: number | null, feed = 'polymarket.clob') {
  const startTimeMs = START_MS + fromMinute * MINUTE_MS;
  const endTimeMs = toMinute === null ? null : START_MS + toMinute * MINUTE_MS;
  const known = { knownTimeMs: startTimeMs, knownSeq: seq, repairedBy: null };
  const facts = { gapId: `gap_${++seq}`, marketId, startTimeMs, endTimeMs, ...known };
  opened.store.writer.gap(oneClock({ ...facts, cause: 'disconnected' as const, feed, seq: ++seq }));
}

/** A change of the YES best bid whose frame took so long to arrive. */
function quote(marketId: string, minute: number, delayMs: number) {
  const eventTimeMs = START_MS + minute * MINUTE_MS;
  const times = { seq: ++seq, eventTimeMs, receivedTimeMs: eventTimeMs + delayMs };
  const prices = { yesBid: 5000, yesAsk: 5100, noBid: 4900, noAsk: 5000, yesChanged: true };
  opened.store.writer.quote({ ...times, ...prices, marketId, trusted: true, underlyingPrice: null });
}

beforeAll(async () => {
  opened = await openTestStore();
  market('a', 0);
  market('b', 5, 1);
  market('c', 1_440);
  market('d', 0, -1, '15m');
  gap('a', 1, 2);
  gap('a', 4, 6);
  gap('d', 1, null, 'rtds');
  // Its first proven book came a minute after its end: nothing of it was recorded.
  market('late', 30, 6);
  for (const [at, delayMs] of [10, 20, 30].entries()) quote('a', 1 + at, delayMs);
  await opened.store.writer.flush();
});
afterAll(() => opened.dispose());

it('a series and day has the total, recorded and proven time of its windows', async () => {
  const days = await seriesDays(opened.store, RANGE);
  const [ticker, eventType] = [MARKET.ticker, '5m'];
  expect(days.filter((one) => one.eventType === '5m')).toEqual([
    {
      ...{ ticker, eventType, day: '2026-11-20', windows: 3, windowMs: 15 * MINUTE_MS },
      // Of b the first minute was not recorded, and nothing of the late one; of a two minutes are in gaps.
      ...{ recordedMs: 9 * MINUTE_MS, provenMs: 7 * MINUTE_MS, gaps: 2, longestGapMs: MINUTE_MS },
    },
    {
      ...{ ticker, eventType, day: '2026-11-21', windows: 1, windowMs: 5 * MINUTE_MS },
      ...{ recordedMs: 5 * MINUTE_MS, provenMs: 5 * MINUTE_MS, gaps: 0, longestGapMs: 0 },
    },
  ]);
  expect(days.find((one) => one.eventType === '15m')).toMatchObject({
    ...{ recordedMs: 5 * MINUTE_MS, provenMs: MINUTE_MS, gaps: 1, longestGapMs: 4 * MINUTE_MS },
  });
});

it('the lag of a series and day is that of a sample of its changes', async () => {
  expect(await seriesLags(opened.store, RANGE)).toEqual([
    { ticker: MARKET.ticker, eventType: '5m', day: '2026-11-20', medianMs: 20, p99Ms: 30 },
  ]);
});

it('gaps that began together at one feed are one incident, the newest first', async () => {
  market('e', 60);
  gap('e', 62, 65);
  gap('c', 62, 64);
  await opened.store.writer.flush();
  const found = await gapIncidents(opened.store, { fromMs: START_MS, limit: 3 });
  const clob = { feed: 'polymarket.clob', cause: 'disconnected' };
  const at = (minute: number) => START_MS + minute * MINUTE_MS;
  expect(found).toEqual([
    { ...clob, startMs: at(62), endMs: at(65), markets: 2 },
    { ...clob, startMs: at(4), endMs: at(6), markets: 1 },
    expect.objectContaining({ startMs: at(1) }),
  ]);
  const all = await gapIncidents(opened.store, { fromMs: START_MS, limit: 9 });
  expect(all).toContainEqual({ ...clob, feed: 'rtds', startMs: at(1), endMs: null, markets: 1 });
});

it('an incident of a quiet market begins and ends by receive time', async () => {
  const at = (minute: number) => START_MS + minute * MINUTE_MS;
  // Its book changed last in minute 10. It was proven in minute 200, and again in minute 203.
  const times = { startTimeMs: at(10), endTimeMs: at(10), startReceivedMs: at(200), endReceivedMs: at(203) };
  const known = { knownTimeMs: at(201), knownSeq: seq, repairedBy: null };
  const about = { gapId: 'gap_quiet', marketId: 'a', cause: 'disconnected', feed: 'quiet' } as const;
  opened.store.writer.gap({ ...about, ...times, ...known, seq: ++seq });
  await opened.store.writer.flush();
  const [newest] = await gapIncidents(opened.store, { fromMs: START_MS, limit: 1 });
  const incident = { feed: 'quiet', cause: 'disconnected', markets: 1 };
  expect(newest).toEqual({ ...incident, startMs: at(200), endMs: at(203) });
});
