import { expect, test } from 'vitest';
import { DeskRig, SHARE } from '../../../test/support/deskRig.ts';
import { START_MS } from '../../../test/support/tapes.ts';
import type { OrderTerms } from './order.ts';

const BIDS = [
  [0.48, 100],
  [0.47, 40],
] as const;
const ASKS = [
  [0.5, 60],
  [0.51, 60],
] as const;
const WANTED: OrderTerms = {
  ...{ token: 'yes', action: 'buy', limitPrice: 4_700, size: 50 * SHARE, budget: null },
  ...{ timeInForce: 'gtc', expiresMs: null, postOnly: true },
};

test('a replacement of an order that was refused before is refused', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { limitPrice: 5_000, postOnly: true });
  rig.desk.replace(1, 2, WANTED, START_MS + 20);
  expect(rig.book(100, BIDS, ASKS).told).toEqual([
    ['refused', 1, 100, 'post_only_would_trade'],
    ['refused', 2, 100, 'replaced_order_ended'],
  ]);
});

test('a replacement of an order that was missed before is refused', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS).book(10, BIDS, ASKS, false);
  rig.place(1, 10, { limitPrice: 4_800 });
  rig.desk.replace(1, 2, WANTED, START_MS + 40);
  rig.book(80, BIDS, ASKS).book(100, BIDS, ASKS);
  expect(rig.told).toEqual([
    ['miss', 1, 80, 'untrusted'],
    ['refused', 2, 100, 'replaced_order_ended'],
  ]);
});

test('a replacement of an order that a cancel ended before is refused', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { limitPrice: 4_800 });
  rig.book(80, BIDS, ASKS);
  rig.desk.cancel(1, START_MS + 100);
  rig.desk.replace(1, 2, WANTED, START_MS + 120);
  expect(rig.book(300, BIDS, ASKS).told).toEqual([
    ['accepted', 1, 50],
    ['cancelled', 1, 150, 'asked'],
    ['refused', 2, 300, 'replaced_order_ended'],
  ]);
});

test('a replacement of an order that the venue holds is refused', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { limitPrice: 5_000 });
  rig.desk.replace(1, 2, WANTED, START_MS + 20);
  expect(rig.book(100, BIDS, ASKS).told).toEqual([['refused', 2, 100, 'replaced_order_ended']]);
});

test('a replacement of an order that took all its shares is refused, even if it is larger', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { limitPrice: 5_000 });
  rig.desk.replace(1, 2, { ...WANTED, size: 80 * SHARE }, START_MS + 180);
  expect(rig.book(300, BIDS, ASKS).told).toEqual([
    ['fill', 1, 200, 'taker', 50],
    ['refused', 2, 300, 'replaced_order_ended'],
  ]);
});

test.each([
  ['a replacement of exactly the filled size', 20, 120, 20, [['cancelled', 1, 250, 'replaced']]],
  ['a larger one, after a trade has filled the whole order,', 80, 150, 50, []],
] as const)('%s is refused', (_, wanted, traded, filled, cancelled) => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { limitPrice: 4_800 });
  rig.book(100, BIDS, ASKS);
  rig.desk.replace(1, 2, { ...WANTED, size: wanted * SHARE }, START_MS + 200);
  rig.trade(230, 'SELL_YES', 0.48, traded).book(300, BIDS, ASKS);
  expect(rig.told.slice(1)).toEqual([
    ['fill', 1, 230, 'maker', filled],
    ...cancelled,
    ['refused', 2, 300, 'replaced_order_ended'],
  ]);
});

test('what the old order took counts toward the size of the replacement', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { limitPrice: 5_000, size: 80 * SHARE });
  rig.book(300, BIDS, ASKS);
  rig.desk.replace(1, 2, { ...WANTED, size: 80 * SHARE }, START_MS + 300);
  rig.book(400, BIDS, ASKS).trade(500, 'SELL_YES', 0.46, 90);
  expect(rig.told.slice(2)).toEqual([
    ['cancelled', 1, 350, 'replaced'],
    ['accepted', 2, 350],
    ['fill', 2, 500, 'maker', 20],
  ]);
});

test('a replacement that the venue holds loses the filled size only once', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { limitPrice: 4_800 });
  rig.book(100, BIDS, ASKS).trade(150, 'SELL_YES', 0.48, 120);
  rig.desk.replace(1, 2, { ...WANTED, limitPrice: 5_000, postOnly: false }, START_MS + 200);
  rig.book(300, BIDS, ASKS).book(500, BIDS, ASKS);
  expect(rig.told.slice(1)).toEqual([
    ['fill', 1, 150, 'maker', 20],
    ['cancelled', 1, 250, 'replaced'],
    ['fill', 2, 400, 'taker', 30],
  ]);
});

test('what an order took counts toward each of its replacements in turn', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { limitPrice: 4_800 });
  rig.book(100, BIDS, ASKS).trade(150, 'SELL_YES', 0.48, 120);
  rig.desk.replace(1, 2, WANTED, START_MS + 200);
  rig.book(300, BIDS, ASKS).trade(350, 'SELL_YES', 0.47, 50);
  rig.desk.replace(2, 3, { ...WANTED, limitPrice: 4_600 }, START_MS + 400);
  rig.book(500, BIDS, ASKS).trade(550, 'SELL_YES', 0.45, 90);
  expect(rig.makerFills.map(({ id, size }) => [id, size])).toEqual([
    [1, 20],
    [2, 10],
    [3, 20],
  ]);
});

test('only the first replacement of an order that arrives is accepted', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { limitPrice: 4_800 });
  rig.book(100, BIDS, ASKS);
  rig.desk.replace(1, 2, WANTED, START_MS + 200);
  rig.desk.replace(1, 3, { ...WANTED, limitPrice: 4_600 }, START_MS + 210);
  expect(rig.book(300, BIDS, ASKS).told.slice(1)).toEqual([
    ['cancelled', 1, 250, 'replaced'],
    ['accepted', 2, 250],
    ['refused', 3, 300, 'replaced_order_ended'],
  ]);
});

test('a replacement that cannot rest is a mistake of the caller', () => {
  const rig = new DeskRig().book(0, BIDS, ASKS);
  rig.place(1, 0, { limitPrice: 4_700 });
  expect(() => rig.desk.replace(1, 2, { ...WANTED, timeInForce: 'fok' }, START_MS + 20)).toThrow(
    new RangeError('a replacement must be able to rest'),
  );
});
