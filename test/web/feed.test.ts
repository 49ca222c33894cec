import { describe, expect, it } from 'vitest';
import { Feed } from '../../web/src/live/feed.ts';
import { liveWindow } from '../support/liveWindow.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const LIVE = { connection: 'live', reason: null } as const;
const LEVEL = { price: 0.5, size: 10 };

/** The text of a snapshot as the stream sends it, with these members replaced. */
function snapshot(marketId: string, part: object = {}): string {
  return JSON.stringify({
    ...{ type: 'snapshot', market_id: marketId, ts: new Date(NOW).toISOString(), trusted: true },
    ...{ yes_bids: [LEVEL], yes_asks: [], no_bids: [], no_asks: [LEVEL] },
    ...{ underlying_price: 100_000, underlying_ticker: 'BTC' },
    ...part,
  });
}

describe('a snapshot that cannot be read', () => {
  const whole = snapshot('0xa');
  it.each([
    ['is cut off', whole.slice(0, -20)],
    ['ends after the id', '{"type":"snapshot","market_id":"0xa"'],
    ['has no sides', snapshot('0xa', { yes_bids: undefined })],
    ['has a side that is no list', snapshot('0xa', { no_asks: {} })],
    ['has an empty level', snapshot('0xa', { yes_bids: [null] })],
    ['has a level without a size', snapshot('0xa', { yes_asks: [{ price: 0.6 }] })],
    ['has no time', snapshot('0xa', { ts: 'soon' })],
    ['has a price in words', snapshot('0xa', { underlying_price: 'high' })],
  ])('and %s costs its market alone, until the next one', (_how, text) => {
    const feed = new Feed(() => undefined);
    const shown = (nowMs: number) => {
      const { markets, unreadable, received } = feed.stateAt(nowMs, LIVE);
      return { markets: Object.keys(markets).sort(), unreadable, received };
    };
    feed.receive(whole);
    expect(shown(NOW)).toEqual({ markets: ['0xa'], unreadable: 0, received: 1 });
    feed.receive(text);
    feed.receive(snapshot('0xb'));
    // The polled book replaces the old one, which looks current.
    expect(shown(NOW + 250)).toEqual({ markets: ['0xb'], unreadable: 1, received: 3 });
    expect(shown(NOW + 500)).toEqual({ markets: ['0xb'], unreadable: 1, received: 3 });
    feed.receive(whole);
    expect(shown(NOW + 750)).toEqual({ markets: ['0xa', '0xb'], unreadable: 0, received: 4 });
  });

  it('is not reported any longer than its window is open', () => {
    const feed = new Feed(() => undefined);
    feed.receive(whole.slice(0, -20));
    expect(feed.stateAt(NOW, LIVE).unreadable).toBe(1);
    feed.board.setMarkets([liveWindow(NOW)], 0);
    expect(feed.stateAt(NOW, LIVE).unreadable).toBe(1);
    feed.board.setMarkets([], 0);
    expect(feed.stateAt(NOW, LIVE).unreadable).toBe(0);
  });
});

it('a page is informed at once of a market that opens or is resolved', () => {
  const posted: unknown[] = [];
  const feed = new Feed((message) => void posted.push(message));
  feed.receive('{"type":"market","market_id":"0xa"}');
  feed.receive('{"type":"skipped","count":7}');
  expect(posted).toEqual([{ kind: 'markets-changed' }]);
  expect(feed.stateAt(NOW, LIVE).received).toBe(7);
});
