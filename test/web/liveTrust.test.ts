import { describe, expect, it } from 'vitest';
import type { LiveWindow, ServiceState } from '../../web/src/api/schema.ts';
import type { LiveMarket } from '../../web/src/live/messages.ts';
import { noticesOf } from '../../web/src/live/notices.ts';
import { FRESH_MS, type KnownWindow, shownBook, UNPUSHED_MS_MAX } from '../../web/src/live/trust.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const time = (timeMs: number) => new Date(timeMs).toISOString();

const answered = (agoMs: number, trusted: boolean): LiveWindow['book'] => ({
  ...{ ts: time(NOW - agoMs), yes_bid: 0.5, yes_ask: 0.51, no_bid: 0.49, no_ask: 0.5, mid_yes: 0.505 },
  ...{ trusted, yes_bids: [], yes_asks: [], no_bids: [], no_asks: [] },
});
const WINDOW: LiveWindow = {
  ...{ market_id: '0xa', ticker: 'BTC', market_type: '5m', gap: null, strike_price: null, model: null },
  ...{ start_time: time(NOW), end_time: time(NOW + 300_000), strike_source: null },
  book: answered(2_000, true),
};
const PUSHED: LiveMarket = {
  ...{ marketId: '0xa', timeMs: NOW - 1_000, trusted: true, gap: null, underlying: null, trail: [] },
  ...{ yesBids: [], yesAsks: [], noBids: [], noAsks: [], distance: null, modelProbability: null },
};
const KNOWN: KnownWindow = { window: WINDOW, answeredMs: NOW - 1_000, pushed: PUSHED, isPushed: true };

describe('the trust of a displayed window', () => {
  const unproven = { ...PUSHED, trusted: false };
  const inGap = { ...WINDOW, gap: 'silent_feed', book: answered(2_000, false) } as const;
  const unpushed = (trusted: boolean) =>
    ({ ...WINDOW, book: { ...answered(-UNPUSHED_MS_MAX, trusted) } }) as LiveWindow;
  it.each<[string, Partial<KnownWindow>, unknown]>([
    ['a proven book is pushed', {}, 'proven'],
    ['an unproven one is', { pushed: unproven }, 'unproven'],
    ['one in a gap is', { pushed: { ...unproven, gap: 'disconnected' } }, { gap: 'disconnected' }],
    ['one in a gap that began before the page', { pushed: unproven, window: inGap }, { gap: 'silent_feed' }],
    ['one that was proven after the last answer', { window: inGap }, 'proven'],
    ['none came yet', { pushed: null }, 'proven'],
    ['none came yet, in a gap', { pushed: null, window: inGap }, { gap: 'silent_feed' }],
    ['there is no book yet', { pushed: null, window: { ...WINDOW, book: null } }, 'waiting'],
    ['the answer knows an unproven change that was not pushed', { window: unpushed(false) }, 'unproven'],
    ['the stream is lost', { isPushed: false }, 'proven'],
    ['the stream is lost, and then the proof', { isPushed: false, window: inGap }, { gap: 'silent_feed' }],
    ['the service is silent', { answeredMs: NOW - FRESH_MS - 1 }, 'stale'],
    ['the service was silent for as long as it may', { answeredMs: NOW - FRESH_MS }, 'proven'],
    ['both are lost', { isPushed: false, answeredMs: NOW - FRESH_MS - 1 }, 'stale'],
  ])('%s', (_what, part, trust) => {
    expect(shownBook({ ...KNOWN, ...part }, NOW).trust).toEqual(trust);
  });

  it('a pushed book is shown until an answer is newer and nothing is pushed', () => {
    const shows = (part: Partial<KnownWindow>) => shownBook({ ...KNOWN, ...part }, NOW).book === PUSHED;
    const newer = { ...WINDOW, book: answered(999, true) };
    expect(shows({ window: newer })).toBe(true);
    expect(shows({ window: { ...WINDOW, book: answered(1_000 - UNPUSHED_MS_MAX, true) } })).toBe(true);
    // The connection is dead, and the browser does not know it yet.
    expect(shows({ window: { ...WINDOW, book: answered(999 - UNPUSHED_MS_MAX, true) } })).toBe(false);
    expect(shows({ isPushed: false })).toBe(true);
    expect(shows({ isPushed: false, window: newer })).toBe(false);
    expect(shows({ isPushed: false, window: { ...WINDOW, book: null } })).toBe(true);
    expect(shownBook({ ...KNOWN, pushed: null, isPushed: false }, NOW).book).toBeNull();
  });
});

describe('the notices above a page', () => {
  const WELL: ServiceState = {
    ...{ as_of: time(NOW), store_lag_seconds: 1.4, ready: true, reasons: [], degraded: [], history: null },
    tickers: ['BTC'],
  };
  const said = (state: Partial<ServiceState>) =>
    noticesOf({ ...WELL, ...state }, { error: null, meanwhile: 'live prices are current' });

  it('are empty without problems, or before the state is known', () => {
    expect(said({})).toEqual([]);
    expect(said({ store_lag_seconds: 2.9 })).toEqual([]);
    expect(noticesOf(undefined, { error: null, meanwhile: '' })).toEqual([]);
  });

  it('have the lag first, then the reasons for not ready, then late feeds', () => {
    const [behind, reasons, late] = said({
      ...{ store_lag_seconds: 42.4, ready: false, reasons: ['store 42 s behind', 'disk guard'] },
      degraded: ['late_feed polymarket.clob 7.2 s'],
    });
    expect(behind).toEqual({
      ...{ isSevere: false, text: 'Stored data is 42 s behind; live prices are current' },
    });
    expect(reasons).toEqual({
      ...{ isSevere: true, text: 'The service is not ready: store 42 s behind, disk guard' },
    });
    expect(late).toEqual({ isSevere: false, text: 'Late or missing: late_feed polymarket.clob 7.2 s' });
    expect(said({ store_lag_seconds: 3 })[0]?.text).toBe(
      'Stored data is 3.0 s behind; live prices are current',
    );
    expect(said({ store_lag_seconds: 560 })[0]?.text).toContain('9 min behind');
  });

  it('say that the page may be out of date when the service does not answer', () => {
    const error = new Error('The service does not answer');
    expect(noticesOf(WELL, { error, meanwhile: '' })).toEqual([
      { isSevere: true, text: 'This page may be out of date. The service does not answer' },
    ]);
  });
});
