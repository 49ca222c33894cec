import { describe, expect, test } from 'vitest';
import { recordingLines, recordingsAbsent } from '../../../test/support/fixtures.ts';
import { DataGapError, VenueMessageError } from '../../runtime/errors.ts';
import type { PerpDepthEvent } from '../../schema/events.ts';
import { BinanceDepthBook, type BinanceMarketKind } from './depthBook.ts';

/** The time of the update id 0. */
const T = 1_723_161_255_000;

const snapshot = (lastUpdateId: number, extra = {}) =>
  JSON.stringify({ lastUpdateId, bids: [['99', '1']], asks: [['101', '1']], ...extra });
const update = (ids: { U: number; u: number; pu?: number }, b: string[][] = []) =>
  JSON.stringify({
    stream: 'x',
    data: { e: 'depthUpdate', E: T + ids.u, s: 'BTCUSDT', ...ids, b, a: [] },
  });

describe('spot chain', () => {
  const fresh = () => {
    const book = new BinanceDepthBook('spot', 'BTCUSDT');
    return (frame: string) => book.apply(frame, 'BTC', 5);
  };

  test('keeps updates until the snapshot, drops old ones and returns one event for the rest', () => {
    const apply = fresh();
    expect(apply(update({ U: 1, u: 10 }, [['1', '1']]))).toBeNull();
    expect(apply(update({ U: 11, u: 14 }, [['98', '2']]))).toBeNull();
    expect(apply(snapshot(12))).toEqual({
      kind: 'perp_depth',
      venue: 'binance',
      ticker: 'BTC',
      updateId: 14,
      eventTimeMs: T + 14,
      engineTimeMs: null,
      receivedTimeMs: 5,
      roundTripMs: null,
      bids: [
        ['99', '1'],
        ['98', '2'],
      ],
      asks: [['101', '1']],
    });
    expect(apply(update({ U: 15, u: 15 }, [['99', '0']]))?.bids).toEqual([['98', '2']]);
  });

  test('keeps at most ten thousand updates until the snapshot, the newest ones', () => {
    const [whole, over] = [fresh(), fresh()];
    for (let id = 1; id <= 10_000; id++) whole(update({ U: id, u: id }));
    expect(whole(snapshot(0))?.updateId).toBe(10_000);
    for (let id = 1; id <= 10_001; id++) over(update({ U: id, u: id }));
    expect(() => over(snapshot(0))).toThrow(
      new DataGapError('binance BTCUSDT: update 2..2 after 0', { expectedId: 1, receivedId: 2 }),
    );
  });

  test('returns no event for a snapshot without a time until an update follows', () => {
    const apply = fresh();
    expect(apply(snapshot(12))).toBeNull();
    expect(apply(update({ U: 9, u: 12 }))).toBeNull();
    expect(apply(update({ U: 10, u: 13 }))?.updateId).toBe(13);
  });

  test('reports a gap when the first update starts too late', () => {
    const apply = fresh();
    apply(snapshot(12));
    expect(() => apply(update({ U: 14, u: 15 }))).toThrow(
      new DataGapError('binance BTCUSDT: update 14..15 after 12', { expectedId: 13, receivedId: 14 }),
    );
  });

  test('recovers from a gap by a snapshot, then applies the update that revealed the gap', () => {
    const apply = fresh();
    apply(snapshot(12));
    apply(update({ U: 13, u: 14 }));
    expect(() => apply(update({ U: 16, u: 17 }, [['97', '7']]))).toThrow(DataGapError);
    expect(apply(update({ U: 18, u: 18 }, [['96', '6']]))).toBeNull();
    expect(apply(snapshot(15))?.bids).toEqual([
      ['99', '1'],
      ['97', '7'],
      ['96', '6'],
    ]);
  });
});

describe('futures chain', () => {
  const fresh = () => {
    const book = new BinanceDepthBook('usdm', 'BTCUSDT');
    return (frame: string) => book.apply(frame, 'BTC', 5);
  };

  test('requires the first update to enclose the snapshot and each later one to name the previous', () => {
    const apply = fresh();
    expect(apply(snapshot(12, { E: T, T: T - 1 }))).toMatchObject({ eventTimeMs: T, engineTimeMs: T - 1 });
    expect(apply(update({ U: 8, u: 11, pu: 7 }))).toBeNull();
    expect(apply(update({ U: 12, u: 20, pu: 11 }))?.updateId).toBe(20);
    expect(apply(update({ U: 25, u: 30, pu: 20 }))?.updateId).toBe(30);
    expect(() => apply(update({ U: 41, u: 42, pu: 40 }))).toThrow(
      new DataGapError('binance BTCUSDT: update 41..42 after 30', { expectedId: 30, receivedId: 40 }),
    );
  });

  test('applies the update that ends at the snapshot, and none that is repeated', () => {
    const apply = fresh();
    apply(snapshot(12, { E: T }));
    expect(apply(update({ U: 9, u: 12, pu: 8 }))?.updateId).toBe(12);
    expect(apply(update({ U: 9, u: 12, pu: 8 }))).toBeNull();
    expect(apply(update({ U: 15, u: 16, pu: 12 }))?.updateId).toBe(16);
  });

  test('rejects an update without pu', () => {
    const apply = fresh();
    apply(snapshot(12, { E: T }));
    apply(update({ U: 12, u: 20 }));
    expect(() => apply(update({ U: 21, u: 22 }))).toThrow(DataGapError);
  });
});

test('ignores frames of other kinds and symbols and rejects malformed ones', () => {
  const book = new BinanceDepthBook('spot', 'ETHUSDT');
  book.apply(snapshot(0), 'ETH', 5);
  expect(book.apply(update({ U: 1, u: 2 }), 'ETH', 5)).toBeNull();
  expect(book.apply('{"e":"trade"}', 'ETH', 5)).toBeNull();
  expect(() => book.apply('{"e":"depthUpdate"}', 'ETH', 5)).toThrow(VenueMessageError);
  expect(() => book.apply('{"lastUpdateId":1}', 'ETH', 5)).toThrow(VenueMessageError);
});

describe.skipIf(recordingsAbsent)('recorded books (skipped where the recordings are absent)', () => {
  const recordedFrames = (kind: BinanceMarketKind) =>
    recordingLines(`binance/hftbacktest-${kind}-btcusdt-2024-08-08/btcusdt_20240808.gz`).map((line) =>
      line.slice(line.indexOf(' ') + 1),
    );
  const rows: [BinanceMarketKind, number, [string, string], [string, string]][] = [
    ['usdm', 6547, ['61659.70', '1.486'], ['61659.80', '0.981']],
    ['spot', 3449, ['61685.99000000', '1.00870000'], ['61686.00000000', '2.29327000']],
  ];
  test.each(rows)('%s: every top equals the book ticker of its update (%i)', (kind, compared) => {
    const frames = recordedFrames(kind);
    // A ticker is valid until the next one: compare an update's top with the newest ticker not after it.
    const tickers = frames
      .filter((frame) => frame.includes('@bookTicker"'))
      .map((frame) => JSON.parse(frame).data)
      .sort((a, b) => a.u - b.u);
    const book = new BinanceDepthBook(kind, 'BTCUSDT');
    book.apply(frames.find((frame) => frame.includes('"lastUpdateId"'))!, 'BTC', 1);
    const unequal: unknown[] = [];
    let equal = 0;
    let at = -1;
    for (const frame of frames) {
      if (!frame.includes('"e":"depthUpdate"')) continue;
      const event = book.apply(frame, 'BTC', 1);
      if (!event) continue;
      while (at + 1 < tickers.length && tickers[at + 1].u <= event.updateId) at++;
      const { b, B, a, A } = tickers[at];
      if (`${event.bids[0]},${event.asks[0]}` === `${b},${B},${a},${A}`) equal++;
      else unequal.push(event);
    }
    expect(unequal).toEqual([]);
    expect(equal).toBe(compared);
  });

  test.each(rows)('%s: ends in the same book when played in receive order', (kind, _compared, bid, ask) => {
    const book = new BinanceDepthBook(kind, 'BTCUSDT');
    let last: PerpDepthEvent | null = null;
    for (const frame of recordedFrames(kind)) last = book.apply(frame, 'BTC', 1) ?? last;
    expect([last!.bids[0], last!.asks[0]]).toEqual([bid, ask]);
    expect([last!.bids.length, last!.asks.length]).toEqual([50, 50]);
  });

  test.each(['usdm', 'spot'] as const)('%s: detects a dropped line', (kind) => {
    const depth = recordedFrames(kind).filter((frame) => /"e":"depthUpdate"|"lastUpdateId"/.test(frame));
    depth.splice(1000, 1);
    const book = new BinanceDepthBook(kind, 'BTCUSDT');
    const play = () => {
      for (const frame of depth) book.apply(frame, 'BTC', 1);
    };
    expect(play).toThrow(DataGapError);
  });
});
