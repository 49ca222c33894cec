import { expect, test } from 'vitest';
import { EVENT_TYPES, TICKERS } from '../schema/market.ts';
import { MarketRules } from './marketRules.ts';
import { feeOfMarket, unchangedAround, venueRulesAt } from './venueRules.ts';
import { FEES, HOLDS, MAKER_REBATES, MINIMUM_SIZES, TICKS } from './venueRulesTable.ts';

const CHANGES = [...FEES, ...HOLDS, ...TICKS, ...MINIMUM_SIZES, ...MAKER_REBATES]
  .map(({ fromMs }) => fromMs)
  .filter(Number.isFinite);
const AROUND = CHANGES.flatMap((fromMs) => [fromMs - 1, fromMs, fromMs + 1]);

test.each([
  { listed: 'by the table', takerFeeRate: null, takerFeeExponent: null, takerDelayMs: null },
  { listed: 'as listed', takerFeeRate: 0.07, takerFeeExponent: 1, takerDelayMs: 500 },
  { listed: 'as listed without a fee and a hold', takerFeeRate: 0, takerFeeExponent: 1, takerDelayMs: 0 },
])(
  'the rules of every market around every change are those in force at the time, $listed',
  ({ listed, ...terms }) => {
    expect(AROUND.length, listed).toBeGreaterThan(3);
    for (const eventType of EVENT_TYPES) {
      for (const ticker of TICKERS) {
        const market = { ...MARKET, ...terms, eventType, ticker };
        const rules = new MarketRules(market);
        // Forwards and backwards: a later cell of a sweep starts over.
        for (const timeMs of [...AROUND, ...AROUND.toReversed()]) {
          expect(rules.fee(timeMs).rule).toEqual(feeOfMarket(market, timeMs));
          const hold = terms.takerDelayMs ?? venueRulesAt(eventType, ticker, timeMs).takerHoldMs;
          expect(rules.takerHoldMs(timeMs)).toBe(hold);
          const { tick, minimumSize } = venueRulesAt(eventType, ticker, timeMs);
          expect([rules.tick(timeMs), rules.minimumSize(timeMs)]).toEqual([tick, minimumSize]);
        }
      }
    }
  },
);

test('the expected rebate of a maker is a fifth of the taker’s fee: 0.36 for 100 shares at 0.50 and a rate of 0.072', () => {
  const terms = { takerFeeRate: 0.072, takerFeeExponent: 1, takerDelayMs: null };
  const rules = new MarketRules({ ...MARKET, ...terms, eventType: '5m', ticker: 'BTC' });
  const fill = { price: 5_000, size: 100_000_000 };
  expect(rules.makerRebate(fill, Date.UTC(2026, 5, 8))).toBe(360_000);
  expect(rules.makerRebate(fill, Date.UTC(2026, 4, 30))).toBe(0);
});

test('a correction in a live market’s listing applies from then on', () => {
  const market = {
    ...MARKET,
    eventType: '5m',
    ticker: 'BTC',
    takerFeeRate: null,
    takerFeeExponent: null,
  } as const;
  const live = { ...market, takerDelayMs: 500 };
  const rules = new MarketRules(live);
  expect(rules.takerHoldMs(0)).toBe(500);
  live.takerDelayMs = 700;
  rules.changed();
  expect(rules.takerHoldMs(0)).toBe(700);
});

test('a period without changes begins with one and ends before the next', () => {
  for (const timeMs of AROUND) {
    const { fromMs, untilMs } = unchangedAround(timeMs);
    expect(CHANGES.filter((change) => change > fromMs && change < untilMs)).toEqual([]);
    expect(fromMs <= timeMs && timeMs < untilMs).toBe(true);
  }
  for (const change of CHANGES) {
    expect([unchangedAround(change - 1).untilMs, unchangedAround(change).fromMs]).toEqual([change, change]);
  }
});

const MARKET = {
  ...{ marketId: '0x1', startTimeMs: 0, endTimeMs: 1, strikePrice: null, strikeKnownTimeMs: null },
  twapLookbackSeconds: null,
  decidingFeed: null,
};
