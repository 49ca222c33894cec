import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestStore, type TestStore } from '../../../test/support/store.ts';
import { MARKET } from '../../../test/support/wire.ts';
import type { Gap } from '../../schema/gap.ts';
import type { Market } from '../../schema/market.ts';
import { listMarkets } from './markets.ts';

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 10, 20, 12);
const never = { signal: new AbortController().signal };

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
}, 60_000);
afterAll(() => opened.dispose());

let seq = 0;
function market(name: string, window: { startTimeMs?: number; endTimeMs?: number } = {}): Market {
  const startTimeMs = window.startTimeMs ?? START_MS;
  const endTimeMs = window.endTimeMs ?? startTimeMs + 10 * MINUTE_MS;
  const one = { ...MARKET, marketId: name, slug: name, startTimeMs, endTimeMs };
  opened.store.writer.market({ ...one, seq: ++seq });
  return one;
}

/** A gap from and to minutes of the window; null while open. */
function gap(of: Market, from: number, to: number | null, gapId = `gap_${++seq}`): void {
  const startTimeMs = of.startTimeMs + from * MINUTE_MS;
  const endTimeMs = to === null ? null : of.startTimeMs + to * MINUTE_MS;
  const rest: Pick<Gap, 'cause' | 'feed' | 'repairedBy'> = {
    cause: 'disconnected',
    feed: 'polymarket.clob',
    repairedBy: to === null ? null : 'snapshot',
  };
  const record = { gapId, marketId: of.marketId, startTimeMs, endTimeMs, ...rest };
  opened.store.writer.gap({ ...record, seq: ++seq });
}

test('coverage is the share of the window, as far as it has passed, that lies in no gap', async () => {
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
  await opened.store.writer.flush();
  const filter = { ticker: null, eventType: null, status: null, sinceMs: null, untilMs: null };
  const query = { ...filter, limit: 100, after: null };
  const found = await listMarkets(opened.store, query, never.signal);
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
  });
});
