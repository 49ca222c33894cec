import type { RecordSink } from '../../src/schema/records.ts';
import { bookRecord, type LevelPairs, marketRecord } from './api.ts';
import { oneClock } from './gaps.ts';

/** Start of the hand-made market's five-minute window. */
export const T0 = Date.UTC(2026, 10, 20, 12);
export const MINUTE = 60_000;
export const M = `0x${'a'.repeat(64)}`;
/** A market without recorded data. */
export const EMPTY = `0x${'b'.repeat(64)}`;
const SHARE = 1_000_000;

/** Two markets and a few records of every kind, chosen so that every rule of an answer is visible. */
export function writeDataSet(writer: RecordSink): void {
  let seq = 0;
  const at = (offsetMs: number) => ({
    seq: ++seq,
    eventTimeMs: T0 + offsetMs,
    receivedTimeMs: T0 + offsetMs + 40,
  });
  writer.market({
    ...marketRecord({ marketId: M, startTimeMs: T0, endTimeMs: T0 + 5 * MINUTE }),
    seq: ++seq,
  });
  // The second record replaces the first.
  writer.market({
    ...marketRecord({
      marketId: M,
      startTimeMs: T0,
      endTimeMs: T0 + 5 * MINUTE,
      status: 'resolved',
      slug: 'btc-updown-5m-1795176000',
      strikePrice: 96_990.25,
      strikeSource: 'official',
      closePrice: 97_001,
      outcome: 'Up',
      payoutYes: 1,
      resolvedTimeMs: T0 + 6 * MINUTE,
      resolvedTimeSource: 'stream',
      volume: 1234.5,
      takerFeeRate: 0.07,
      takerDelayMs: 250,
      takerDelaySource: 'listing',
    }),
    seq: ++seq,
  });
  writer.market({
    ...marketRecord({ marketId: EMPTY, ticker: 'ETH', eventType: '15m', endTimeMs: T0 + 15 * MINUTE }),
    seq: ++seq,
  });
  const book = (offsetMs: number, yesBids: LevelPairs, yesAsks: LevelPairs, more: object = {}) =>
    writer.book(bookRecord({ seq: ++seq, marketId: M, timeMs: T0 + offsetMs, yesBids, yesAsks, ...more }));
  book(
    0,
    [
      [5000, SHARE],
      [4900, 2.5 * SHARE],
    ],
    [[5300, 80 * SHARE]],
    { underlyingPrice: 97_000.12 },
  );
  // The same millisecond again, one-sided: books are never merged.
  book(0, [[5000, SHARE]], []);
  // A size finer than 1/100 share, and a NO book that does not mirror YES.
  book(1000, [[9990, 1_234_567]], [[9991, 3]], {
    no: { bids: [[100, 5 * SHARE]], asks: [] },
    trusted: false,
  });
  const quote = (offsetMs: number, yesBid: number | null, yesAsk: number | null, more: object = {}) =>
    writer.quote({
      ...at(offsetMs),
      ...{ marketId: M, yesBid, yesAsk, noBid: null, noAsk: null, yesChanged: true, trusted: true },
      ...{ underlyingPrice: 97_000.12, ...more },
    });
  quote(0, 5000, 5300);
  quote(0, 5000, null, { underlyingPrice: null });
  quote(1000, 5000, 5400, { trusted: false });
  quote(2000, 5200, 5400, { yesChanged: false });
  quote(2500, 5200, 5500);
  quote(4 * MINUTE, 4000, 4100);
  quote(12 * MINUTE, 6000, 6200);
  const trade = (offsetMs: number, price: number, size: number, side: 'BUY_YES' | 'SELL_NO' = 'BUY_YES') =>
    writer.trade({ ...at(offsetMs), marketId: M, side, price, size, tradeId: `t${offsetMs}` });
  trade(500, 5300, 12.5 * SHARE);
  trade(501, 4700, SHARE, 'SELL_NO');
  trade(6 * MINUTE, 5000, 2 * SHARE);
  for (const [index, price] of ['97000.1', '97000.15', '97000.2'].entries()) {
    writer.perpDepth({
      ...at(index * 200),
      ...{
        kind: 'perp_depth',
        venue: 'bybit',
        ticker: 'BTC',
        updateId: 9_007_199_254_740_991 - 2 + index,
        engineTimeMs: null,
      },
      roundTripMs: 3,
      bids: [
        [price, '0.123'],
        ['96999.9', '1'],
      ],
      asks: [['97000.3', '1.25']],
    });
  }
  writer.underlying({ ...at(10), kind: 'underlying', ticker: 'BTC', source: 'chainlink', price: 97_000.12 });
  writer.gap(
    oneClock({
      ...{ seq: ++seq, gapId: 'gap_1', marketId: M, startTimeMs: T0 + 1000, endTimeMs: T0 + 2000 },
      ...{ cause: 'silent_feed', feed: 'polymarket.clob', repairedBy: null },
      ...{ knownTimeMs: null, knownSeq: null },
    }),
  );
  writer.gap(
    oneClock({
      ...{ seq: ++seq, gapId: 'gap_2', marketId: M, startTimeMs: T0 + 20 * MINUTE, endTimeMs: null },
      ...{ cause: 'disconnected', feed: 'polymarket.clob', repairedBy: null },
      ...{ knownTimeMs: null, knownSeq: null },
    }),
  );
  writer.perpDepth({
    ...at(250),
    ...{ kind: 'perp_depth', venue: 'okx', ticker: 'BTC', updateId: 7, engineTimeMs: null, roundTripMs: 4 },
    bids: [['97000.1', '0.605']],
    asks: [],
  });
}
