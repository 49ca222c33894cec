import { expect, test } from 'vitest';
import { DeskRig, SHARE } from '../../../test/support/deskRig.ts';
import { type Level, START_MS, TAPE_MARKET } from '../../../test/support/tapes.ts';
import { MarketRules } from '../marketRules.ts';
import { DeskBook } from './deskBook.ts';

const BIDS: readonly Level[] = [[0.48, 100]];
const ASKS: readonly Level[] = [
  [0.5, 120],
  [0.52, 100],
];
const TAKE = { timeInForce: 'fak', limitPrice: 5_000 } as const;
const taken = (rig: DeskRig) =>
  rig.reports.flatMap((report) => (report.kind === 'fill' ? [report.fill.size / SHARE] : []));

test('what several orders took of a level stays taken while the level is displayed unchanged', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { ...TAKE, size: 50 * SHARE });
  rig.book(300, BIDS, ASKS);
  rig.place(2, 300, { ...TAKE, size: 40 * SHARE });
  rig.book(600, [[0.48, 99]], ASKS);
  rig.place(3, 600, { ...TAKE, size: 90 * SHARE });
  rig.book(900, BIDS, ASKS);
  expect(taken(rig)).toEqual([50, 40, 30]);
  // Others have refilled the level.
  rig.book(950, BIDS, [[0.5, 121]]).place(4, 950, { ...TAKE, size: 200 * SHARE });
  expect(taken(rig.book(1_300, BIDS, ASKS))).toEqual([50, 40, 30, 121]);
});

test('what a book filled of a resting order stays taken for the next one', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  for (const orderId of [1, 2, 3]) rig.place(orderId, 0, { limitPrice: 4_800, size: 50 * SHARE });
  const crossing: Level[] = [[0.47, 120]];
  rig
    .book(100, BIDS, ASKS)
    .book(200, [[0.4, 1]], crossing)
    .book(300, [[0.4, 2]], crossing);
  expect(rig.makerFills.map(({ id, size }) => [id, size])).toEqual([
    [1, 50],
    [2, 50],
    [3, 20],
  ]);
});

test('an order that takes several levels has taken all of them for the next one', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { ...TAKE, limitPrice: 5_200, size: 170 * SHARE });
  rig.book(300, BIDS, ASKS);
  rig.place(2, 300, { ...TAKE, limitPrice: 5_200, size: 170 * SHARE });
  expect(taken(rig.book(600, [[0.48, 99]], ASKS))).toEqual([170, 50]);
});

/** A book of which only the best prices were recorded. */
const bestsOnly = () => {
  const rules = new MarketRules(TAPE_MARKET);
  return new DeskBook({ market: TAPE_MARKET, rules, ladders: null, fillMode: 'mid' });
};

test.each([
  ['yes', 2_351, 2_350],
  ['no', 7_601, 7_600],
] as const)('at the mid of %s a purchase is rounded up to a tick, and a sale down', (token, bought, sold) => {
  const book = bestsOnly();
  book.quote({ yesBid: 2_100, yesAsk: 2_601, noBid: 7_301, noAsk: 7_900 });
  const fillOf = (action: 'buy' | 'sell', limitPrice: number) => {
    const amount = { size: SHARE, budget: null, expiresMs: null, postOnly: false } as const;
    return book.take({ token, action, limitPrice, timeInForce: 'fak', ...amount }, START_MS, SHARE);
  };
  expect(fillOf('buy', 10_000)).toMatchObject({ levels: [{ price: bought, size: SHARE }] });
  expect(fillOf('sell', 0)).toMatchObject({ levels: [{ price: sold, size: SHARE }] });
});

test('the book of a token is usable if it is proven and its own best prices are not crossed', () => {
  const book = bestsOnly();
  const usable = (yesBid: number, noBid: number) => {
    book.quote({ yesBid, yesAsk: 5_000, noBid, noAsk: 5_000 });
    return [book.isUsable('yes'), book.isUsable('no')];
  };
  expect(usable(4_900, 4_900)).toEqual([false, false]);
  book.show(-1, true);
  expect(usable(5_000, 5_000)).toEqual([true, true]);
  expect([usable(5_001, 4_900), usable(4_900, 5_001)]).toEqual([
    [false, true],
    [true, false],
  ]);
});

test('after a gap, shares that our orders took since its start can be taken again, earlier ones cannot', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { ...TAKE, size: 50 * SHARE });
  rig.book(300, BIDS, ASKS);
  rig.place(2, 300, { ...TAKE, size: 60 * SHARE });
  rig.book(600, BIDS, ASKS);
  rig.desk.gapKnown(START_MS + 400, START_MS + 700);
  rig.book(800, [[0.48, 99]], ASKS).place(3, 800, { ...TAKE, size: 200 * SHARE });
  expect(taken(rig.book(1_100, BIDS, ASKS))).toEqual([50, 60, 70]);
});

test('an order in flight when no message can come any more is unconfirmed', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, TAKE);
  rig.place(2, 0, { limitPrice: 4_800 });
  rig.desk.end(START_MS + 400_000);
  expect(rig.told).toEqual([
    ['miss', 2, 400_000, 'unconfirmed'],
    ['miss', 1, 400_000, 'unconfirmed'],
  ]);
});

test('an order that takes finds no depth before the first book', () => {
  const rig = new DeskRig();
  rig.desk.show(-1, true);
  rig.place(1, 0, TAKE);
  rig.desk.message(START_MS + 300);
  expect(rig.told).toEqual([['miss', 1, 300, 'no_depth']]);
});

test('before the first book the tick size is the coarse one, and an order that is to rest is missed', () => {
  const rig = new DeskRig();
  rig.desk.show(-1, true);
  expect(rig.desk.tickSize('no', START_MS)).toBe(100);
  rig.place(1, 0, { limitPrice: 4_800 });
  rig.desk.message(START_MS + 300);
  expect(rig.told).toEqual([['miss', 1, 300, 'untrusted']]);
});

test.each([
  ['all on whole cents', [[0.48, 1]], [[0.5, 1]], 100],
  ['a best price between cents', [[0.485, 1]], [[0.5, 1]], 10],
  [
    'a deeper price between cents',
    [
      [0.48, 1],
      [0.455, 1],
    ],
    [[0.5, 1]],
    10,
  ],
  [
    'a deeper ask between cents',
    [[0.48, 1]],
    [
      [0.5, 1],
      [0.51, 1],
      [0.529, 1],
    ],
    10,
  ],
  ['a best price of exactly 0.04', [[0.04, 1]], [[0.06, 1]], 100],
  ['a best price below 0.04', [[0.03, 1]], [[0.06, 1]], 10],
  [
    'a deeper price below 0.04',
    [
      [0.05, 1],
      [0.03, 1],
    ],
    [[0.06, 1]],
    100,
  ],
  ['a best price of exactly 0.96', [[0.95, 1]], [[0.96, 1]], 100],
  ['a best price above 0.96', [[0.95, 1]], [[0.97, 1]], 10],
  ['no levels', [], [], 100],
] as const)('the tick size by a book with %s', (_, bids, asks, tick) => {
  const { desk } = new DeskRig().book(0, bids, asks);
  expect([desk.tickSize('yes', START_MS), desk.tickSize('no', START_MS)]).toEqual([tick, tick]);
});

test('the hold of an order is that in force when it was placed, also if it rises before the order arrives', () => {
  // From 50 to 150 ms.
  const change = Date.UTC(2026, 8, 4, 14) - START_MS;
  const rig = new DeskRig().book(change - 100, BIDS, ASKS);
  expect(rig.place(1, change - 10, TAKE)).toBe(START_MS + change - 10 + 50 + 50);
  rig.place(2, change - 10, { limitPrice: 5_000 });
  rig.book(change + 300, BIDS, ASKS);
  expect(rig.told).toEqual([
    ['fill', 1, change + 90, 'taker', 50],
    ['fill', 2, change + 90, 'taker', 50],
  ]);
  expect(rig.place(3, change, TAKE)).toBe(START_MS + change + 50 + 150);
});

test('what an order took of a level is taken of its mirror too', () => {
  const asks: readonly Level[] = [[0.52, 60]];
  const rig = new DeskRig().book(0, BIDS, asks);
  rig.place(1, 0, { ...TAKE, limitPrice: 5_200, size: 50 * SHARE });
  rig.book(300, BIDS, asks);
  rig.place(2, 300, { ...TAKE, token: 'no', action: 'sell', limitPrice: 4_800, size: 60 * SHARE });
  expect(taken(rig.book(600, BIDS, asks))).toEqual([50, 10]);
});

test('what an order took at the very start of a gap stays taken', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { ...TAKE, size: 50 * SHARE });
  rig.book(300, BIDS, ASKS);
  rig.desk.gapKnown(START_MS + 200, START_MS + 400);
  rig.book(500, BIDS, ASKS).place(2, 500, { ...TAKE, size: 200 * SHARE });
  expect(taken(rig.book(800, BIDS, ASKS))).toEqual([50, 70]);
});

test('a level that returns to a side that was empty can be taken again', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { ...TAKE, size: 50 * SHARE });
  rig.book(300, BIDS, ASKS).book(400, BIDS, []);
  rig.book(500, BIDS, ASKS).place(2, 500, { ...TAKE, size: 200 * SHARE });
  expect(taken(rig.book(800, BIDS, ASKS))).toEqual([50, 120]);
});

test('a level smaller than what our orders took of it has no shares left; the next level keeps all of its own', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { limitPrice: 4_800, size: 50 * SHARE });
  rig.place(2, 0, { limitPrice: 4_800, size: 200 * SHARE });
  const shrunk: Level[] = [
    [0.47, 30],
    [0.48, 100],
  ];
  rig
    .book(100, BIDS, ASKS)
    .book(200, [[0.4, 1]], [[0.47, 50]])
    .book(300, [[0.4, 2]], shrunk);
  expect(rig.makerFills.map(({ id, size }) => [id, size])).toEqual([
    [1, 50],
    [2, 100],
  ]);
});
