import { expect, test } from 'vitest';
import { TAPE_MARKET } from '../../../test/support/tapes.ts';
import { firstTerms, type MarketTerms, sameTerms, termsOf } from './marketTerms.ts';

const TERMS: MarketTerms = {
  ...{ strikePrice: 97_000, strikeKnownTimeMs: 5, takerFeeRate: 0.07, takerFeeExponent: 1 },
  ...{ takerDelayMs: 500, twapLookbackSeconds: 60, decidingFeed: null },
};
const OTHER: MarketTerms = {
  ...{ strikePrice: 97_001, strikeKnownTimeMs: 6, takerFeeRate: 0.08, takerFeeExponent: 2 },
  ...{ takerDelayMs: 0, twapLookbackSeconds: null },
  decidingFeed: 'binance_spot',
};

test.each(Object.keys(TERMS) as (keyof MarketTerms)[])(
  'a market whose %s changes has other terms',
  (name) => {
    const changed = { ...TERMS, [name]: OTHER[name] };
    expect(sameTerms(TERMS, changed)).toBe(false);
    expect(termsOf({ ...TAPE_MARKET, ...changed })).toEqual(changed);
  },
);

test('other facts of a market are no terms, and the first terms hold from before its first row', () => {
  const market = { ...TAPE_MARKET, ...TERMS };
  expect(sameTerms(market, { ...market, marketId: '0xother' } as MarketTerms)).toBe(true);
  expect(firstTerms('0x1', market)).toEqual({ marketId: '0x1', afterSeq: 0, terms: TERMS });
});
