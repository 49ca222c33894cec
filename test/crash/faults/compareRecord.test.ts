import { describe, expect, it } from 'vitest';
import { compareMarket, type ServedBook, type ServedMarket } from './compareRecord.ts';
import { VenueRecord } from './venueRecord.ts';

const START_MS = 1_790_000_000_000;
const MARKET = { facts: { conditionId: '0xmarket', upToken: 'up', downToken: 'down' } };
const text = (tsMs: number) => new Date(tsMs).toISOString();

/** A venue that sends one bid of Up whose size is the number of the state; all but the first are changes. */
class Venue {
  readonly record = new VenueRecord();

  snapshot(state: number, tsMs: number): void {
    for (const [asset_id, side] of [
      ['up', 'bids'],
      ['down', 'asks'],
    ] as const) {
      const levels = [{ price: side === 'bids' ? '0.49' : '0.51', size: String(state) }];
      const book = { bids: [], asks: [], [side]: levels };
      const frame = { event_type: 'book', asset_id, timestamp: String(tsMs), hash: `${asset_id}${state}` };
      this.record.onSnapshot(MARKET, JSON.stringify({ ...frame, ...book }));
    }
  }

  change(state: number, tsMs: number, sockets = 1): void {
    const level = { size: String(state) };
    const changes = [
      { ...level, asset_id: 'up', price: '0.49', side: 'BUY', hash: `up${state}` },
      { ...level, asset_id: 'down', price: '0.51', side: 'SELL', hash: `down${state}` },
    ];
    // Two frames, each with one token's half of the action.
    for (const change of changes) {
      const rest = { ...change, asset_id: change.asset_id };
      const other = changes.find((one) => one !== change);
      const frame = { event_type: 'price_change', timestamp: String(tsMs), price_changes: [rest, other] };
      this.record.onFrame(MARKET, JSON.stringify(frame), sockets);
    }
  }

  trade(transaction: string, tsMs: number, sockets = 1): void {
    const trade = { asset_id: 'down', price: '0.51', size: '3', side: 'SELL', transaction_hash: transaction };
    const frame = { event_type: 'last_trade_price', timestamp: String(tsMs), ...trade };
    this.record.onFrame(MARKET, JSON.stringify(frame), sockets);
  }
}

function servedBook(state: number, tsMs: number, trusted = true): ServedBook {
  const [no_bids, yes_asks] = [[], []];
  const yes_bids = [{ price: 0.49, size: state }];
  return { ts: text(tsMs), yes_bids, yes_asks, no_bids, no_asks: [{ price: 0.51, size: state }], trusted };
}

function gap(startMs: number, endMs: number | null, cause = 'process_down') {
  const end = endMs === null ? null : text(endMs);
  return { gap_id: 'gap_1', start: text(startMs), end, cause };
}

/** The states 1 to 6, one second apart, one trade, and recording known to have begun at state 2. */
function venue(): Venue {
  const one = new Venue();
  one.snapshot(1, START_MS);
  one.change(2, START_MS + 1000);
  one.record.settle(MARKET.facts.conditionId);
  for (let state = 3; state <= 6; state++) one.change(state, START_MS + (state - 1) * 1000);
  one.trade('0xabc', START_MS + 5000);
  return one;
}

const TRADE = {
  ts: text(START_MS + 5000),
  side: 'SELL_NO',
  price: 0.51,
  size: 3,
  trade_id: '0xabc:SELL_NO:5100:3',
};

function served(states: readonly number[], parts: Partial<ServedMarket> = {}): ServedMarket {
  const books = states.map((state) => servedBook(state, START_MS + (state - 1) * 1000));
  return { books, trades: [TRADE], gaps: [], ...parts };
}

function compare(one: Venue, market: ServedMarket) {
  const [record] = one.record.markets();
  if (record === undefined) throw new Error('the venue sent nothing');
  return compareMarket(record, market);
}

describe('the comparison of a recording with the venue that sent it', () => {
  it('finds every row of a complete recording', () => {
    expect(compare(venue(), served([1, 2, 3, 4, 5, 6]))).toEqual({
      rows: 7,
      found: 7,
      coveredByGaps: 0,
      beforeRecording: 0,
      missing: 0,
      servedRows: 7,
      gaps: 0,
      trustedInsideGaps: 0,
      trustedNeverSent: 0,
      doubled: 0,
      examples: [],
    });
  });

  it('counts a trusted row that is served more often than it was sent', () => {
    expect(compare(venue(), served([1, 2, 2, 3, 4, 5, 6]))).toMatchObject({
      found: 7,
      missing: 0,
      doubled: 1,
    });
  });

  it.each([
    ['ends a `store_down` gap', START_MS + 1000, 'store_down', 0],
    ['ends another gap', START_MS + 1000, 'process_down', 1],
    ['is at no end of a gap', START_MS + 2000, 'store_down', 1],
  ])('counts a second copy of a row unless it %s', (_, endMs, cause, doubled) => {
    const gaps = [gap(START_MS, endMs, cause)];
    expect(compare(venue(), served([1, 2, 2, 3, 4, 5, 6], { gaps }))).toMatchObject({ doubled });
  });

  it('reports a lost row, and says which and how far the nearest gap is', () => {
    const found = compare(
      venue(),
      served([1, 2, 3, 5, 6], { gaps: [gap(START_MS + 3500, START_MS + 4000)] }),
    );
    expect(found).toMatchObject({ rows: 7, found: 6, missing: 1, coveredByGaps: 0 });
    expect(found.examples).toEqual([
      '0xmarket sent book at 14:13:23.000 is missing; row 4 of 6, found before it: 14:13:22.000, after it: 14:13:24.000; nearest gap, 500 ms away: process_down 14:13:23.500 to 14:13:24.000',
    ]);
  });

  it.each([
    ['between its bounds', START_MS + 2000, START_MS + 4000],
    ['at its start', START_MS + 3000, START_MS + 4000],
    ['at its end', START_MS + 2000, START_MS + 3000],
    ['after the start of an open one', START_MS + 2500, null],
  ])('counts a lost row as covered if a gap contains it %s', (_, startMs, endMs) => {
    const books = [1, 2, 3].map((state) => servedBook(state, START_MS + (state - 1) * 1000));
    const rest = [5, 6].map((state) => servedBook(state, START_MS + (state - 1) * 1000, false));
    const found = compare(venue(), served([], { books: [...books, ...rest], gaps: [gap(startMs, endMs)] }));
    expect(found).toMatchObject({ found: 6, coveredByGaps: 1, missing: 0 });
  });

  it('reports a lost row a millisecond outside a gap', () => {
    const gaps = [gap(START_MS + 2000, START_MS + 2999), gap(START_MS + 3001, START_MS + 4000)];
    expect(compare(venue(), served([1, 2, 3, 5, 6], { gaps }))).toMatchObject({
      missing: 1,
      coveredByGaps: 0,
    });
  });

  it('reports a trusted row inside a gap, but not one on its bounds or an untrusted one', () => {
    const market = served([1, 2, 3, 4, 5, 6], { gaps: [gap(START_MS + 2000, START_MS + 4000)] });
    const found = compare(venue(), market);
    expect(found).toMatchObject({ found: 7, missing: 0, trustedInsideGaps: 1 });
    expect(found.examples).toEqual([
      '0xmarket trusted book at 14:13:23.000 inside process_down 14:13:22.000 to 14:13:24.000',
    ]);
    const books = market.books.map((book, i) => (i === 3 ? { ...book, trusted: false } : book));
    expect(compare(venue(), { ...market, books }).trustedInsideGaps).toBe(0);
  });

  it('reports a row whose levels differ from the venue’s as missing, and as never sent if it is trusted', () => {
    const books = [1, 2, 3, 9, 5, 6].map((state, i) => servedBook(state, START_MS + i * 1000));
    expect(compare(venue(), served([], { books }))).toMatchObject({ missing: 1, trustedNeverSent: 1 });
    const doubted = books.map((book, i) => (i === 3 ? { ...book, trusted: false } : book));
    expect(compare(venue(), served([], { books: doubted }))).toMatchObject({
      missing: 1,
      trustedNeverSent: 0,
    });
  });

  it('reports a row that is served with another time', () => {
    const books = [1, 2, 3, 4, 5, 6].map((state) => servedBook(state, START_MS + (state - 1) * 1000));
    books[3] = servedBook(4, START_MS + 3001);
    expect(compare(venue(), served([], { books }))).toMatchObject({ missing: 1, trustedNeverSent: 1 });
  });

  it.each([
    ['is missing', []],
    ['has another size', [{ ...TRADE, size: 4 }]],
    ['has another side', [{ ...TRADE, side: 'BUY_NO' }]],
    ['is of another transaction', [{ ...TRADE, trade_id: '0xabd:SELL_NO:5100:3' }]],
  ])('reports a trade that %s', (_, trades) => {
    expect(compare(venue(), served([1, 2, 3, 4, 5, 6], { trades }))).toMatchObject({ found: 6, missing: 1 });
  });

  it('counts rows from before the first row on disk separately, until recording is known to have begun', () => {
    expect(compare(venue(), served([2, 3, 4, 5, 6]))).toMatchObject({ beforeRecording: 1, missing: 0 });
    // State 2 is the newest at the time of settling: it and everything after it must be present.
    expect(compare(venue(), served([3, 4, 5, 6]))).toMatchObject({ beforeRecording: 1, missing: 1 });
    expect(compare(venue(), served([], { trades: [] }))).toMatchObject({ beforeRecording: 1, missing: 6 });
  });

  it('counts the venue’s states between two subscriptions, but none after the last', () => {
    const one = venue();
    one.change(7, START_MS + 6000, 0);
    one.change(8, START_MS + 7000, 0);
    one.trade('0xdef', START_MS + 7000, 0);
    expect(compare(one, served([1, 2, 3, 4, 5, 6]))).toMatchObject({ rows: 7, missing: 0 });
    one.snapshot(8, START_MS + 7000);
    one.change(9, START_MS + 8000, 0);
    const found = compare(one, served([1, 2, 3, 4, 5, 6]));
    expect(found).toMatchObject({ rows: 10, found: 7, missing: 3 });
    expect(found.examples[0]).toContain('unfollowed book');
    const gaps = [gap(START_MS + 5000, START_MS + 7000)];
    expect(compare(one, served([1, 2, 3, 4, 5, 6, 8], { gaps }))).toMatchObject({
      missing: 0,
      coveredByGaps: 2,
    });
  });
});
