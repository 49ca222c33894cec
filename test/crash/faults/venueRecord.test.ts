import { describe, expect, it } from 'vitest';
import { VenueModel } from '../../../src/simulator/model.ts';
import { type DigestLevel, digestOf } from './ladderDigest.ts';
import { VenueRecord, type WireMarket } from './venueRecord.ts';

const START_MS = 1_790_000_000_000;

/** A model that sends all its frames to a record, from the first complete book of each market on. */
function recordedModel() {
  const model = new VenueModel({ seed: 'record', startTimeMs: START_MS, density: 0.05, tickers: ['BTC'] });
  const record = new VenueRecord();
  const sink = {
    clob: (_: number, market: WireMarket | null, frame: string) => market && record.onFrame(market, frame, 1),
    entered: (_: number, market: WireMarket) => {
      const live = model.bookOf(market as never);
      for (const isUp of [true, false])
        if (live !== null) record.onSnapshot(market, live.book.bookFrame(isUp, true));
    },
    relay: () => {},
    spot: () => {},
    final: () => {},
    stated: () => {},
  };
  return { model, record, sink };
}

describe('the record of a venue’s frames', () => {
  it('ends with the venue’s current books, and contains each state once', () => {
    const { model, record, sink } = recordedModel();
    model.advance(START_MS + 60_000, sink);
    const markets = record.markets();
    expect(markets.length).toBe(10);
    let states = 0;
    for (const { marketId, books, trades } of markets) {
      states += books.length;
      const market = model.registry.byId(marketId);
      const live = market && model.bookOf(market);
      const [up, down] = [true, false].map((isUp) => JSON.parse(live?.book.restBook(isUp) ?? '{}'));
      const levels = up as { bids: DigestLevel[]; asks: DigestLevel[] };
      const digest = digestOf({
        yes_bids: levels.bids,
        yes_asks: levels.asks,
        no_bids: down.bids,
        no_asks: down.asks,
      });
      expect(books.at(-1)).toMatchObject({ digest, isSent: true });
      for (const [i, book] of books.entries()) expect(book.digest).not.toBe(books[i - 1]?.digest);
      expect(new Set(trades.map(({ key }) => key)).size).toBe(trades.length);
    }
    expect(states).toBeGreaterThan(300);
  });

  it('ignores a market before its first complete book was sent', () => {
    const { model, record, sink } = recordedModel();
    model.advance(START_MS + 10_000, { ...sink, entered: () => {} });
    expect(record.markets()).toEqual([]);
  });
});
