import { expect, test } from 'vitest';
import { MARKET } from '../../../test/support/wire.ts';
import { type Market, UNKNOWN } from '../../schema/market.ts';
import { resolutionOf, tapeMarketOf } from './tapeMarket.ts';

const RECORD = {
  ...MARKET,
  ...{ startTimeMs: 1, endTimeMs: 2, strikePrice: 97_000, strikeKnownTimeMs: 3, takerFeeRate: 0.07 },
  ...{ takerFeeExponent: 2, takerDelayMs: 150, twapLookbackSeconds: 60, decidingFeed: 'chainlink_spot' },
} as const satisfies Market;

test('a replay knows of a record its window, its strike and its terms, and no outcome', () => {
  const resolved = { ...RECORD, status: 'resolved', payoutYes: 1, resolvedTimeMs: 9 } as const;
  expect(tapeMarketOf(resolved)).toEqual({
    ...{ marketId: RECORD.marketId, ticker: RECORD.ticker, eventType: RECORD.eventType },
    ...{ startTimeMs: 1, endTimeMs: 2, strikePrice: 97_000, strikeKnownTimeMs: 3, takerFeeRate: 0.07 },
    ...{ takerFeeExponent: 2, takerDelayMs: 150, twapLookbackSeconds: 60, decidingFeed: 'chainlink_spot' },
  });
});

test.each<Partial<Market>>([{ ticker: UNKNOWN }, { eventType: UNKNOWN }])(
  'a market with %o has no tape',
  (series) => {
    expect(() => tapeMarketOf({ ...RECORD, ...series })).toThrow(
      new TypeError('a market of no series has no tape'),
    );
  },
);

test('only a resolution of the venue pays out, at its time or the end of the window', () => {
  const paid = { ...RECORD, payoutYes: 0.5, resolvedTimeMs: 9 };
  expect(resolutionOf({ ...paid, status: 'closed' })).toBeNull();
  expect(resolutionOf({ ...paid, status: 'resolved' })).toEqual({ payoutYes: 0.5, resolvedTimeMs: 9 });
  expect(resolutionOf({ ...paid, status: 'resolved', resolvedTimeMs: null })).toEqual({
    ...{ payoutYes: 0.5, resolvedTimeMs: 2 },
  });
});
