import { describe, expect, it } from 'vitest';
import { PriceMerge } from './priceMerge.ts';

const T0 = 1_795_176_010_000;

const depth = (updateId: number, eventTimeMs: number) => ({
  kind: 'perp_depth' as const,
  venue: 'bybit' as const,
  ticker: 'BTC' as const,
  updateId,
  eventTimeMs,
  engineTimeMs: null,
  receivedTimeMs: eventTimeMs + 20,
  roundTripMs: 20,
  bids: [],
  asks: [],
});

const price = (eventTimeMs: number, receivedTimeMs = eventTimeMs + 20) => ({
  kind: 'underlying' as const,
  ticker: 'BTC' as const,
  source: 'binance_spot' as const,
  price: 100_000,
  eventTimeMs,
  receivedTimeMs,
});

describe('perpetual depth of two collectors', () => {
  it('is taken from one until it has been silent for 3 s', () => {
    const merge = new PriceMerge();
    const sent = (sender: string, updateId: number, atMs: number) =>
      merge.perpDepth(depth(updateId, T0 + atMs), { id: '', sender, seq: updateId, timeMs: T0 + atMs + 30 })
        .length;
    expect([sent('a', 1, 0), sent('b', 2, 500), sent('a', 3, 1000), sent('b', 4, 1500)]).toEqual([
      1, 0, 1, 0,
    ]);
    expect([sent('b', 5, 4000), sent('b', 6, 4001), sent('a', 7, 4500), sent('b', 8, 5000)]).toEqual([
      0, 1, 0, 1,
    ]);
  });

  it('never goes back when the other collector takes over', () => {
    const merge = new PriceMerge();
    const late = { id: '', sender: 'b', seq: 2, timeMs: T0 + 10_000 };
    expect(merge.perpDepth(depth(7, T0), { id: '', sender: 'a', seq: 1, timeMs: T0 })).toHaveLength(1);
    expect(merge.perpDepth(depth(6, T0 - 1), late)).toEqual([]);
    expect(merge.perpDepth(depth(7, T0), late)).toEqual([]);
    expect(merge.perpDepth(depth(8, T0 + 1), late)).toHaveLength(1);
  });

  it.each([
    ['received 10 s later', 10_000, 10_030, 0],
    ['received more than 10 s later', 10_001, 10_030, 1],
    ['received before and read late', -1_000, 60_000, 0],
  ])(
    'of the other collector, %s, goes on after a book dated an hour ahead',
    (_, receivedMs, timeMs, kept) => {
      const merge = new PriceMerge();
      const ahead = { ...depth(7, T0 + 3_600_000), receivedTimeMs: T0 };
      expect(merge.perpDepth(ahead, { id: '', sender: 'a', seq: 1, timeMs: T0 })).toHaveLength(1);
      const own = { ...depth(9, T0 + receivedMs - 20), receivedTimeMs: T0 + receivedMs };
      const delivery = { id: '', sender: 'b', seq: 3, timeMs: T0 + timeMs };
      expect(merge.perpDepth({ ...own, updateId: 7 }, delivery)).toEqual([]);
      expect(merge.perpDepth(own, delivery)).toHaveLength(kept);
    },
  );
});

it.each([
  ['is kept', 90_000, 1],
  ['may be a copy that the stream no longer drops', 90_001, 0],
])('a book or a price behind that of its own collector %s after %d ms', (_, ageMs, kept) => {
  const merge = new PriceMerge();
  const delivery = { id: 'first', sender: 'a', seq: 1, timeMs: T0 + 30 };
  merge.perpDepth(depth(7, T0), delivery);
  merge.underlying(price(T0), delivery);
  const [oldDepth, oldPrice] = [depth(6, T0 - 10), price(T0 - 10)];
  const late = { id: 'second', sender: 'a', seq: 3, timeMs: oldDepth.receivedTimeMs + ageMs };
  expect(merge.perpDepth(oldDepth, late)).toHaveLength(kept);
  expect(merge.underlying(oldPrice, late)).toHaveLength(kept);
});

describe('prices of two collectors', () => {
  it('of one millisecond are dropped as copies, the newest 200 of them', () => {
    const merge = new PriceMerge();
    const send = (id: number) =>
      merge.underlying(price(T0), { id: `p${id}`, sender: 'a', seq: id, timeMs: T0 + 30 }).length;
    for (let id = 0; id < 201; id++) expect(send(id), `price ${id}`).toBe(1);
    expect([send(200), send(1), send(0)]).toEqual([0, 0, 1]);
  });

  it.each([
    // Venue time and receive time of a second price, the stream's time, and what becomes of it.
    ['newer', 1000, 1020, 1030, [false]],
    ['older and in time', -10, 5, 40, [false]],
    ['older and late', -10, 5, 6_000, [true]],
    ['older than the stream remembers copies', -10, 5, 95_000, []],
    ['newer, from the backlog of an outage', 1000, 1020, 500_000, [false]],
  ])('%s', (_, eventMs, receivedMs, timeMs, isLate) => {
    const merge = new PriceMerge();
    merge.underlying(price(T0), { id: 'first', sender: 'a', seq: 1, timeMs: T0 + 30 });
    const records = merge.underlying(price(T0 + eventMs, T0 + receivedMs), {
      id: 'second',
      sender: 'b',
      seq: 3,
      timeMs: T0 + timeMs,
    });
    expect(records.map((merged) => merged.isLate)).toEqual(isLate);
  });

  it('of a backlog, all of one millisecond are kept and no copy', () => {
    const merge = new PriceMerge();
    const sent = (id: string, eventMs: number) =>
      merge.underlying(price(T0 + eventMs), { id, sender: 'a', seq: 1, timeMs: T0 + 120_000 }).length;
    expect([sent('a', 0), sent('b', 0), sent('a', 0), sent('c', 1), sent('b', 0)]).toEqual([1, 1, 0, 1, 0]);
  });
});
