import { afterAll, beforeAll, expect, test } from 'vitest';
import { nothingFollowed } from '../../test/support/api.ts';
import { oneClock } from '../../test/support/gaps.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import { MARKET } from '../../test/support/wire.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Gap } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import { type MarketDependencies, marketRecord, marketRecords } from './marketRecords.ts';

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 10, 20, 12);
const never = { signal: new AbortController().signal };

let opened: TestStore;
let parts: MarketDependencies;
beforeAll(async () => {
  opened = await openTestStore();
  parts = { store: opened.store, live: { followed: nothingFollowed }, clock: systemClock };
});
afterAll(() => opened.dispose());

let seq = 0;
/**
 * @param since Minute of the window in which its first verified book was received; null: its record does not contain
 * it.
 */
function market(
  name: string,
  { since = -1, ...window }: { startTimeMs?: number; endTimeMs?: number; since?: number | null } = {},
): Market {
  const startTimeMs = window.startTimeMs ?? START_MS;
  const endTimeMs = window.endTimeMs ?? startTimeMs + 10 * MINUTE_MS;
  const recordedSinceMs = since === null ? null : startTimeMs + since * MINUTE_MS;
  const one = { ...MARKET, marketId: name, slug: name, startTimeMs, endTimeMs, recordedSinceMs };
  opened.store.writer.market({ ...one, seq: ++seq });
  return one;
}

/** A gap from and to minutes of the window; null while open. */
function gap(of: Market, from: number, to: number | null, gapId = `gap_${++seq}`): void {
  const startTimeMs = of.startTimeMs + from * MINUTE_MS;
  const endTimeMs = to === null ? null : of.startTimeMs + to * MINUTE_MS;
  const rest: Pick<Gap, 'knownTimeMs' | 'knownSeq' | 'cause' | 'feed' | 'repairedBy'> = {
    ...{ knownTimeMs: startTimeMs, knownSeq: seq },
    cause: 'disconnected',
    feed: 'polymarket.clob',
    repairedBy: to === null ? null : 'snapshot',
  };
  const record = { gapId, marketId: of.marketId, startTimeMs, endTimeMs, ...rest };
  opened.store.writer.gap(oneClock({ ...record, seq: ++seq }));
}

/** A quote received in a minute of the window. */
function quote(of: Market, minute: number, trusted: boolean): void {
  const timeMs = of.startTimeMs + minute * MINUTE_MS;
  const times = { seq: ++seq, eventTimeMs: timeMs - 20, receivedTimeMs: timeMs };
  const prices = { yesBid: 5000, yesAsk: 5100, noBid: 4900, noAsk: 5000, yesChanged: true };
  const { marketId } = of;
  opened.store.writer.quote({ ...times, ...prices, marketId, trusted, underlyingPrice: null });
}

test('coverage is the recorded share of the elapsed window without its gaps', async () => {
  market('whole');
  gap(market('one minute of ten'), 3, 4);
  const overlapping = market('overlapping gaps count once');
  gap(overlapping, 1, 3);
  gap(overlapping, 2, 4);
  gap(market('only what lies in the window'), -5, 2);
  gap(market('before and after the window'), -5, 0);
  gap(market('open since the fifth minute'), 5, null);
  const closed = market('opened, then closed');
  gap(closed, 5, null, 'gap_closed');
  gap(closed, 5, 6, 'gap_closed');
  gap(market('nothing'), -1, null);
  const farMs = Date.UTC(2100, 0, 1);
  gap(market('still to come', { startTimeMs: farMs }), -1_000_000, null);
  market('begun late', { since: 4 });
  gap(market('begun late, with a gap', { since: 2 }), 1, 5);
  market('proven in the last second', { since: 10 });
  const early = market('its quotes begin before the window', { since: null });
  quote(early, -3, true);
  quote(early, 5, true);
  const late = market('its quotes begin in the window', { since: null });
  quote(late, 1, false);
  quote(late, 3, true);
  quote(late, 4, true);
  quote(market('no quote was proven', { since: null }), -3, false);
  market('never recorded', { since: null });
  market('still to come, not recorded yet', { startTimeMs: farMs, since: null });
  await opened.store.writer.flush();
  const filter = { ticker: null, eventType: null, status: null, sinceMs: null, untilMs: null };
  const query = { ...filter, limit: 100, after: null };
  const found = await marketRecords(parts, query, never.signal);
  expect(Object.fromEntries(found.map(({ market_id, coverage }) => [market_id, coverage]))).toEqual({
    whole: 1,
    'one minute of ten': 0.9,
    'overlapping gaps count once': 0.7,
    'only what lies in the window': 0.8,
    'before and after the window': 1,
    'open since the fifth minute': 0.5,
    'opened, then closed': 0.9,
    nothing: 0,
    'still to come': 1,
    'begun late': 0.6,
    'begun late, with a gap': 0.5,
    'proven in the last second': 0,
    'its quotes begin before the window': 1,
    'its quotes begin in the window': 0.7,
    'no quote was proven': 0,
    'never recorded': 0,
    'still to come, not recorded yet': 1,
  });
  // A single market is read by a statement of its own.
  for (const market of found) {
    expect(await marketRecord(parts, market.market_id, never)).toEqual(market);
  }
});

test('a list of some markets has the same coverage as the list of all, and an unknown market has no row', async () => {
  const filter = { ticker: null, eventType: null, status: null, sinceMs: null, untilMs: null };
  const all = await marketRecords(parts, { ...filter, limit: 100, after: null }, never.signal);
  const some = await marketRecords(parts, { ...filter, limit: 5, after: null }, never.signal);
  expect(some).toEqual(all.slice(0, 5));
  const [first] = some;
  const after = { endTimeMs: Date.parse(first?.end_time ?? ''), marketId: first?.market_id ?? '' };
  expect(await marketRecords(parts, { ...filter, limit: 3, after }, never.signal)).toEqual(all.slice(1, 4));
  expect(await marketRecord(parts, 'unknown', never)).toBeNull();
});
