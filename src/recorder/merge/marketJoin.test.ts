import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MARKET } from '../../../test/support/wire.ts';
import { withEdge } from '../../core/settlement.ts';
import { type Market, NO_SETTLEMENT, UNKNOWN } from '../../schema/market.ts';
import { withPayout } from '../marketMerge.ts';
import { joinMarkets } from './marketJoin.ts';

const OPEN_MS = MARKET.startTimeMs;
const relayed = { price: 100_000, basis: 'chainlink_relay', knownTimeMs: OPEN_MS + 1_000 } as const;
const listed = { price: 100_001, basis: 'listing', knownTimeMs: OPEN_MS + 5_000 } as const;

describe('a market as two collectors know it', () => {
  it('is the first version until another one is received', () => {
    expect(joinMarkets(null, MARKET)).toEqual(MARKET);
    expect(joinMarkets(MARKET, MARKET)).toEqual(MARKET);
  });

  it('keeps what a restarted collector does not know yet', () => {
    const resolved = withPayout(withEdge(MARKET, 'strike', relayed), {
      payoutYes: 1,
      timeMs: OPEN_MS + 9,
      by: 'stream',
    });
    const known = { ...resolved, volume: 5, recordedSinceMs: 7, twapLookbackSeconds: 60, tickSize: 10 };
    expect(joinMarkets(known, { ...MARKET, noTokenId: UNKNOWN, recordedSinceMs: 9 })).toEqual(known);
  });

  it('has the strike of the better source, whichever came first', () => {
    const [a, b] = [withEdge(MARKET, 'strike', relayed), withEdge(MARKET, 'strike', listed)];
    for (const joined of [joinMarkets(a, b), joinMarkets(b, a)])
      expect(joined).toMatchObject({ strikePrice: 100_001, strikeSource: 'official', strikeDifference: 1 });
  });

  it('takes a newer value and a correction of the venue', () => {
    const known = { ...withEdge(MARKET, 'strike', listed), volume: 5, liquidity: 1 };
    const corrected = withEdge(known, 'strike', { ...listed, price: 100_002, knownTimeMs: OPEN_MS + 8_000 });
    expect(joinMarkets(known, { ...corrected, volume: 6, liquidity: null })).toEqual({
      ...corrected,
      volume: 6,
    });
  });

  it('keeps the first resolution and takes the confirmed outcome', () => {
    const first = withPayout(MARKET, { payoutYes: 1, timeMs: 10, by: 'stream' });
    const second = {
      ...withPayout(MARKET, { payoutYes: 0, timeMs: 20, by: 'listing' }),
      confirmedTimeMs: 20,
    };
    expect(joinMarkets(first, second)).toEqual({
      ...second,
      resolvedTimeMs: 10,
      resolvedTimeSource: 'stream',
      resolvedBy: 'stream',
    });
    expect(joinMarkets(second, first)).toEqual(second);
  });

  it("prefers the exchange's taker delay", () => {
    const exchange: Market = { ...MARKET, takerDelayMs: 500, takerDelaySource: 'exchange' };
    const listing: Market = { ...MARKET, takerDelayMs: 900, takerDelaySource: 'listing' };
    expect(joinMarkets(exchange, listing).takerDelayMs).toBe(500);
    expect(joinMarkets(listing, exchange).takerDelayMs).toBe(500);
  });

  it('never goes back, in any order of versions', () => {
    const version = fc.record({
      status: fc.constantFrom('open' as const, 'closed' as const, 'resolved' as const),
      tickSize: fc.constantFrom(10, 100),
      recordedSinceMs: fc.option(fc.integer({ min: 1, max: 9 })),
      strike: fc.option(fc.constantFrom(relayed, listed)),
    });
    fc.assert(
      fc.property(fc.array(version, { minLength: 1, maxLength: 6 }), (versions) => {
        let known: Market | null = null;
        for (const { strike, ...fields } of versions) {
          const bare: Market = { ...MARKET, ...NO_SETTLEMENT, ...fields };
          const next: Market = joinMarkets(known, strike === null ? bare : withEdge(bare, 'strike', strike));
          if (known !== null) {
            const order = ['open', 'closed', 'resolved'];
            expect(order.indexOf(next.status)).toBeGreaterThanOrEqual(order.indexOf(known.status));
            expect(next.tickSize).toBeLessThanOrEqual(known.tickSize);
            expect(next.recordedSinceMs ?? 99).toBeLessThanOrEqual(known.recordedSinceMs ?? 99);
            if (known.strikeBasis === 'listing') expect(next.strikeBasis).toBe('listing');
            if (known.strikePrice !== null) expect(next.strikePrice).not.toBeNull();
          }
          known = next;
        }
      }),
    );
  });
});
