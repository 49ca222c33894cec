import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TICKERS, EVENT_TYPES, TICKERS } from '../schema/market.ts';
import {
  contradictsTable,
  decidingSource,
  feeOfMarket,
  isDecidingPriceRecorded,
  settlementOfMarket,
  VENUE_RULES_VERSION,
  venueRulesAt,
} from './venueRules.ts';
import {
  FEES,
  HOLDS,
  MAKER_REBATES,
  MINIMUM_SIZES,
  OFFICIAL_STRIKES,
  SETTLEMENTS,
  TABLE_DATE,
  TICKS,
} from './venueRulesTable.ts';

const at = (text: string) => Date.parse(`${text}Z`);

describe('venueRulesAt', () => {
  it.each([
    ['15m', '2026-01-05T23:59:59.999', 0, 1, 'share'],
    ['15m', '2026-01-06T00:00:00', 0.25, 2, 'cost'],
    ['1h', '2026-03-05T23:59:59', 0, 1, 'share'],
    ['1h', '2026-03-06T00:00:00', 0.25, 2, 'cost'],
    ['5m', '2026-03-29T23:59:59', 0.25, 2, 'cost'],
    ['5m', '2026-03-30T00:00:00', 0.072, 1, 'share'],
    ['daily_up_down', '2026-05-30T12:00:00', 0.072, 1, 'share'],
    ['daily_up_down', '2026-05-31T00:00:00', 0.07, 1, 'share'],
    ['4h', '2026-11-20T00:00:00', 0.07, 1, 'share'],
  ] as const)(
    'trap 10: the fee of %s at %s is that day’s, not today’s',
    (kind, time, rate, exponent, base) => {
      const fee = { rate, exponent, base, decimals: 5, rounding: 'half_up' };
      expect(venueRulesAt(kind, 'BTC', at(time)).fee).toEqual(fee);
    },
  );

  it.each([
    ['5m', '2026-08-06T23:55:00', { kind: 'chainlink_spot', tie: 'up' }],
    ['5m', '2026-08-07T00:00:00', { kind: 'chainlink_twap', lookbackSeconds: 30, tie: 'up' }],
    ['5m', '2026-08-13T23:55:00', { kind: 'chainlink_twap', lookbackSeconds: 30, tie: 'up' }],
    ['5m', '2026-08-14T00:00:00', { kind: 'chainlink_twap', lookbackSeconds: 60, tie: 'up' }],
    ['15m', '2026-08-07T00:00:00', { kind: 'chainlink_twap', lookbackSeconds: 60, tie: 'up' }],
    ['4h', '2026-08-06T20:00:00', { kind: 'chainlink_spot', tie: 'up' }],
    ['4h', '2026-11-20T05:00:00', { kind: 'chainlink_twap', lookbackSeconds: 60, tie: 'up' }],
    ['1h', '2026-11-20T05:00:00', { kind: 'binance_hour', tie: 'up' }],
    ['daily_up_down', '2026-11-20T17:00:00', { kind: 'binance_minute', tie: 'split' }],
  ] as const)('trap 3: a %s window that opens at %s is decided by its own source', (kind, time, rule) => {
    expect(venueRulesAt(kind, 'ETH', at(time)).settlement).toEqual(rule);
  });

  it.each([
    ['15m', '2025-11-13T00:00:00', 0],
    ['15m', '2025-11-14T00:00:00', 500],
    ['4h', '2025-12-01T00:00:00', 0],
    ['15m', '2026-02-18T00:00:00', 250],
    ['5m', '2026-08-17T10:59:59.999', 250],
    ['5m', '2026-08-17T11:00:00', 50],
    ['1h', '2026-09-04T13:59:59.999', 50],
    ['1h', '2026-09-04T14:00:00', 150],
    ['daily_up_down', '2026-11-20T00:00:00', 150],
  ] as const)('holds a taker of %s at %s for %i ms', (kind, time, holdMs) => {
    expect(venueRulesAt(kind, 'SOL', at(time)).takerHoldMs).toBe(holdMs);
  });

  it('knows the finer tick size since it was first seen, and by ticker when the listing states a strike', () => {
    expect(venueRulesAt('5m', 'BTC', at('2026-03-10T19:00:00')).tick.fine).toBeNull();
    expect(venueRulesAt('5m', 'BTC', at('2026-07-24T00:00:00')).tick).toMatchObject({
      coarse: 100,
      fine: 10,
    });
    const stated = DEFAULT_TICKERS.map(
      (ticker) => venueRulesAt('5m', ticker, at('2026-03-01T00:00:00')).statesStrike,
    );
    expect(stated).toEqual([true, false, false]);
  });

  it('has an answer for every event type, ticker and time, under one version', () => {
    for (const eventType of EVENT_TYPES) {
      for (const ticker of TICKERS) {
        for (const timeMs of [0, at('2025-10-01T00:00:00'), at('2030-01-01T00:00:00')]) {
          expect(venueRulesAt(eventType, ticker, timeMs).version).toBe(VENUE_RULES_VERSION);
        }
      }
    }
  });

  it('names the date of the table and a fingerprint of its rows', () => {
    const tables = [FEES, HOLDS, TICKS, MINIMUM_SIZES, MAKER_REBATES, SETTLEMENTS, OFFICIAL_STRIKES];
    const rows = JSON.stringify(tables);
    expect(VENUE_RULES_VERSION).toBe(`${TABLE_DATE}-${hash('sha256', rows, 'hex').slice(0, 12)}`);
  });
});

describe('feeOfMarket', () => {
  const market = { eventType: '5m', ticker: 'BTC' } as const;
  const march = at('2026-03-10T19:00:00');

  it('uses the market’s own listing before the table', () => {
    const listed = feeOfMarket({ ...market, takerFeeRate: 0.05, takerFeeExponent: 1 }, march);
    expect(listed).toMatchObject({ rate: 0.05, exponent: 1, base: 'share', from: 'listing' });
    const free = feeOfMarket({ ...market, takerFeeRate: 0, takerFeeExponent: 1 }, march);
    expect(free).toMatchObject({ rate: 0, from: 'listing' });
  });

  it('has the cost in the formula of a listed exponent only where the table of that time has it', () => {
    const listed = (takerFeeExponent: number | null) =>
      feeOfMarket({ ...market, takerFeeRate: 0.3, takerFeeExponent }, march);
    expect(listed(2)).toMatchObject({ exponent: 2, base: 'cost' });
    expect(listed(1)).toMatchObject({ exponent: 1, base: 'share' });
    expect(listed(null)).toMatchObject({ rate: 0.3, exponent: 2, base: 'cost' });
  });

  it('uses the table of that time if the listing states nothing', () => {
    const unlisted = { ...market, takerFeeRate: null, takerFeeExponent: null };
    expect(feeOfMarket(unlisted, march)).toMatchObject({ rate: 0.25, exponent: 2, from: 'table' });
  });
});

describe('settlementOfMarket', () => {
  const TWAP = { kind: 'chainlink_twap', lookbackSeconds: 60, tie: 'up' };
  const SPOT = { kind: 'chainlink_spot', tie: 'up' };
  const HOUR = { kind: 'binance_hour', tie: 'up' };
  it.each([
    ['the table where the listing names nothing', '5m', '2026-11-20', null, null, TWAP, false],
    ['the same feed', '5m', '2026-11-20', 'chainlink_twap', 60, TWAP, false],
    ['another length', '5m', '2026-11-20', 'chainlink_twap', 30, { ...TWAP, lookbackSeconds: 30 }, true],
    ['a length without a feed', '5m', '2026-11-20', null, 30, { ...TWAP, lookbackSeconds: 30 }, true],
    [
      'a feed without a length',
      '5m',
      '2026-08-10',
      'chainlink_twap',
      null,
      { ...TWAP, lookbackSeconds: 30 },
      false,
    ],
    ['spot in the days of averages', '15m', '2026-11-20', 'chainlink_spot', 60, SPOT, true],
    ['an average in the days of spot', '15m', '2026-07-24', 'chainlink_twap', null, TWAP, true],
    ['an hour by its candle', '1h', '2026-11-20', 'binance_spot', null, HOUR, false],
    ['an hour by a stream', '1h', '2026-11-20', 'chainlink_twap', 60, TWAP, true],
    ['an hour by the candle of futures', '1h', '2026-11-20', 'binance_futures', null, HOUR, true],
    ['an hour with a length alone', '1h', '2026-11-20', null, 60, HOUR, false],
    ['an hour by prices that are not read', '1h', '2026-11-20', 'unknown', null, null, true],
    ['five minutes by an unknown candle', '5m', '2026-11-20', 'binance_spot', null, null, true],
    ['a market without series', 'unknown', '2026-11-20', 'chainlink_twap', 60, null, false],
  ] as const)('%s', (_, eventType, day, decidingFeed, twapLookbackSeconds, rule, contradicts) => {
    const startTimeMs = Date.parse(`${day}T12:00:00Z`);
    const ticker = eventType === 'unknown' ? 'unknown' : 'SOL';
    const market = { eventType, ticker, startTimeMs, decidingFeed, twapLookbackSeconds } as const;
    expect(settlementOfMarket(market)).toEqual(rule);
    expect(contradictsTable(market)).toBe(contradicts);
  });
});

describe('the prices that decide a market', () => {
  it.each([
    ['five minutes', '5m', 'BTC', null, 'chainlink', true],
    ['an hour', '1h', 'BTC', null, 'binance_spot', true],
    ['a day', 'daily_up_down', 'BTC', 'binance_spot', 'binance_spot', true],
    ['an hour by a stream', '1h', 'BTC', 'chainlink_twap', 'chainlink', true],
    ['an hour by futures', '1h', 'BTC', 'binance_futures', 'binance_spot', false],
    ['an hour of an asset that futures decide', '1h', 'HYPE', null, 'binance_spot', false],
    ['its hour by spot', '1h', 'HYPE', 'binance_spot', 'binance_spot', true],
    ['its five minutes', '5m', 'HYPE', null, 'chainlink', true],
    ['an hour by prices that are not read', '1h', 'BTC', 'unknown', 'binance_spot', false],
    ['five minutes by an unknown candle', '5m', 'BTC', 'binance_spot', 'binance_spot', false],
    ['a market without series', 'unknown', 'unknown', null, 'chainlink', false],
    ['a market of an unknown ticker', '5m', 'unknown', null, 'chainlink', false],
    ['a market of an unknown kind', 'unknown', 'BTC', 'chainlink_spot', 'chainlink', false],
  ] as const)(
    '%s: the nearest recorded feed, and whether it is theirs',
    (_, eventType, ticker, decidingFeed, source, isRecorded) => {
      const startTimeMs = at('2026-11-20T12:00:00');
      const market = { eventType, ticker, startTimeMs, decidingFeed, twapLookbackSeconds: null };
      expect([decidingSource(market), isDecidingPriceRecorded(market)]).toEqual([source, isRecorded]);
    },
  );

  it('the table has futures for hours and days of HYPE alone', () => {
    const hour = {
      eventType: '1h',
      startTimeMs: at('2026-11-20T12:00:00'),
      twapLookbackSeconds: null,
    } as const;
    const contradicts = (['HYPE', 'BTC'] as const).map((ticker) =>
      (['binance_futures', 'binance_spot'] as const).map((decidingFeed) =>
        contradictsTable({ ...hour, ticker, decidingFeed }),
      ),
    );
    expect(contradicts).toEqual([
      [false, true],
      [true, false],
    ]);
  });
});
