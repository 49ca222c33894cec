import { expect, onTestFinished, test } from 'vitest';
import { bookRecord, KEY, testApi } from '../../test/support/api.ts';
import { M, MINUTE, T0, writeDataSet } from '../../test/support/apiDataSet.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openTestStore } from '../../test/support/store.ts';
import type { StoreWriter } from '../store/journal/writer.ts';

const RANGE = `start=${new Date(T0).toISOString()}&end=${new Date(T0 + 5 * MINUTE).toISOString()}`;
const LATER = `start=${new Date(T0 + 5 * MINUTE).toISOString()}&end=${new Date(T0 + 10 * MINUTE).toISOString()}`;
const trade = (seq: number, atMs: number) => ({
  ...{ seq, marketId: M, eventTimeMs: T0 + atMs, receivedTimeMs: T0 + atMs, side: 'BUY_YES' as const },
  ...{ price: 5_000, size: 7_000_000, tradeId: `late-${seq}` },
});
const book = (seq: number, atMs: number, bid: number) =>
  bookRecord({
    ...{ seq, marketId: M, timeMs: T0 + atMs, trusted: true },
    ...{ yesBids: [[bid, 1]], yesAsks: [[9_000, 1]] },
  });

const price = (seq: number, atMs: number) => ({
  ...({ kind: 'underlying', ticker: 'BTC', source: 'binance_spot', price: seq, seq } as const),
  ...{ eventTimeMs: T0 + atMs, receivedTimeMs: T0 + atMs },
});

/** The cached answer, and the rows stored before and after it. */
const CASES: readonly [string, string, (writer: StoreWriter) => void, (writer: StoreWriter) => void][] = [
  [
    'candles: a trade imported into a candle',
    `/v1/candles?market_id=${M}&timeframe=5m&${RANGE}`,
    () => undefined,
    (writer) => writer.trade(trade(2_000, 1_500)),
  ],
  [
    'trades: a full page that gets a next page',
    `/v1/trades?market_id=${M}&${RANGE}&limit=2`,
    () => undefined,
    (writer) => writer.trade(trade(2_000, 4 * MINUTE)),
  ],
  [
    'snapshots: an imported book is the last of an interval in the middle',
    `/v1/snapshots?market_id=${M}&${RANGE}&interval_ms=60000`,
    (writer) => {
      writer.book(book(1_500, MINUTE + 1, 1_000));
      writer.book(book(1_501, 2 * MINUTE + 1, 1_000));
    },
    (writer) => writer.book(book(2_000, MINUTE + 2, 2_000)),
  ],
  [
    'prices: the last of an interval in the middle',
    `/v1/underlying?ticker=BTC&source=binance_spot&${RANGE}&interval_ms=60000`,
    (writer) => {
      writer.underlying(price(1_500, MINUTE + 1));
      writer.underlying(price(1_501, 2 * MINUTE + 1));
    },
    (writer) => writer.underlying(price(2_000, MINUTE + 2)),
  ],
  [
    'candles: the mid before the range',
    `/v1/candles?market_id=${M}&timeframe=5m&${LATER}`,
    (writer) => writer.trade(trade(1_500, 7 * MINUTE)),
    (writer) =>
      writer.quote({
        ...{ seq: 2_000, marketId: M, eventTimeMs: T0 + 4.5 * MINUTE, receivedTimeMs: T0 + 4.5 * MINUTE },
        ...{ yesBid: 1_000, yesAsk: 1_200, noBid: null, noAsk: null, yesChanged: true, trusted: true },
        underlyingPrice: null,
      }),
  ],
];

test.each(CASES)('an answer that an import changed has another tag: %s', async (_, url, before, imported) => {
  const { store, dispose } = await openTestStore();
  const app = testApi({ store, clock: new FakeClock(T0 + 60 * MINUTE) });
  onTestFinished(async () => {
    await app.close();
    await dispose();
  });
  writeDataSet(store.writer);
  before(store.writer);
  await store.writer.flush();
  const kept = await app.inject({ url, headers: KEY });
  expect(kept.statusCode).toBe(200);
  const again = () => app.inject({ url, headers: { ...KEY, 'if-none-match': String(kept.headers.etag) } });
  expect((await again()).statusCode).toBe(304);
  imported(store.writer);
  await store.writer.flush();
  const now = await app.inject({ url, headers: KEY });
  expect(now.body).not.toBe(kept.body);
  expect((await again()).statusCode).toBe(200);
});
