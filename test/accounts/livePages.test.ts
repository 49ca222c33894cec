import { describe, expect, it } from 'vitest';
import type { LiveState } from '../../src/api/createApi.ts';
import type { NewestBook } from '../../src/recorder/marketMemory.ts';
import type { Gap } from '../../src/schema/gap.ts';
import type { MarketOutlook } from '../../src/signals/liveBoard.ts';
import {
  bookRecord,
  idleLive,
  marketRecord,
  nothingFollowed,
  silentSignals,
  unaskedStore,
} from '../support/api.ts';
import { openDashboard } from '../support/dashboard.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const MINUTE_MS = 60_000;
const shown = (timeMs: number) => new Date(timeMs).toISOString().replace('Z', '+00:00');

const windowOf = (marketId: string, startMinute: number, more: object = {}) =>
  marketRecord({
    ...{ marketId, slug: marketId, startTimeMs: NOW + startMinute * MINUTE_MS },
    ...{ endTimeMs: NOW + (startMinute + 5) * MINUTE_MS, ...more },
  });
const bookOf = (trusted: boolean, yesAsks: [number, number][]): NewestBook =>
  bookRecord({ seq: 1, marketId: 'x', timeMs: NOW - 100, yesBids: [[5000, 1_000_000]], yesAsks, trusted });
const openGap = (marketId: string): Gap => ({
  ...{ gapId: `gap_${marketId}`, marketId, startTimeMs: NOW - 10, endTimeMs: null, cause: 'silent_feed' },
  ...{ startReceivedMs: NOW - 10, endReceivedMs: null },
  ...{ feed: 'polymarket.clob', repairedBy: null, knownTimeMs: NOW, knownSeq: 1 },
});

/** A service whose store must not be queried. */
async function readerOf(live: Partial<LiveState>, outlook = (_id: string): MarketOutlook | null => null) {
  const { signedUp } = await openDashboard({
    ...{ store: unaskedStore, live: { ...idleLive, ...live } },
    signals: { ...silentSignals, board: { ...silentSignals.board, outlook } },
  });
  await signedUp('op@example.com');
  return signedUp('a@example.com');
}

describe('/app/state', () => {
  it('reports the storage lag, and why the service is not ready or its data is late', async () => {
    const reader = await readerOf({
      storeLagMs: () => 42_460,
      ready: () => ({
        ok: false,
        reasons: ['store 42 s behind'],
        degraded: ['late_feed polymarket.clob 7 s'],
      }),
    });
    expect((await reader.ask('GET', '/app/state')).json()).toEqual({
      ...{
        as_of: shown(NOW),
        store_lag_seconds: 42.5,
        ready: false,
        history: null,
        tickers: ['BTC', 'ETH', 'SOL'],
      },
      ...{ reasons: ['store 42 s behind'], degraded: ['late_feed polymarket.clob 7 s'] },
    });
  });
});

describe('/app/live', () => {
  it('lists open windows with their best levels and the model, without using the store', async () => {
    const markets = [
      windowOf('next', 3, { ticker: 'ETH' }),
      windowOf('over', -5),
      windowOf('resolved', -2, { status: 'resolved' }),
      windowOf('now', -2, { strikePrice: 97_000.5, strikeSource: 'relayed' }),
    ];
    const books: Record<string, NewestBook> = {
      now: bookOf(true, [[5100, 2_000_000]]),
      next: bookOf(false, []),
    };
    const followed = { ...nothingFollowed, markets: () => markets, book: (id: string) => books[id] ?? null };
    const fee = { rate: 0.07, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' } as const;
    const outlook = (id: string): MarketOutlook | null =>
      id === 'next' ? null : { spot: 97_010.5, sigmaAnnual: 0.5, distance: Infinity, yesProb: 1, fee };
    const reader = await readerOf({ followed }, outlook);
    const answer = await reader.ask('GET', '/app/live');
    expect(answer.json()).toEqual({
      as_of: shown(NOW),
      windows: [
        {
          ...{ market_id: 'now', ticker: 'BTC', market_type: '5m', gap: null },
          ...{ start_time: shown(NOW - 2 * MINUTE_MS), end_time: shown(NOW + 3 * MINUTE_MS) },
          ...{ strike_price: 97_000.5, strike_source: 'relayed' },
          book: {
            ...{ ts: shown(NOW - 100), yes_bid: 0.5, yes_ask: 0.51, no_bid: 0.49, no_ask: 0.5 },
            ...{ mid_yes: 0.505, trusted: true },
            ...{ yes_bids: [[0.5, 1]], yes_asks: [[0.51, 2]], no_bids: [[0.49, 2]], no_asks: [[0.5, 1]] },
          },
          model: { spot: 97_010.5, sigma_annual: 0.5, distance: null, yes_prob: 1, fee },
        },
        {
          ...{ market_id: 'next', ticker: 'ETH', market_type: '5m', gap: null },
          ...{ start_time: shown(NOW + 3 * MINUTE_MS), end_time: shown(NOW + 8 * MINUTE_MS) },
          ...{ strike_price: null, strike_source: null },
          book: {
            ...{ ts: shown(NOW - 100), yes_bid: 0.5, yes_ask: null, no_bid: null, no_ask: 0.5 },
            ...{ mid_yes: null, trusted: false },
            ...{ yes_bids: [[0.5, 1]], yes_asks: [], no_bids: [], no_asks: [[0.5, 1]] },
          },
          model: null,
        },
      ],
    });
  });

  it('trusts no price in a gap, and lists windows without a book', async () => {
    const followed = {
      ...nothingFollowed,
      markets: () => [windowOf('gap', -1), windowOf('new', 0)],
      book: (id: string) => (id === 'gap' ? bookOf(true, [[5100, 1_000_000]]) : null),
      gaps: (id: string) => (id === 'gap' ? [{ ...openGap(id), endTimeMs: NOW }, openGap(id)] : []),
    };
    const reader = await readerOf({ followed });
    expect((await reader.ask('GET', '/app/live')).json().windows).toMatchObject([
      { market_id: 'gap', gap: 'silent_feed', book: { yes_bid: 0.5, mid_yes: null, trusted: false } },
      { market_id: 'new', gap: null, book: null },
    ]);
  });
});
