import { describe, expect, test } from 'vitest';
import { MARKET } from '../../test/support/wire.ts';
import type { Market } from '../schema/market.ts';
import { mergeListing, withPayout, withRules } from './marketMerge.ts';

const READ_MS = MARKET.startTimeMs + 1000;
const NO_RULES = { feeRate: null, feeExponent: null, takerDelayMs: null, readTimeMs: READ_MS };
const delayOf = ({ takerDelayMs, takerDelaySource }: Market) => [takerDelayMs, takerDelaySource];

describe('a market’s own taker delay', () => {
  const listed = (takerDelayMs: number | null): Market => ({
    ...MARKET,
    ...{ takerDelayMs, takerDelaySource: takerDelayMs === null ? null : 'listing' },
  });

  test('is the newest listed one, and stays when the listing drops it', () => {
    const first = mergeListing(null, listed(3000));
    expect(delayOf(mergeListing(first, listed(1000)))).toEqual([1000, 'listing']);
    expect(delayOf(mergeListing(first, listed(null)))).toEqual([3000, 'listing']);
    expect(delayOf(mergeListing(listed(null), listed(3000)))).toEqual([3000, 'listing']);
  });

  test('is the exchange’s before the listing’s, also where there is none', () => {
    const none = withRules(listed(3000), { ...NO_RULES, takerDelayMs: 0 });
    expect(delayOf(none)).toEqual([0, 'exchange']);
    expect(none.rulesReadTimeMs).toBe(READ_MS);
    expect(delayOf(mergeListing(none, listed(1000)))).toEqual([0, 'exchange']);
  });

  test('is unchanged by an answer without one', () => {
    const known = listed(3000);
    expect(delayOf(withRules(known, NO_RULES))).toEqual([3000, 'listing']);
    expect(delayOf(withRules(listed(null), NO_RULES))).toEqual([null, null]);
  });
});

test('a deciding feed that the listing drops stays; another feed gives the rules a new read time', () => {
  const known: Market = { ...MARKET, decidingFeed: 'chainlink_twap', rulesReadTimeMs: 5 };
  const again = mergeListing(known, { ...MARKET, rulesReadTimeMs: READ_MS });
  expect(again).toMatchObject({ decidingFeed: 'chainlink_twap', rulesReadTimeMs: 5 });
  const spot = mergeListing(known, { ...MARKET, decidingFeed: 'chainlink_spot', rulesReadTimeMs: READ_MS });
  expect(spot).toMatchObject({ decidingFeed: 'chainlink_spot', rulesReadTimeMs: READ_MS });
});

test.each([
  [1, 'Up'],
  [0, 'Down'],
  [0.5, null],
])('a payout of %d is the outcome %s, with the source’s time', (payoutYes, outcome) => {
  const resolved = withPayout(MARKET, { payoutYes, timeMs: READ_MS, by: 'exchange' });
  expect(resolved).toMatchObject({
    ...{ status: 'resolved', outcome, payoutYes, resolvedBy: 'exchange' },
    ...{ resolvedTimeMs: READ_MS, resolvedTimeSource: 'exchange', confirmedTimeMs: null },
  });
});
