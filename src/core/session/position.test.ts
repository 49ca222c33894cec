import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TakerFee } from '../fees.ts';
import { buyShares, type Fill, sellShares } from '../fills/walk.ts';
import { Ledger } from '../ledger.ts';
import { Position } from './position.ts';

const SHARE = 1_000_000;
const FEE = new TakerFee({ rate: 0.07, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' });

function filled(action: 'buy' | 'sell', price: number, shares: number): Fill {
  const side = { count: 1, prices: Uint16Array.of(price), sizes: Float64Array.of(1e12) };
  const fill = (action === 'buy' ? buyShares : sellShares)(side, { size: shares * SHARE, fee: FEE });
  if (fill === null) throw new Error('no fill');
  return fill;
}

const bought = (price: number, shares: number, openedMs: number) => ({
  ...{ decidedMs: openedMs - 200, openedMs, fill: filled('buy', price, shares), best: price - 100 },
});

test('a position of two purchases reports their sums and averages', () => {
  const position = new Position(new Ledger(), { token: 'yes', ...bought(4_000, 10, 1_000) });
  position.buy({ ...bought(5_000, 30, 2_000), best: 5_000 });
  position.sell(3_000, filled('sell', 6_000, 40), { reason: 'take_profit', best: 6_000 });
  const fees = filled('buy', 4_000, 10).fee + filled('buy', 5_000, 30).fee + filled('sell', 6_000, 40).fee;
  expect(position.trade()).toEqual({
    ...{ token: 'yes', decidedMs: 800, openedMs: 1_000, closedMs: 3_000, size: 40 * SHARE },
    ...{ entryPrice: 0.475, exitPrice: 0.6, exitReason: 'take_profit', principal: 19 * SHARE, fees },
    ...{ decisionPrice: 0.4725, entrySlippage: expect.closeTo(0.0025, 12), exitSlippage: 0 },
    ...{ entryLevels: 2, exitLevels: 1, pnl: 5 * SHARE - fees },
  });
});

test('the entry slippage is the entry price minus the decision price, whatever the purchases', () => {
  const purchase = fc.record({
    price: fc.integer({ min: 200, max: 9_800 }),
    shares: fc.integer({ min: 1, max: 5_000 }),
    best: fc.integer({ min: 1, max: 9_999 }),
  });
  fc.assert(
    fc.property(fc.array(purchase, { minLength: 1, maxLength: 6 }), (purchases) => {
      const entries = purchases.map(({ price, shares, best }, at) => ({
        ...bought(price, shares, 1_000 * (1 + at)),
        best,
      }));
      const [first, ...others] = entries as [(typeof entries)[0]];
      const position = new Position(new Ledger(), { token: 'yes', ...first });
      for (const other of others) position.buy(other);
      const { entryPrice, decisionPrice, entrySlippage } = position.trade();
      expect(entrySlippage).toBeCloseTo(entryPrice - decisionPrice, 12);
    }),
  );
});

test('the decision price of purchases with one best ask is exactly that price', () => {
  const position = new Position(new Ledger(), { token: 'yes', ...bought(4_000, 3, 1_000), best: 3_900 });
  for (const at of [2_000, 3_000]) position.buy({ ...bought(4_100, 7, at), best: 3_900 });
  expect(position.trade().decisionPrice).toBe(0.39);
});

test('an open position has no exit yet: null, not 0', () => {
  const position = new Position(new Ledger(), { token: 'yes', ...bought(4_000, 10, 1_000) });
  position.sell(3_000, filled('sell', 6_000, 4), { reason: 'take_profit', best: 6_000 });
  const open = { closedMs: null, exitPrice: null, exitReason: null, exitSlippage: null, exitLevels: null };
  expect(position.trade()).toMatchObject({ ...open, pnl: null });
});

test('the cost of a position falls with each part that is sold, and rises again if the sale is reversed', () => {
  const position = new Position(new Ledger(), { token: 'yes', ...bought(4_000, 10, 1_000) });
  position.buy({ ...bought(5_000, 10, 2_000), best: 5_000 });
  position.sell(3_000, filled('sell', 6_000, 5), { reason: 'take_profit', best: 6_000 });
  position.sell(4_000, filled('sell', 6_000, 5), { reason: 'take_profit', best: 6_000 });
  position.reverseSince(3_000);
  position.settle(9_000, 1);
  expect(position.costChanges).toEqual([
    { timeMs: 1_000, change: 4 * SHARE, rank: 1 },
    { timeMs: 2_000, change: 5 * SHARE, rank: 1 },
    { timeMs: 3_000, change: -2.25 * SHARE, rank: 0 },
    { timeMs: 9_000, change: -6.75 * SHARE, rank: 0 },
  ]);
});

test('a sale in the millisecond of the purchase counts after it', () => {
  const position = new Position(new Ledger(), { token: 'yes', ...bought(4_000, 10, 1_000) });
  position.sell(1_000, filled('sell', 6_000, 10), { reason: 'take_profit', best: 6_000 });
  expect(position.costChanges).toEqual([
    { timeMs: 1_000, change: 4 * SHARE, rank: 1 },
    { timeMs: 1_000, change: -4 * SHARE, rank: 2 },
  ]);
});

test('the cost of the shares of a sale is rounded down to a whole micro-USD', () => {
  const fill: Fill = { size: 3, principal: 2, fee: 0, levels: [{ price: 6_000, size: 3 }] };
  const purchase = { token: 'yes', decidedMs: 1, openedMs: 1, fill, best: 6_000 } as const;
  const position = new Position(new Ledger(), purchase);
  const sale: Fill = { size: 1, principal: 0, fee: 0, levels: [{ price: 6_000, size: 1 }] };
  position.sell(2, sale, { reason: 'stop_loss', best: 6_000 });
  expect(position.cost).toBe(2);
});

test('a payout of one half is rounded down to a whole micro-USD', () => {
  const fill: Fill = { size: 3, principal: 2, fee: 0, levels: [{ price: 4_000, size: 3 }] };
  const purchase = { token: 'yes', decidedMs: 1, openedMs: 1, fill, best: 4_000 } as const;
  const position = new Position(new Ledger(), purchase);
  position.settle(9_000, 0.5);
  expect(position.trade().pnl).toBe(-1);
});

test('a void market pays back the cost of the shares that are left', () => {
  const position = new Position(new Ledger(), { token: 'yes', ...bought(4_000, 10, 1_000) });
  position.sell(3_000, filled('sell', 6_000, 4), { reason: 'take_profit', best: 6_000 });
  position.settle(9_000, null);
  const fees = filled('buy', 4_000, 10).fee + filled('sell', 6_000, 4).fee;
  expect(position.trade().pnl).toBe(2.4 * SHARE + 2.4 * SHARE - 4 * SHARE - fees);
  // 4 at 0.60 and 6 at 0.40.
  expect(position.trade().exitPrice).toBeCloseTo(0.48, 12);
});

test('the slippage and the levels of the exit are those of the sales, not of the payout', () => {
  const position = new Position(new Ledger(), { token: 'yes', ...bought(4_000, 10, 1_000) });
  position.sell(3_000, filled('sell', 6_000, 4), { reason: 'take_profit', best: 6_100 });
  position.settle(9_000, 1);
  const { exitSlippage, exitLevels } = position.trade();
  expect(exitSlippage).toBeCloseTo(0.01, 12);
  expect(exitLevels).toBe(1);
});

test('the slippage of a single sale is exact, whatever its size', () => {
  const position = new Position(new Ledger(), { token: 'yes', ...bought(4_000, 59, 1_000) });
  position.sell(3_000, filled('sell', 6_000, 59), { reason: 'take_profit', best: 6_100 });
  expect(position.trade().exitSlippage).toBe(0.61 - 0.6);
});

test('the slippage of several sales is averaged by their shares, as is the price of the exit', () => {
  const position = new Position(new Ledger(), { token: 'yes', ...bought(4_000, 10, 1_000) });
  position.sell(3_000, filled('sell', 6_000, 2), { reason: 'take_profit', best: 6_100 });
  const levels = [
    { price: 5_000, size: 2 * SHARE },
    { price: 4_500, size: 4 * SHARE },
  ];
  const fill: Fill = { size: 6 * SHARE, principal: 2.8 * SHARE, fee: 7, levels };
  position.sell(4_000, fill, { reason: 'stop_loss', best: 5_000 });
  position.settle(9_000, 0);
  const trade = position.trade();
  // 2 shares 0.01 below the best bid, then 2 at it and 4 shares 0.05 below.
  expect(trade.exitSlippage).toBeCloseTo((2 * 0.01 + 4 * 0.05) / 8, 12);
  expect(trade.exitPrice).toBeCloseTo((2 * 0.6 + 2 * 0.5 + 4 * 0.45) / 10, 12);
  expect(trade).toMatchObject({ exitLevels: 3, exitReason: 'resolved', closedMs: 9_000 });
  expect(trade.fees).toBe(filled('buy', 4_000, 10).fee + filled('sell', 6_000, 2).fee + 7);
});

test('reversing a later purchase leaves the earlier one, with its cost', () => {
  const ledger = new Ledger();
  const position = new Position(ledger, { token: 'no', ...bought(4_000, 10, 1_000) });
  position.buy(bought(5_000, 30, 2_000));
  position.sell(3_000, filled('sell', 6_000, 40), { reason: 'stop_loss', best: 6_000 });
  expect(position.reverseSince(1_500)).toBe('reopened');
  expect([position.left, position.cost, ledger.positions, position.fills]).toEqual([
    ...[10 * SHARE, 4 * SHARE, 4 * SHARE, 1],
  ]);
  position.settle(9_000, null);
  expect(position.trade()).toMatchObject({ exitReason: 'market_void', exitPrice: 0.4, principal: 4 * SHARE });
  expect(position.reverseSince(500)).toBe('gone');
  expect([ledger.cash, ledger.positions, ledger.fees, ledger.won]).toEqual([0, 0, 0, 0]);
});

test('the fills after a time are reversed, in whatever order they became known', () => {
  const ledger = new Ledger();
  const position = new Position(ledger, { token: 'yes', ...bought(3_900, 10, 5_500) });
  position.buy(bought(4_000, 30, 5_200));
  position.sell(7_000, filled('sell', 6_000, 5), { reason: 'take_profit', best: 6_000 });
  position.sell(6_500, filled('sell', 5_000, 4), { reason: 'take_profit', best: 5_000 });
  expect(position.reverseSince(6_500)).toBe('reopened');
  expect([position.left, position.sales]).toEqual([36 * SHARE, 1]);
  expect(position.reverseSince(5_200)).toBe('reopened');
  const taker = filled('buy', 4_000, 30);
  expect(position.trade()).toMatchObject({ size: 30 * SHARE, openedMs: 5_200, principal: taker.principal });
  expect([ledger.cash, ledger.positions]).toEqual([-taker.principal - taker.fee, taker.principal]);
});

test('a purchase that is reversed leaves no part of its cost in a sale that became known after it', () => {
  const ledger = new Ledger();
  const position = new Position(ledger, { token: 'yes', ...bought(4_000, 10, 1_000) });
  // A trade filled the resting order before a message confirmed the taker's earlier sale.
  position.buy(bought(3_000, 10, 5_500));
  position.sell(5_200, filled('sell', 6_000, 5), { reason: 'take_profit', best: 6_000 });
  expect(position.cost).toBe(5.25 * SHARE);
  position.reverseSince(5_200);
  expect([position.left, position.cost, ledger.positions]).toEqual([5 * SHARE, 2 * SHARE, 2 * SHARE]);
});

test('a sale takes no part of the cost of later purchases, however often purchases are reversed', () => {
  const position = new Position(new Ledger(), { token: 'yes', ...bought(4_000, 10, 1_000) });
  position.sell(2_000, filled('sell', 6_000, 5), { reason: 'take_profit', best: 6_000 });
  for (const openedMs of [3_000, 4_000, 5_000]) position.buy(bought(3_000, 10, openedMs));
  position.reverseSince(4_000);
  position.reverseSince(3_000);
  expect([position.left, position.cost]).toEqual([15 * SHARE, 5 * SHARE]);
});

test('an exit decided at the very start of a gap stays, a later one is forgotten', () => {
  const position = new Position(new Ledger(), { token: 'yes', ...bought(4_000, 10, 1_000) });
  position.exiting = { reason: 'stop_loss', sinceMs: 1_500 };
  expect(position.reverseSince(1_500)).toBe('kept');
  expect(position.exiting).toEqual({ reason: 'stop_loss', sinceMs: 1_500 });
  position.reverseSince(1_499);
  expect(position.exiting).toBeNull();
});

/** Prices in ticks, shares, and whether it is a purchase; sales are cut to the shares held. */
const steps = fc.array(
  fc.record({
    price: fc.integer({ min: 100, max: 9_900 }),
    shares: fc.integer({ min: 1, max: 50 }),
    buys: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

test('reversing to any time gives the position and the ledger of the fills up to then', () => {
  fc.assert(
    fc.property(steps, fc.nat(12), (all, cut) => {
      const play = (until: number) => {
        const ledger = new Ledger();
        const position = new Position(ledger, { token: 'yes', ...bought(5_000, 20, 1) });
        for (const [at, { price, shares, buys }] of all.entries()) {
          const timeMs = at + 2;
          if (timeMs > until) break;
          if (buys) position.buy(bought(price, shares, timeMs));
          // Never all of them: the position stays open.
          else if (position.left > shares * SHARE)
            position.sell(timeMs, filled('sell', price, shares), { reason: 'take_profit', best: price });
        }
        return { ledger, position };
      };
      const [whole, part] = [play(99), play(cut + 1)];
      whole.position.reverseSince(cut + 1);
      expect(whole.position.cost).toBe(part.position.cost);
      expect(whole.ledger.positions).toBe(part.ledger.positions);
      for (const { ledger, position } of [whole, part]) {
        expect(position.result()).toEqual({ closedMs: null, pnl: null });
        position.settle(100, 1);
        expect(ledger.positions).toBe(0);
        const { closedMs, pnl } = position.trade();
        expect(position.result()).toEqual({ closedMs, pnl });
        expect(pnl).toBe(ledger.cash);
      }
      expect(whole.position.trade()).toEqual(part.position.trade());
      expect([whole.ledger.cash, whole.ledger.fees]).toEqual([part.ledger.cash, part.ledger.fees]);
    }),
  );
});
