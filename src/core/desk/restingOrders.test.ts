import { expect, test } from 'vitest';
import { DeskRig, SHARE } from '../../../test/support/deskRig.ts';
import { type Level, START_MS } from '../../../test/support/tapes.ts';
import { restartOf } from './outage.ts';

const ASKS: readonly Level[] = [[0.5, 60]];
const level = (size: number): Level[] => [
  [0.48, size],
  [0.47, 40],
];

test('a book that crosses an order at two prices fills no more than its size, and consumes only that', () => {
  const rig = new DeskRig().book(0, level(100), ASKS);
  rig.place(1, 0, { limitPrice: 4_800, size: 50 * SHARE });
  const asks: Level[] = [
    [0.46, 30],
    [0.47, 40],
  ];
  rig.book(100, level(100), ASKS).book(200, [[0.4, 9]], asks);
  expect(rig.makerFills).toEqual([{ id: 1, timeMs: START_MS + 200, size: 50 }]);
  // Twenty of the forty shares at 0.47 are left for another order.
  rig.place(2, 200, { limitPrice: 4_700, timeInForce: 'fak' });
  rig.book(500, [[0.4, 8]], asks);
  expect(rig.told.at(-1)).toEqual(['fill', 2, 400, 'taker', 20]);
});

test('a trade of the very time at which an order came to rest may fill it', () => {
  const rig = new DeskRig().book(0, level(100), ASKS);
  rig.place(1, 0, { limitPrice: 4_800 });
  rig.book(100, level(100), ASKS);
  expect(rig.trade(200, 'SELL_YES', 0.47, 35, 49).makerFills).toEqual([]);
  expect(rig.trade(210, 'SELL_YES', 0.47, 35, 50).makerFills).toMatchObject([{ size: 35 }]);
});

test('orders that end between two messages end in the order of their times, not of their prices', () => {
  const rig = new DeskRig().book(0, level(100), ASKS);
  rig.place(1, 0, { limitPrice: 4_800, timeInForce: 'gtd', expiresMs: START_MS + 400 });
  rig.place(2, 0, { limitPrice: 4_700, timeInForce: 'gtd', expiresMs: START_MS + 300 });
  rig.book(100, level(100), ASKS).book(500, level(100), ASKS);
  expect(rig.told.slice(2)).toEqual([
    ['expired', 2, 300],
    ['expired', 1, 400],
  ]);
});

test('what a trade fills of one order explains the decrease of the level to the orders behind it', () => {
  const rig = new DeskRig({ queueModel: 'optimistic' }).book(0, level(100), ASKS);
  rig.place(1, 0, { limitPrice: 4_800 });
  rig.book(100, level(100), ASKS).book(150, level(200), ASKS);
  rig.place(2, 150, { limitPrice: 4_800 });
  rig.book(250, level(200), ASKS);
  // Fills all that is ahead of the first order; a hundred shares stay ahead of the second.
  rig.trade(300, 'SELL_YES', 0.48, 100).book(310, level(100), ASKS);
  // The recorded book does not have our orders, so its level shrinks by what our first order got.
  rig.trade(320, 'SELL_YES', 0.48, 30).book(330, level(70), ASKS);
  rig.trade(1_400, 'SELL_YES', 0.48, 110);
  expect(rig.makerFills.map(({ id, size }) => [id, size])).toEqual([
    [1, 30],
    [1, 20],
  ]);
});

test('a cancel that arrives with the first millisecond of a restart takes effect after it', () => {
  const outages = restartOf({ fromMs: START_MS + 1_000, untilMs: START_MS + 31_000 });
  const rig = new DeskRig({ outages }).book(0, level(100), ASKS);
  rig.place(1, 0, { limitPrice: 4_800 });
  rig.book(100, level(100), ASKS).desk.cancel(1, START_MS + 950);
  expect(rig.book(32_000, level(100), ASKS).told.at(-1)).toEqual(['cancelled', 1, 31_000, 'asked']);
});

test('a cancel ends the order that it names, and the others rest on', () => {
  const rig = new DeskRig().book(0, level(100), ASKS);
  rig.place(1, 0, { limitPrice: 4_800 });
  rig.place(2, 0, { limitPrice: 4_700 });
  rig.book(100, level(100), ASKS).desk.cancel(2, START_MS + 200);
  rig.book(300, level(100), ASKS).trade(400, 'SELL_YES', 0.48, 110);
  expect(rig.told.slice(2)).toEqual([
    ['cancelled', 2, 250, 'asked'],
    ['fill', 1, 400, 'maker', 10],
  ]);
});

test('an order that takes waits for its own due time after a trade has proven an earlier one', () => {
  const rig = new DeskRig().book(0, level(100), ASKS);
  rig.place(1, 0, { limitPrice: 4_800 });
  rig.place(2, 0, { limitPrice: 5_000, timeInForce: 'fak' });
  rig.trade(60, 'SELL_YES', 0.48, 5).book(100, level(100), ASKS);
  expect(rig.told).toEqual([['accepted', 1, 50]]);
  expect(rig.book(300, level(100), ASKS).told.slice(1)).toEqual([['fill', 2, 200, 'taker', 50]]);
});

test('a post-only order that would trade is refused at the next book, not at a trade before it', () => {
  const rig = new DeskRig().book(0, level(100), ASKS);
  rig.place(1, 0, { limitPrice: 5_000, postOnly: true });
  expect(rig.trade(60, 'SELL_YES', 0.48, 5).told).toEqual([]);
  expect(rig.book(100, level(100), ASKS).told).toEqual([['refused', 1, 100, 'post_only_would_trade']]);
});

test('a cancel that arrives at the very expiry comes too late', () => {
  const rig = new DeskRig().book(0, level(100), ASKS);
  rig.place(1, 0, { limitPrice: 4_800, timeInForce: 'gtd', expiresMs: START_MS + 300 });
  rig.book(100, level(100), ASKS).desk.cancel(1, START_MS + 250);
  expect(rig.book(400, level(100), ASKS).told.at(-1)).toEqual(['expired', 1, 300]);
});

test('at the end of a market orders end in the order of their times, all known at the end', () => {
  const rig = new DeskRig().book(0, level(100), ASKS);
  rig.place(1, 0, { limitPrice: 4_800, timeInForce: 'gtd', expiresMs: START_MS + 400 });
  rig.place(2, 0, { limitPrice: 4_700, timeInForce: 'gtd', expiresMs: START_MS + 300 });
  rig.place(3, 0, { limitPrice: 4_600 });
  rig.book(100, level(100), ASKS).desk.end(START_MS + 500);
  expect(rig.told.slice(3)).toEqual([
    ['expired', 2, 300],
    ['expired', 1, 400],
    ['expired', 3, 500],
  ]);
  const ended = rig.reports.filter(({ kind }) => kind === 'expired');
  expect(ended.map(({ knownMs }) => knownMs - START_MS)).toEqual([500, 500, 500]);
});

test('the fills of a resting order cost together what a single one would: 20.000002 at 0.48', () => {
  const rig = new DeskRig().book(0, [], ASKS);
  rig.place(1, 0, { limitPrice: 4_800 });
  rig.book(100, [], ASKS).trade(200, 'SELL_YES', 0.48, 10.000001).trade(300, 'SELL_YES', 0.48, 10.000001);
  const costs = rig.reports.flatMap((report) => (report.kind === 'fill' ? [report.fill.principal] : []));
  expect(costs).toEqual([4_800_001, 4_800_000]);
});

test.each([
  ['yes', 5_000, 'BUY_YES', 0.5, 10, 0],
  ['yes', 5_000, 'BUY_YES', 0.49, 900, 0],
  ['yes', 5_000, 'BUY_YES', 0.51, 10, 10],
  ['yes', 5_000, 'BUY_YES', 0.5, 70, 10],
  ['yes', 5_000, 'SELL_NO', 0.5, 70, 10],
  ['yes', 5_000, 'SELL_NO', 0.51, 900, 0],
  ['yes', 5_000, 'SELL_NO', 0.49, 10, 10],
  ['no', 5_200, 'BUY_NO', 0.52, 110, 10],
  ['no', 5_200, 'BUY_NO', 0.51, 900, 0],
  ['no', 5_200, 'BUY_NO', 0.53, 10, 10],
  ['no', 5_200, 'SELL_YES', 0.48, 110, 10],
  ['no', 5_200, 'SELL_YES', 0.49, 900, 0],
  ['no', 5_200, 'BUY_YES', 0.48, 900, 0],
] as const)(
  'our sale of %s at %i ticks behind the displayed size, with %s at %d of %i shares, fills %i',
  (token, limitPrice, side, price, shares, filled) => {
    const rig = new DeskRig().book(0, level(100), ASKS);
    rig.place(1, 0, { token, action: 'sell', limitPrice, size: 50 * SHARE });
    rig.book(100, level(100), ASKS).trade(200, side, price, shares);
    expect(rig.makerFills.reduce((sum, { size }) => sum + size, 0)).toBe(filled);
  },
);

test('a part of a unit of a trade fills nothing', () => {
  const rig = new DeskRig().book(0, [], ASKS);
  rig.place(1, 0, { limitPrice: 4_800 });
  rig.book(100, [], ASKS).trade(200, 'SELL_YES', 0.47, 5.0000009).trade(300, 'SELL_YES', 0.48, 0.0000009);
  expect(rig.makerFills.map(({ size }) => size)).toEqual([5]);
});

test('the units that an order took do not count in the cost of those that it makes', () => {
  const asks: Level[] = [
    [0.48, 0.000001],
    [0.5, 60],
  ];
  const rig = new DeskRig().book(0, [], asks);
  rig.place(1, 0, { limitPrice: 4_800 });
  // Held for 150 ms, then one unit is taken at the limit; three units cost 1.44 micro-USD.
  rig.book(300, [], ASKS.concat()).trade(400, 'SELL_YES', 0.48, 0.000003);
  const fills = rig.reports.flatMap((report) => (report.kind === 'fill' ? [report] : []));
  expect(fills.map(({ liquidity, fill }) => [liquidity, fill.principal])).toEqual([
    ['taker', 1],
    ['maker', 2],
  ]);
});

test('an order whose level is beyond the displayed ones has an unknown queue until the level is displayed', () => {
  const deep: Level[] = [[0.48, 100]];
  const rig = new DeskRig().book(0, deep, ASKS);
  rig.place(1, 0, { limitPrice: 4_600 });
  rig.book(100, deep, ASKS).book(200, [[0.48, 90]], ASKS);
  expect(rig.trade(300, 'SELL_YES', 0.46, 500).makerFills).toEqual([]);
  rig
    .book(
      400,
      [
        [0.48, 90],
        [0.46, 30],
        [0.45, 1],
      ],
      ASKS,
    )
    .trade(500, 'SELL_YES', 0.46, 40);
  expect(rig.makerFills.map(({ size }) => size)).toEqual([10]);
});

test('a desk needs every trade and message while an order rests or is about to, and no trade for one that takes', () => {
  const rig = new DeskRig().book(0, level(100), ASKS);
  const needs = () => [rig.desk.hasOrders, rig.desk.needsTrades];
  expect(needs()).toEqual([false, false]);
  rig.place(1, 0, { limitPrice: 5_000, timeInForce: 'fak' });
  expect(needs()).toEqual([true, false]);
  rig.place(2, 0, { limitPrice: 4_800 });
  expect(needs()).toEqual([true, true]);
  rig.book(300, level(100), ASKS);
  expect([rig.told.length, ...needs()]).toEqual([2, true, true]);
  rig.desk.cancel(2, START_MS + 400);
  rig.book(500, level(100), ASKS);
  expect(needs()).toEqual([false, false]);
});
