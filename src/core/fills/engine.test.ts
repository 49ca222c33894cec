import { describe, expect, test } from 'vitest';
import { ladder } from '../../../test/support/tapes.ts';
import { TakerFee } from '../fees.ts';
import { mirroredView } from '../session/tape.ts';
import { Consumption } from './consumption.ts';
import { dueTime, fillTaker, limitOf, midSide, slippageOf, whyNothing } from './engine.ts';

const SHARE = 1_000_000;
const FEE = new TakerFee({ rate: 0.07, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' });
const BUY = { action: 'buy', size: null } as const;
const BEST = { bid: 4_800, ask: 5_001 };

describe('a taker order', () => {
  const asks = ladder('asks', [
    [0.5, 10],
    [0.52, 100],
  ]);

  test('spends its budget on shares, and the fee is added', () => {
    const fill = fillTaker({ ...BUY, budget: 10_200_000, limitPrice: 9_850 }, asks, FEE);
    expect(fill).toMatchObject({ size: 20 * SHARE, principal: 10_200_000, fee: 175_000 + 174_720 });
    expect(fill && slippageOf('buy', fill, 5_000)).toBeCloseTo(0.01, 12);
  });

  test('buys shares of the cheapest levels', () => {
    const fill = fillTaker({ action: 'buy', size: 15 * SHARE, budget: null, limitPrice: 9_850 }, asks, FEE);
    expect(fill?.levels).toEqual([
      { price: 5_000, size: 10 * SHARE },
      { price: 5_200, size: 5 * SHARE },
    ]);
  });

  test.each([
    { action: 'buy', size: null, budget: null },
    { action: 'sell', size: null, budget: 1 },
  ] as const)('without an amount is a mistake of the caller: %o', (order) => {
    expect(() => fillTaker({ ...order, limitPrice: 9_850 }, asks, FEE)).toThrow(
      new RangeError('an order without an amount'),
    );
  });

  test('stops at its limit and fills nothing beyond it', () => {
    const order = { ...BUY, budget: 10_200_000 };
    expect(fillTaker({ ...order, limitPrice: 5_100 }, asks, FEE)?.size).toBe(10 * SHARE);
    expect(fillTaker({ ...order, limitPrice: 4_999 }, asks, FEE)).toBeNull();
  });

  test('sells shares; selling below the best bid of the decision is slippage too', () => {
    const bids = ladder('bids', [[0.4, 100]]);
    const fill = fillTaker(
      { action: 'sell', size: 5 * SHARE, budget: null, limitPrice: 0 } as const,
      bids,
      FEE,
    );
    expect(fill).toMatchObject({ principal: 2_000_000, fee: 84_000 });
    expect(fill && slippageOf('sell', fill, 4_500)).toBeCloseTo(0.05, 12);
  });

  test('fills within its slippage of the best price, never beyond the highest price or below 0', () => {
    const terms = { best: 100, maxSlippage: 300, maxFillPrice: 350 };
    expect([limitOf('buy', terms), limitOf('buy', { ...terms, best: 40 })]).toEqual([350, 340]);
    expect([limitOf('sell', terms), limitOf('sell', { ...terms, best: 340 })]).toEqual([0, 40]);
  });

  test('is not filled for lack of depth if all displayed sizes are consumed, else because of its limit', () => {
    expect(whyNothing({ count: 1, prices: Uint16Array.of(5_000), sizes: Float64Array.of(0) })).toBe(
      'no_depth',
    );
    expect(whyNothing({ count: 1, prices: Uint16Array.of(5_000), sizes: Float64Array.of(1) })).toBe('price');
  });

  test('meets the book after latency and hold', () => {
    expect(dueTime(1_000, { latencyMs: 50, takerHoldMs: 250 })).toBe(1_300);
  });
});

describe('the mid', () => {
  test('is rounded to a tick against the taker', () => {
    expect([midSide('buy', BEST).prices[0], midSide('sell', BEST).prices[0]]).toEqual([4_901, 4_900]);
  });

  test('of a locked book is its one price', () => {
    for (const kind of ['buy', 'sell'] as const) {
      const { count, prices } = midSide(kind, { bid: 5_000, ask: 5_000 });
      expect([count, prices[0]]).toEqual([1, 5_000]);
    }
  });

  test('does not exist at a price of 0 or 1, at which nobody trades', () => {
    expect([
      midSide('buy', { bid: 9_999, ask: 10_000 }).count,
      midSide('sell', { bid: 0, ask: 1 }).count,
    ]).toEqual([0, 0]);
    expect(midSide('buy', { bid: 9_998, ask: 10_000 }).count).toBe(1);
  });

  test('does not exist if a side is missing or the book is crossed', () => {
    expect(midSide('buy', { bid: Number.NaN, ask: 5_000 }).count).toBe(0);
    expect(midSide('buy', { bid: 5_100, ask: 5_000 }).count).toBe(0);
  });
});

describe('consumption', () => {
  const bids = ladder('bids', [[0.4, 10]]);
  const asksOf = (shares: number) => ladder('asks', [[0.5, shares]]);
  const remaining = (consumption: Consumption, shares: number) =>
    (consumption.remaining('yes', 'asks', asksOf(shares)).sizes[0] ?? 0) / SHARE;
  /** The first at 1 ms, each next a millisecond later. */
  const taken = (...sizes: number[]) => {
    const consumption = new Consumption();
    let timeMs = 0;
    for (const size of sizes)
      consumption.consume({
        ...({ token: 'yes', side: 'asks' } as const),
        ...{ view: asksOf(100), filled: [{ price: 5_000, size: size * SHARE }], timeMs: ++timeMs },
      });
    return consumption;
  };
  const observe = (consumption: Consumption, shares: number) =>
    consumption.observe(
      { side: (_, __, side) => (side === 'asks' ? asksOf(shares) : bids), isMirrored: () => true },
      0,
    );

  test('of 100 displayed, 30 consumed leaves 70, and 50 more leaves 20', () => {
    expect(remaining(taken(30), 100)).toBe(70);
    expect(remaining(taken(30, 50), 100)).toBe(20);
  });

  test('a level that grows to 120 has been refilled: 120 are available', () => {
    const consumption = taken(30, 50);
    observe(consumption, 120);
    expect(remaining(consumption, 120)).toBe(120);
    expect(consumption.isEmpty).toBe(true);
  });

  test('a level that shrinks keeps its consumption', () => {
    const consumption = taken(80);
    observe(consumption, 90);
    expect(remaining(consumption, 90)).toBe(10);
    observe(consumption, 50);
    expect(remaining(consumption, 50)).toBe(0);
    observe(consumption, 0);
    expect(remaining(consumption, 100)).toBe(100);
  });

  test('of 10 at the best price, 8 consumed, an order for 5 finds 2 there', () => {
    const asks = ladder('asks', [
      [0.5, 10],
      [0.51, 10],
    ]);
    const consumption = new Consumption();
    const filled = [{ price: 5_000, size: 8 * SHARE }];
    consumption.consume({ token: 'yes', side: 'asks', view: asks, filled, timeMs: 1 });
    const order = { ...BUY, budget: 2 * 500_000 + 3 * 510_000, limitPrice: 9_999 };
    expect(fillTaker(order, consumption.remaining('yes', 'asks', asks), FEE)?.levels).toEqual([
      { price: 5_000, size: 2 * SHARE },
      { price: 5_100, size: 3 * SHARE },
    ]);
  });

  test('an ask of NO is a bid of YES: a fill of one consumes the other', () => {
    const consumption = new Consumption();
    const noAsks = mirroredView(bids);
    const filled = [{ price: 6_000, size: 4 * SHARE }];
    consumption.consume({ token: 'no', side: 'asks', view: noAsks, filled, timeMs: 1 });
    expect(consumption.remaining('yes', 'bids', bids).sizes[0]).toBe(6 * SHARE);
    expect(consumption.remaining('no', 'asks', noAsks).sizes[0]).toBe(6 * SHARE);
    expect(consumption.remaining('yes', 'asks', asksOf(9)).sizes[0]).toBe(9 * SHARE);
  });

  test('a fill of NO in a book that YES mirrors counts as long as YES displays the mirrored level', () => {
    const consumption = new Consumption();
    const filled = [{ price: 6_000, size: 4 * SHARE }];
    consumption.consume({ token: 'no', side: 'asks', view: mirroredView(bids), filled, timeMs: 1 });
    const shown = (shares: number) => {
      const yesBids = ladder('bids', [
        [0.4, shares],
        [0.3, 50],
      ]);
      const side = (_: number, token: string, kind: string) =>
        token === 'yes' && kind === 'bids' ? yesBids : ladder('asks', [[0.5, 9]]);
      consumption.observe({ side, isMirrored: () => true }, 0);
      return (consumption.remaining('no', 'asks', mirroredView(yesBids)).sizes[0] as number) / SHARE;
    };
    expect([shown(10), shown(8), shown(9)]).toEqual([6, 4, 9]);
  });

  test('consumption of a NO ask that YES does not mirror stays while NO displays it', () => {
    const consumption = new Consumption();
    const noAsks = ladder('asks', [[0.7, 10]]);
    const filled = [{ price: 7_000, size: 4 * SHARE }];
    consumption.consume({ token: 'no', side: 'asks', view: noAsks, filled, timeMs: 1 });
    consumption.observe({ side: (_, token) => (token === 'no' ? noAsks : bids), isMirrored: () => false }, 0);
    expect(consumption.remaining('no', 'asks', noAsks).sizes[0]).toBe(6 * SHARE);
    consumption.observe(
      { side: (_, token) => (token === 'no' ? ladder('asks', [[0.69, 1]]) : bids), isMirrored: () => false },
      0,
    );
    expect(consumption.isEmpty, 'deeper than what is shown').toBe(false);
    consumption.observe(
      { side: (_, token) => (token === 'no' ? ladder('asks', [[0.71, 1]]) : bids), isMirrored: () => false },
      0,
    );
    expect(consumption.isEmpty).toBe(true);
  });

  test('fills after a time can be reversed, earlier ones stay', () => {
    const consumption = taken(30, 50);
    consumption.reverseSince(1);
    expect(remaining(consumption, 100)).toBe(70);
    consumption.reverseSince(0);
    expect(consumption.isEmpty).toBe(true);
  });
});
