import { expect, test } from 'vitest';
import type { PlaceOrder } from './definition.ts';
import { termsOf } from './orderTerms.ts';

const NOW_MS = 1_000;
const ORDER: PlaceOrder = { marketId: '0x1', token: 'yes', action: 'buy', limitPrice: 0.4, size: 10 };
const terms = (order: Partial<PlaceOrder>) => termsOf({ ...ORDER, ...order }, NOW_MS);
/** The same with a budget in place of the size. */
const spending = (budget: number, order: Partial<PlaceOrder> = {}) => {
  const { size: _, ...rest } = ORDER;
  return termsOf({ ...rest, budget, ...order }, NOW_MS);
};

test.each([
  [0, 0],
  [1, 10_000],
  // In doubles 5699.999999999999 and 700.0000000000001 ticks.
  [0.57, 5_700],
  [0.07, 700],
])('a limit of %d USDC is %d ticks', (limitPrice, ticks) => {
  expect(terms({ limitPrice }).limitPrice).toBe(ticks);
});

test('a limit between two ticks stays there', () => {
  expect(terms({ limitPrice: 0.40005 }).limitPrice).toBeCloseTo(4_000.5, 6);
  expect(terms({ limitPrice: 0.4000002 }).limitPrice).toBeCloseTo(4_000.002, 6);
});

test('sizes and budgets are the nearest whole unit and micro-USD', () => {
  // In doubles 8199999.999999999.
  expect(terms({ size: 8.2 })).toMatchObject({ size: 8_200_000, budget: null });
  expect(spending(8.2)).toMatchObject({ size: null, budget: 8_200_000 });
  expect(terms({ size: 0.000001 }).size).toBe(1);
  expect(() => terms({ size: 0.0000004 })).toThrow(
    new RangeError('order: size: expected shares above 0, got 4e-7'),
  );
  expect(() => spending(0.0000004)).toThrow(new RangeError('order: budget: expected USD above 0, got 4e-7'));
});

test('an order fills at once or is cancelled, unless it is post-only: then it rests', () => {
  expect([terms({}).timeInForce, terms({ postOnly: true }).timeInForce]).toEqual(['fak', 'gtc']);
});

test('an expiry is later than now, and only of a gtd order', () => {
  const expiring = (expiresMs: number) => terms({ timeInForce: 'gtd', expiresMs });
  expect(expiring(NOW_MS + 1)).toMatchObject({ timeInForce: 'gtd', expiresMs: NOW_MS + 1 });
  expect(() => expiring(NOW_MS)).toThrow(
    new RangeError('order: expiresMs: a gtd order expires later than now, got 1000'),
  );
  expect(() => terms({ timeInForce: 'gtc', expiresMs: NOW_MS + 1 })).toThrow(
    new RangeError('order: expiresMs: only of a gtd order, got 1001'),
  );
});

test.each(['gtc', 'gtd'] as const)('an order that rests, %s, has no budget', (timeInForce) => {
  const expiry = timeInForce === 'gtd' ? { expiresMs: NOW_MS + 1 } : {};
  expect(() => spending(5, { timeInForce, ...expiry })).toThrow(
    new RangeError('order: budget: only of purchases that never rest, got 5'),
  );
});

test('a sale has a size, and an order has exactly one of size and budget', () => {
  expect(() => spending(5, { action: 'sell' })).toThrow(
    new RangeError('order: budget: only of purchases that never rest, got 5'),
  );
  expect(() => terms({ budget: 5 })).toThrow(
    RangeError('order: exactly one of size and budget is given, got {"size":10,"budget":5}'),
  );
});

test.each(['sold', 'take_profit', 'stop_loss'])(
  'a sale may have the reason %s, a purchase has none',
  (reason) => {
    const sale = { action: 'sell', reason } as Partial<PlaceOrder>;
    expect(terms(sale)).toMatchObject({ action: 'sell' });
    expect(() => terms({ ...sale, action: 'buy' })).toThrow(RangeError);
  },
);
