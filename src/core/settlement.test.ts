import { describe, expect, it } from 'vitest';
import { type Market, NO_SETTLEMENT, PRICE_BASES, type PriceBasis } from '../schema/market.ts';
import type { Tape } from './priceTape.ts';
import {
  candleOfEdge,
  decidedTimeMs,
  payoutOf,
  priceAtEdge,
  rankOf,
  withComputed,
  withEdge,
} from './settlement.ts';
import { settlementOfMarket, venueRulesAt } from './venueRules.ts';

const START = Date.UTC(2026, 10, 20, 12);
const END = START + 300_000;
const rule = (eventType: '5m' | '1h' | 'daily_up_down', timeMs = START) =>
  venueRulesAt(eventType, 'BTC', timeMs).settlement;

const MARKET = {
  ...NO_SETTLEMENT,
  ...{ eventType: '5m', ticker: 'BTC', startTimeMs: START, endTimeMs: END },
  ...{ strikePrice: null, strikeSource: null, closePrice: null, outcome: null, payoutYes: null },
} as unknown as Market;

const tape = (at: Record<number, number>, means: Record<number, number> = {}): Tape => ({
  at: (timeMs) => at[timeMs] ?? null,
  meanUntil: (endMs, seconds) => (seconds === 60 ? (means[endMs] ?? null) : null),
});
const NOTHING = tape({});
const NO_TAPES = { chainlink: NOTHING, twap60: NOTHING, trades: NOTHING };

describe('payoutOf', () => {
  it.each<['5m' | '1h' | 'daily_up_down', number, number, number, string]>([
    ['5m', 100, 100, 1, 'a tie is Up'],
    ['5m', 100, 99.999999999, 0, 'the smallest fall is Down: nothing is rounded'],
    ['1h', 100, 100, 1, 'a tie is Up'],
    ['1h', 100, 100.01, 1, 'a rise'],
    ['daily_up_down', 100, 100, 0.5, 'a tie is split'],
    ['daily_up_down', 100, 99.99, 0, 'a fall'],
  ])('%s from %d to %d pays %d: %s', (eventType, strike, close, payout, _) => {
    expect(payoutOf(rule(eventType), strike, close)).toBe(payout);
  });
});

describe('priceAtEdge', () => {
  it('prefers the relayed average, then the average of whole ticks, then that of trades', () => {
    const twap60 = tape({ [START]: 1 });
    const chainlink = tape({ [START]: 99 }, { [START]: 2 });
    const trades = tape({}, { [START]: 3 });
    const at = (tapes: object) => priceAtEdge(rule('5m'), START, { ...NO_TAPES, ...tapes });
    expect(at({ twap60, chainlink, trades })).toEqual({ price: 1, basis: 'twap_relay' });
    expect(at({ chainlink, trades })).toEqual({ price: 2, basis: 'chainlink_ticks' });
    expect(at({ trades })).toEqual({ price: 3, basis: 'binance_trades' });
    expect(at({ chainlink: tape({ [START]: 99 }) })).toBeNull();
  });

  it('trap 3: before 2026-08-07 a window is decided by the second’s point, never by an average', () => {
    const july = Date.UTC(2026, 6, 24, 12);
    const tapes = { ...NO_TAPES, twap60: tape({ [july]: 1 }), chainlink: tape({ [july]: 5 }, { [july]: 2 }) };
    expect(priceAtEdge(rule('5m', july), july, tapes)).toEqual({ price: 5, basis: 'chainlink_relay' });
  });

  it('before that day prefers the relayed point to the trades of another venue', () => {
    const july = Date.UTC(2026, 6, 24, 12);
    const [chainlink, trades] = [tape({ [july]: 5 }), tape({ [july]: 6 })];
    const at = (tapes: object) => priceAtEdge(rule('5m', july), july, { ...NO_TAPES, ...tapes });
    expect(at({ chainlink, trades })).toEqual({ price: 5, basis: 'chainlink_relay' });
    expect(at({ trades })).toEqual({ price: 6, basis: 'binance_trades' });
  });

  it('trap 3: an hour and a day have no Chainlink price', () => {
    const tapes = {
      ...NO_TAPES,
      twap60: tape({ [START]: 1 }),
      chainlink: tape({ [START]: 5 }, { [START]: 2 }),
    };
    expect([rule('1h'), rule('daily_up_down')].map((r) => priceAtEdge(r, START, tapes))).toEqual([
      null,
      null,
    ]);
  });

  it('reads a day’s estimate a minute after its ends, where its candle closes', () => {
    const tapes = { ...NO_TAPES, trades: tape({ [START]: 1, [START + 60_000]: 2 }) };
    expect(priceAtEdge(rule('daily_up_down'), START, tapes)?.price).toBe(2);
    expect(priceAtEdge(rule('1h'), START, tapes)?.price).toBe(1);
  });

  it('calls the price of trades an estimate, whatever decides the window', () => {
    const july = Date.UTC(2026, 6, 24, 12);
    const rules = [rule('5m', july), rule('1h'), rule('daily_up_down')];
    const trades = { at: () => 7, meanUntil: () => null };
    for (const one of rules)
      expect(priceAtEdge(one, START, { ...NO_TAPES, trades })).toEqual({ price: 7, basis: 'binance_trades' });
  });

  it('uses another average length if the listing states one, and then no relayed average', () => {
    const listed = settlementOfMarket({ ...MARKET, twapLookbackSeconds: 30 })!;
    expect(listed).toMatchObject({ kind: 'chainlink_twap', lookbackSeconds: 30 });
    expect(priceAtEdge(listed, START, { ...NO_TAPES, twap60: tape({ [START]: 1 }) })).toBeNull();
  });
});

it('the price of an end is final at the end, and a minute later for a day', () => {
  const kinds = ['5m', '1h', 'daily_up_down'] as const;
  expect(kinds.map((kind) => decidedTimeMs(rule(kind), START))).toEqual([START, START, START + 60_000]);
});

describe('candleOfEdge', () => {
  it('names the hour itself, and the minute that begins at each end of a day', () => {
    const window = { startTimeMs: START, endTimeMs: END };
    const candles = (['strike', 'close'] as const).flatMap((edge) =>
      (['1h', 'daily_up_down', '5m'] as const).map((kind) => candleOfEdge(rule(kind), edge, window)),
    );
    expect(candles).toEqual([
      { interval: '1h', startTimeMs: START, price: 'open' },
      { interval: '1m', startTimeMs: START, price: 'close' },
      null,
      { interval: '1h', startTimeMs: START, price: 'close' },
      { interval: '1m', startTimeMs: END, price: 'close' },
      null,
    ]);
  });
});

describe('withEdge', () => {
  const heard = (basis: PriceBasis, price: number, knownTimeMs = END) => ({ basis, price, knownTimeMs });

  it('official replaces relayed replaces estimated, and the difference and the time are kept', () => {
    let market = withEdge(MARKET, 'strike', heard('chainlink_ticks', 100, START + 3000));
    expect(market).toMatchObject({ strikePrice: 100, strikeSource: 'estimated', strikeDifference: null });
    market = withEdge(market, 'strike', heard('twap_relay', 101, START + 4000));
    expect(market).toMatchObject({ strikePrice: 101, strikeSource: 'relayed', strikeDifference: 1 });
    market = withEdge(market, 'strike', heard('listing', 101.5, START + 9000));
    expect(market).toMatchObject({ strikeSource: 'official', strikeKnownTimeMs: START + 9000 });
    expect(market.strikeDifference).toBe(0.5);
  });

  it('keeps the first time of a price that a better source only repeats', () => {
    const relayed = withEdge(MARKET, 'strike', heard('twap_relay', 101, START + 2000));
    const official = withEdge(relayed, 'strike', heard('listing', 101, START + 9000));
    const known = { strikeSource: 'official', strikeDifference: 0, strikeKnownTimeMs: START + 2000 };
    expect(official).toMatchObject(known);
    const close = withEdge(relayed, 'close', heard('twap_relay', 99, END + 2_000));
    const confirmed = withEdge(close, 'close', heard('listing', 99, END + 9_000));
    expect(confirmed).toMatchObject({ closeDifference: 0, closeKnownTimeMs: END + 2_000 });
  });

  it('keeps the better source if a worse one arrives later, which leaves only its difference', () => {
    const official = withEdge(MARKET, 'close', heard('listing', 200));
    const later = withEdge(official, 'close', heard('twap_relay', 199, END + 1));
    expect(later).toEqual({ ...official, closeDifference: 1 });
    expect(withEdge(later, 'close', heard('binance_trades', 1, END + 2))).toBe(later);
  });

  it('keeps the difference of a worse strike too', () => {
    const official = withEdge(MARKET, 'strike', heard('listing', 200));
    const later = withEdge(official, 'strike', heard('twap_relay', 199, END + 1));
    expect(later).toEqual({ ...official, strikeDifference: 1 });
  });

  it('applies the venue’s correction of its own price from when it was made, and ignores repetitions', () => {
    const official = withEdge(MARKET, 'strike', heard('listing', 200, START + 1));
    expect(withEdge(official, 'strike', heard('listing', 200, START + 2))).toBe(official);
    const corrected = withEdge(official, 'strike', heard('listing', 201, START + 3));
    expect(corrected).toMatchObject({ strikePrice: 201, strikeKnownTimeMs: START + 3 });
    const relayed = withEdge(MARKET, 'strike', heard('twap_relay', 200, START + 1));
    const replaced = withEdge(relayed, 'strike', heard('listing', 200.5, START + 2));
    expect(withEdge(replaced, 'strike', heard('listing', 201, START + 3)).strikeDifference).toBe(0.5);
    expect(withEdge(relayed, 'strike', heard('twap_relay', 201, START + 3))).toBe(relayed);
  });

  it.each(['listing', 'crypto_price', 'twap_relay', 'binance_trades'] as const)(
    'trap 2: ignores a %s strike before the window opens and a close before it ends',
    (basis) => {
      expect(withEdge(MARKET, 'strike', heard(basis, 100, START - 1))).toBe(MARKET);
      expect(withEdge(MARKET, 'close', heard(basis, 100, END - 1))).toBe(MARKET);
      expect(withEdge(MARKET, 'strike', heard(basis, 100, START)).strikePrice).toBe(100);
    },
  );

  it('ranks official before relayed before estimated', () => {
    const order: PriceBasis[] = [
      ...(['listing', 'crypto_price', 'twap_relay', 'chainlink_relay', 'binance_candle'] as const),
      ...(['chainlink_ticks', 'binance_trades'] as const),
    ];
    expect(Object.keys(PRICE_BASES)).toEqual(order);
    expect(order.map(rankOf)).toEqual([...order.map(rankOf)].sort((a, b) => a - b));
  });
});

describe('withComputed', () => {
  const priced = (strikeBasis: PriceBasis, closeBasis: PriceBasis, payoutYes: number | null) =>
    withComputed({ ...MARKET, strikePrice: 100, closePrice: 99, strikeBasis, closeBasis, payoutYes });

  it('flags a venue resolution that differs from its own rule', () => {
    expect(priced('listing', 'twap_relay', 0)).toMatchObject({
      computedPayoutYes: 0,
      winnerDisagrees: false,
    });
    expect(priced('listing', 'twap_relay', 1)).toMatchObject({ computedPayoutYes: 0, winnerDisagrees: true });
    expect(priced('listing', 'twap_relay', null).winnerDisagrees).toBeNull();
  });

  it('does not compare a price of another market with the deciding one, but does compare two of the same market', () => {
    expect(priced('listing', 'binance_trades', 1)).toMatchObject({
      computedPayoutYes: null,
      winnerDisagrees: null,
    });
    expect(priced('binance_trades', 'binance_trades', 0).winnerDisagrees).toBe(false);
  });

  it.each(['strike', 'close'] as const)('computes nothing without a %s', (edge) => {
    const both = { strikePrice: 100, strikeBasis: 'listing', closePrice: 99, closeBasis: 'listing' } as const;
    const missing = { [`${edge}Price`]: null, [`${edge}Basis`]: null };
    const market = withComputed({ ...MARKET, ...both, ...missing, payoutYes: 1 });
    expect(market).toMatchObject({ computedPayoutYes: null, winnerDisagrees: null });
  });

  it('computes nothing without any price', () => {
    expect(withComputed({ ...MARKET, payoutYes: 1 }).computedPayoutYes).toBeNull();
  });

  it('computes nothing for a market of unknown kind', () => {
    const unknown = { ...MARKET, eventType: 'unknown', strikePrice: 1, closePrice: 2 } as const;
    expect(
      withComputed({ ...unknown, strikeBasis: 'listing', closeBasis: 'listing' }).computedPayoutYes,
    ).toBeNull();
  });
});
