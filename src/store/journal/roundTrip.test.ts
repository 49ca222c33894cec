import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { oneClock } from '../../../test/support/gaps.ts';
import { arbitraryBook, book, levelsOf } from '../../../test/support/records.ts';
import { openTestStore, type TestStore } from '../../../test/support/store.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import { GAP_CAUSES } from '../../schema/gap.ts';
import { NO_SETTLEMENT } from '../../schema/market.ts';
import type { BookRecord, GapRecord, MarketRecord, PerpDepthRecord } from '../../schema/records.ts';
import { loadMarkets } from '../queries/markets.ts';
import { lastReceivedTimeMs, lastSeq, loadLastBooks, loadOpenGaps } from '../queries/resume.ts';
import { scaledDecimal } from '../tables/encodeRecords.ts';
import { RowBuffer } from './rowBuffer.ts';

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
});
afterAll(() => opened.dispose());

const text = fc.string({ unit: 'binary', maxLength: 200 });
const timeMs = fc.integer({ min: 0, max: 4_000_000_000_000 });
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: null });
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);

let seq = 0;
let market = 0;
const bookRecord: fc.Arbitrary<BookRecord> = fc.record({
  seq: fc.constant(0).map(() => ++seq),
  marketId: text.map((value) => `${++market}${value}`),
  eventTimeMs: timeMs,
  receivedTimeMs: timeMs,
  yes: arbitraryBook(),
  no: arbitraryBook(),
  mirrored: fc.boolean(),
  trusted: fc.boolean(),
  underlyingPrice: maybe(double),
});

function expected(record: BookRecord) {
  const { marketId, eventTimeMs, receivedTimeMs, trusted, mirrored, underlyingPrice } = record;
  const none = { prices: [], sizes: [] };
  const { yes, no } = record;
  return {
    ...{ marketId, eventTimeMs, receivedTimeMs, seq: record.seq, trusted, mirrored, underlyingPrice },
    yes: { bids: levelsOf(yes.bids), asks: levelsOf(yes.asks) },
    no: mirrored ? { bids: none, asks: none } : { bids: levelsOf(no.bids), asks: levelsOf(no.asks) },
  };
}

test('every book is read back as written: narrow or wide, one-sided or empty', async () => {
  const { store } = opened;
  await fc.assert(
    fc.asyncProperty(fc.array(bookRecord, { minLength: 1, maxLength: 20 }), async (records) => {
      for (const record of records) store.writer.book(record);
      await store.writer.flush();
      const read = await loadLastBooks(
        store,
        records.map((record) => record.marketId),
      );
      const bySeq = read.sort((a, b) => a.seq - b.seq);
      expect(bySeq).toEqual(records.map(expected).sort((a, b) => a.seq - b.seq));
    }),
    { numRuns: 40 },
  );
});

test.each([
  { name: 'both sides empty', bids: [], asks: [], wide: false },
  { name: 'one-sided', bids: [[5000, 10_000]], asks: [], wide: false },
  {
    name: 'largest size that fits into 32 bits of hundredths',
    bids: [[5000, 0xffff_ffff * 10_000]],
    asks: [],
    wide: false,
  },
  { name: 'one hundredth more is wide', bids: [[5000, 0x1_0000_0000 * 10_000]], asks: [], wide: true },
  {
    name: 'a single micro-share makes the row wide',
    bids: [[5000, 10_000]],
    asks: [[5100, 10_001]],
    wide: true,
  },
] as const)('$name', async ({ bids, asks, wide }) => {
  const { store } = opened;
  const marketId = `case-${++market}`;
  const record: BookRecord = {
    ...{ seq: ++seq, marketId, eventTimeMs: 1_000, receivedTimeMs: 2_000, mirrored: true, trusted: true },
    ...{ yes: book(bids, asks), no: book([[1, 1]], []), underlyingPrice: null },
  };
  store.writer.book(record);
  await store.writer.flush();
  expect(await loadLastBooks(store, [marketId])).toEqual([expected(record)]);
  const rows = await store.rows(
    'SELECT wide, length(yes_bid_sz) + length(yes_ask_sz) AS narrow FROM books WHERE market_id = {marketId:String}',
    { marketId },
  );
  expect(rows).toEqual([{ wide, narrow: wide ? 0 : bids.length + asks.length }]);
});

test('the last book of a market is the one with the highest time, then seq', async () => {
  const { store } = opened;
  const base = {
    marketId: 'last',
    receivedTimeMs: 5,
    no: book([], []),
    mirrored: true,
    trusted: true,
    underlyingPrice: 1.5,
  };
  const at = (eventTimeMs: number, price: number) =>
    store.writer.book({ ...base, seq: ++seq, eventTimeMs, yes: book([[price, 10_000]], []) });
  at(2_000, 1);
  at(3_000, 2);
  at(3_000, 3);
  at(1_000, 4);
  await store.writer.flush();
  const [last] = await loadLastBooks(store, ['last', 'none such']);
  expect(last?.yes.bids.prices).toEqual([3]);
});

const depth: PerpDepthRecord = {
  ...{
    kind: 'perp_depth',
    venue: 'okx',
    seq: 9,
    ticker: 'BTC',
    updateId: 2 ** 40,
    eventTimeMs: 1_700_000_000_001,
  },
  ...{ engineTimeMs: null, receivedTimeMs: 1_700_000_000_002, roundTripMs: 12.5 },
  bids: [
    ['71423.8', '0.001'],
    ['71423.70', '12'],
  ],
  asks: [['9999999999.99999999', '0.00000001']],
};

test('perp books keep the venue decimals exactly and print as numbers', async () => {
  const { store } = opened;
  store.writer.perpDepth(depth);
  store.writer.perpDepth({
    ...depth,
    seq: 10,
    venue: 'hyperliquid',
    engineTimeMs: 1_699_999_999_999,
    roundTripMs: null,
    bids: [],
    asks: [],
  });
  await store.writer.flush();
  const stream = await store.stream(
    'SELECT bid_px, bid_sz, ask_px, ask_sz FROM perp_depth WHERE seq = 9',
    {},
    { format: 'JSONEachRow' },
  );
  expect(Buffer.concat(await stream.toArray()).toString()).toBe(
    '{"bid_px":[71423.8,71423.7],"bid_sz":[0.001,12],"ask_px":[9999999999.99999999],"ask_sz":[0.00000001]}\n',
  );
  expect(
    await store.rows(
      'SELECT toUnixTimestamp64Milli(assumeNotNull(engine_ts)) AS e, isNull(engine_ts) AS n, round_trip_ms AS r, update_id AS u, venue AS v FROM perp_depth ORDER BY seq',
    ),
  ).toEqual([
    { e: 0, n: 1, r: 12.5, u: 2 ** 40, v: 'okx' },
    { e: 1_699_999_999_999, n: 0, r: null, u: 2 ** 40, v: 'hyperliquid' },
  ]);
});

test('a level that is not a decimal is refused and leaves earlier rows complete', async () => {
  const { store } = opened;
  store.writer.perpDepth({ ...depth, seq: 11 });
  expect(() => store.writer.perpDepth({ ...depth, seq: 12, asks: [['1e5', '1']] })).toThrow(
    InvalidInputError,
  );
  store.writer.perpDepth({ ...depth, seq: 13 });
  await store.writer.flush();
  expect(await store.rows('SELECT seq FROM perp_depth WHERE seq > 10 ORDER BY seq')).toEqual([
    { seq: 11 },
    { seq: 13 },
  ]);
});

test.each([
  ['0', 0n],
  ['1', 100_000_000n],
  ['-0.5', -50_000_000n],
  ['0.00000001', 1n],
  ['1.', 100_000_000n],
  ['1.2300000000', 123_000_000n],
])('%s is %s hundred-millionths', (decimal, scaled) => {
  expect(scaledDecimal(decimal)).toBe(scaled);
});

test.each(['', '.5', '1e3', 'NaN', '0.000000001', '12345678901', '1,5', ' 1'])(
  '%j is not a decimal',
  (decimal) => {
    expect(() => scaledDecimal(decimal)).toThrow(InvalidInputError);
  },
);

test('markets are read back completely: the newest record of each, ordered by end time', async () => {
  const { store } = opened;
  const base: MarketRecord = {
    ...{
      seq: 100,
      marketId: '0xaa',
      eventId: '17',
      slug: 'btc',
      question: 'Bitcoin\'s "up"?\n\\',
      eventType: '5m',
      ticker: 'BTC',
    },
    ...{ yesTokenId: '9'.repeat(78), noTokenId: '8', status: 'open', startTimeMs: 1_000, endTimeMs: 301_000 },
    ...{
      strikePrice: null,
      strikeSource: null,
      closePrice: null,
      outcome: null,
      payoutYes: null,
      resolvedTimeMs: null,
    },
    ...{
      volume: null,
      liquidity: 0,
      tickSize: 100,
      takerFeeRate: null,
      takerFeeExponent: null,
      takerDelayMs: null,
      recordedSinceMs: null,
    },
    ...NO_SETTLEMENT,
  };
  const resolved: MarketRecord = {
    ...{
      ...base,
      seq: 101,
      status: 'resolved',
      strikePrice: 71_423.82,
      strikeSource: 'official',
      closePrice: 71_424,
    },
    ...{ outcome: 'Up', payoutYes: 1, resolvedTimeMs: 302_123, volume: 1.25, liquidity: null },
    ...{ takerFeeRate: 0.07, takerFeeExponent: 1, takerDelayMs: 250 },
    ...{ strikeBasis: 'listing', strikeKnownTimeMs: 4_250, strikeDifference: -0.0625 },
    ...{ closeBasis: 'chainlink_ticks', closeKnownTimeMs: 302_001, closeDifference: 0 },
    ...{ computedPayoutYes: 0.5, winnerDisagrees: true, resolvedBy: 'exchange', confirmedTimeMs: 400_000 },
    recordedSinceMs: 1_789,
    resolvedTimeSource: 'stream',
    ...{ decidingFeed: 'chainlink_twap', takerDelaySource: 'exchange' },
    ...{ twapLookbackSeconds: 60, rulesReadTimeMs: 900, rulesVersion: '2026-11-20-0123456789ab' },
  };
  const other: MarketRecord = { ...base, seq: 102, marketId: '0xbb', endTimeMs: 200_000 };
  for (const record of [base, resolved, other]) store.writer.market(record);
  await store.writer.flush();
  const { seq: _a, ...wantResolved } = resolved;
  const { seq: _b, ...wantOther } = other;
  expect(await loadMarkets(store)).toEqual([wantOther, wantResolved]);
  expect(await loadMarkets(store, { endAfterMs: 200_000 })).toEqual([wantResolved]);
});

test('a closed gap is not listed as open', async () => {
  const { store } = opened;
  const base: GapRecord = {
    ...{
      seq: 200,
      gapId: 'gap_1',
      marketId: '0xaa',
      startTimeMs: 1_234,
      endTimeMs: null,
      feed: 'polymarket.clob',
    },
    ...{ cause: GAP_CAUSES[0], repairedBy: null, knownTimeMs: 1_500, knownSeq: 199 },
    ...{ startReceivedMs: 1_300, endReceivedMs: null },
  };
  store.writer.gap(base);
  store.writer.gap({ ...base, seq: 201, gapId: 'gap_2' });
  const old = { ...base, gapId: 'gap_3', knownTimeMs: null, knownSeq: null };
  store.writer.gap({ ...old, seq: 201 });
  store.writer.gap({ ...base, seq: 202, endTimeMs: 2_000, endReceivedMs: 2_050, repairedBy: 'snapshot' });
  await store.writer.flush();
  const { seq: _seq, ...open } = { ...base, gapId: 'gap_2' };
  const { seq: _old, ...openOld } = old;
  expect(await loadOpenGaps(store)).toEqual([open, openOld]);
});

test('the last receive time and the highest seq come from the newest rows', async () => {
  const { store } = opened;
  const far = 4_100_000_000_000;
  store.writer.trade({
    seq: 5_000_000,
    marketId: 'm',
    eventTimeMs: far,
    receivedTimeMs: far + 7,
    side: 'SELL_NO',
    price: 1,
    size: 2 ** 52,
    tradeId: '0x',
  });
  await store.writer.flush();
  expect(await store.rows('SELECT side, price, size, trade_id FROM trades')).toEqual([
    { side: 'SELL_NO', price: 1, size: 2 ** 52, trade_id: '0x' },
  ]);
  expect(await lastReceivedTimeMs(store)).toBe(far + 7);
  expect(await lastSeq(store)).toBe(5_000_000);
  store.writer.gap(
    oneClock({
      ...{ seq: 5_000_001, gapId: 'newest', marketId: 'm', startTimeMs: 1, endTimeMs: 2, feed: 'f' },
      ...{ cause: GAP_CAUSES[0], repairedBy: null, knownTimeMs: 1, knownSeq: 1 },
    }),
  );
  await store.writer.flush();
  expect(await lastSeq(store)).toBe(5_000_001);
});

test('negative times are written in two’s complement', () => {
  const out = new RowBuffer();
  out.reserve(8);
  out.i64(-1);
  expect(out.bytes.readBigInt64LE(0)).toBe(-1n);
});
