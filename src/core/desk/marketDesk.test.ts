import { describe, expect, test } from 'vitest';
import { DeskRig, SHARE } from '../../../test/support/deskRig.ts';
import { START_MS } from '../../../test/support/tapes.ts';
import type { OrderTerms } from './order.ts';
import { restartOf } from './outage.ts';

const BIDS = [
  [0.48, 100],
  [0.47, 40],
] as const;
const ASKS = [
  [0.5, 60],
  [0.51, 60],
] as const;

/** Our purchase of 50 at 0.48 rests behind 100 since 50 ms. */
function resting(
  terms: Partial<OrderTerms> = {},
  options: ConstructorParameters<typeof DeskRig>[0] = {},
): DeskRig {
  const rig = new DeskRig(options).book(0, BIDS, ASKS);
  rig.place(1, 0, { limitPrice: 4_800, ...terms });
  return rig.book(100, BIDS, ASKS);
}

describe('an order that rests', () => {
  test('behind 100 displayed, 50 of ours: sales of 80, 30 and 50 fill 0, 10 and 40', () => {
    const rig = resting().trade(200, 'SELL_YES', 0.48, 80).trade(210, 'SELL_YES', 0.48, 30);
    rig.trade(220, 'SELL_YES', 0.48, 50).trade(230, 'SELL_YES', 0.48, 50);
    expect(rig.told).toEqual([
      ['accepted', 1, 50],
      ['fill', 1, 210, 'maker', 10],
      ['fill', 1, 220, 'maker', 40],
    ]);
    expect(rig.desk.hasOrders).toBe(false);
  });

  test('is filled by a purchase of NO at the mirrored price, and not by the other side’s takers', () => {
    const rig = resting().trade(200, 'BUY_YES', 0.5, 900).trade(210, 'SELL_NO', 0.52, 900);
    rig.trade(220, 'BUY_NO', 0.52, 120);
    expect(rig.makerFills).toEqual([{ id: 1, timeMs: START_MS + 220, size: 20 }]);
  });

  test('of NO rests in the mirrored book', () => {
    // A sale of NO at 0.52 buys YES at 0.48.
    const rig = resting({ token: 'no', action: 'sell', limitPrice: 5_200 }).trade(200, 'SELL_YES', 0.48, 130);
    expect(rig.makerFills).toEqual([{ id: 1, timeMs: START_MS + 200, size: 30 }]);
  });

  test('is filled by a trade beyond its price, up to the size of the trade', () => {
    const rig = resting().trade(200, 'SELL_YES', 0.47, 35);
    expect(rig.makerFills).toMatchObject([{ size: 35 }]);
    expect(rig.trade(210, 'SELL_YES', 0.48, 35).makerFills).toMatchObject([{ size: 35 }, { size: 15 }]);
  });

  test('is not filled by a trade that the venue made before it arrived', () => {
    const rig = resting().trade(200, 'SELL_YES', 0.47, 35, 40).trade(210, 'SELL_YES', 0.48, 130, 45);
    expect(rig.makerFills).toEqual([]);
    expect(rig.trade(220, 'SELL_YES', 0.48, 5).makerFills, 'the queue ahead was filled').toMatchObject([
      { size: 5 },
    ]);
  });

  test('keeps its queue when a trade that came late was beyond its price', () => {
    const rig = resting().trade(200, 'SELL_YES', 0.47, 35, 40).trade(220, 'SELL_YES', 0.48, 110);
    expect(rig.makerFills).toMatchObject([{ size: 10 }]);
  });

  test('is not there yet for a trade received in the millisecond in which it is due', () => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    rig.place(1, 0, { limitPrice: 4_800 });
    expect(rig.trade(50, 'SELL_YES', 0.47, 35).told).toEqual([]);
    expect(rig.trade(51, 'SELL_YES', 0.47, 35).told).toEqual([
      ['accepted', 1, 50],
      ['fill', 1, 51, 'maker', 35],
    ]);
  });

  test('is not filled by a trade after its expiry, though that trade is the first message after its arrival', () => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    rig.place(1, 0, { limitPrice: 4_800, timeInForce: 'gtd', expiresMs: START_MS + 60 });
    expect(rig.trade(100, 'SELL_YES', 0.47, 35).told).toEqual([
      ['accepted', 1, 50],
      ['expired', 1, 60],
    ]);
  });

  test('has a queue that a late trade leaves at its receipt, so that the book’s decrease after it counts once', () => {
    const rig = resting({}, { queueModel: 'optimistic' }).trade(5_000, 'SELL_YES', 0.48, 30, 3_000);
    rig.book(5_500, [[0.48, 70]], ASKS).trade(6_600, 'SELL_YES', 0.48, 80);
    expect(rig.makerFills).toMatchObject([{ size: 10 }]);
  });

  test('behind a level that is not displayed does not know its place', () => {
    expect(resting({ limitPrice: 4_600 }).reports[0]).toMatchObject({ kind: 'accepted', ahead: null });
    expect(resting({ limitPrice: 4_900 }).reports[0]).toMatchObject({ kind: 'accepted', ahead: 0 });
    expect(resting({ limitPrice: 4_700 }).reports[0]).toMatchObject({ kind: 'accepted', ahead: 40 * SHARE });
  });

  test('and sells between two displayed levels has nobody ahead, and beyond them does not know its place', () => {
    const asks = [
      [0.5, 60],
      [0.52, 60],
    ] as const;
    const rig = new DeskRig().book(0, BIDS, asks);
    rig.place(1, 0, { action: 'sell', limitPrice: 5_100 });
    rig.place(2, 1, { action: 'sell', limitPrice: 5_300 });
    rig.book(100, BIDS, asks);
    expect(rig.reports).toMatchObject([{ ahead: 0 }, { ahead: null }]);
  });

  test('with an empty side has nobody ahead', () => {
    const rig = new DeskRig().book(0, [], ASKS);
    rig.place(1, 0, { limitPrice: 4_800 });
    expect(rig.book(100, [], ASKS).reports[0]).toMatchObject({ kind: 'accepted', ahead: 0 });
  });

  test('is filled by a book that crosses its price with no other bid', () => {
    expect(resting().book(200, [], [[0.47, 20]]).makerFills).toMatchObject([{ size: 20 }]);
  });

  test('is filled by a book that crosses its price, once for each displayed size', () => {
    const crossed = [
      [0.47, 20],
      [0.48, 10],
      [0.49, 99],
    ] as const;
    const rig = resting()
      .book(200, [[0.46, 40]], crossed)
      .book(300, [[0.46, 41]], crossed);
    expect(rig.told.slice(1)).toEqual([['fill', 1, 200, 'maker', 30]]);
    rig.book(400, [[0.46, 41]], [[0.47, 25]]);
    expect(rig.makerFills, 'the level grew').toMatchObject([{ size: 30 }, { size: 20 }]);
  });

  test('is not filled by a book that is locked at its price', () => {
    const rig = resting({ limitPrice: 4_700 }).book(200, [[0.47, 40]], [[0.47, 20]]);
    expect(rig.makerFills).toEqual([]);
    expect(rig.book(300, [[0.46, 40]], [[0.47, 20]]).makerFills, 'no longer locked').toMatchObject([
      { size: 20 },
    ]);
  });

  test('and sells is not filled by a book that is locked at its price either', () => {
    const rig = resting({ action: 'sell', limitPrice: 5_100 }).book(200, [[0.51, 20]], [[0.51, 40]]);
    expect(rig.makerFills).toEqual([]);
    expect(rig.book(300, [[0.51, 20]], [[0.52, 40]]).makerFills).toMatchObject([{ size: 20 }]);
  });

  test('pays no fee, and its rebate counts only where it is asked for', () => {
    const fees = [false, true].map((countsRebate) => {
      const rig = resting({ size: 100 * SHARE, limitPrice: 4_900 }, { countsRebate }).trade(
        200,
        'SELL_YES',
        0.49,
        100,
      );
      return rig.reports.flatMap((report) => (report.kind === 'fill' ? [report.fill.fee] : []));
    });
    // A fifth of the taker's fee of 100 x 0.07 x 0.49 x 0.51.
    expect(fees).toEqual([[0], [-349_860]]);
  });

  test('shares a trade with our other orders: each unit fills one of them', () => {
    const rig = resting();
    rig.place(2, 110, { limitPrice: 4_800 });
    rig.place(3, 110, { limitPrice: 4_900 });
    rig.book(200, BIDS, ASKS).trade(300, 'SELL_YES', 0.48, 170);
    const fills = rig.makerFills.map(({ id, size }) => [id, size]);
    expect(fills).toEqual([
      [3, 50],
      [1, 20],
    ]);
  });
});

describe('an order that would trade at once', () => {
  test('is held like a taker’s, fills, and its rest rests', () => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    expect(rig.place(1, 0, { limitPrice: 5_000, size: 80 * SHARE })).toBe(START_MS + 50);
    rig.book(100, BIDS, ASKS).book(300, BIDS, ASKS);
    rig.trade(310, 'SELL_YES', 0.5, 15);
    expect(rig.told).toEqual([
      ['fill', 1, 200, 'taker', 60],
      ['accepted', 1, 200],
      ['fill', 1, 310, 'maker', 15],
    ]);
  });

  test('pays the fee in force when it trades: 60 x 0.07 x 0.5 x 0.5', () => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    rig.place(1, 0, { limitPrice: 5_000, size: 60 * SHARE, timeInForce: 'fak' });
    rig.book(300, BIDS, ASKS);
    expect(rig.reports[0]).toMatchObject({ kind: 'fill', fill: { principal: 30_000_000, fee: 1_050_000 } });
  });

  test.each([
    ['locked', 0.5, ['fill', 1, 200, 'taker', 50]],
    ['crossed', 0.51, ['miss', 1, 300, 'untrusted']],
  ] as const)('meets a %s book', (_, bid, told) => {
    const rig = new DeskRig().book(0, [[bid, 9]], ASKS);
    rig.place(1, 0, { limitPrice: 5_000, timeInForce: 'fak' });
    expect(rig.book(300, BIDS, ASKS).told).toEqual([told]);
  });

  test('is held as long as the rule at its placement says, though that rule has changed when it arrives', () => {
    // The hold was 50 ms before this time, and is 150 ms since.
    const change = Date.UTC(2026, 8, 4, 14) - START_MS;
    const rig = new DeskRig().book(change - 1_000, BIDS, ASKS);
    rig.place(1, change - 20, { limitPrice: 5_000 });
    rig.book(change + 40, BIDS, ASKS).book(change + 1_000, BIDS, ASKS);
    expect(rig.told).toEqual([['fill', 1, change + 80, 'taker', 50]]);
  });

  test('does not meet a message of its due time, though an earlier order does', () => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    rig.place(1, 0, { limitPrice: 5_000, timeInForce: 'fak' });
    rig.place(2, 100, { limitPrice: 5_100, timeInForce: 'fak' });
    expect(rig.book(300, BIDS, ASKS).told).toEqual([['fill', 1, 200, 'taker', 50]]);
    expect(rig.book(301, BIDS, ASKS).told[1]).toEqual(['fill', 2, 300, 'taker', 50]);
  });

  test('rests if our orders have consumed all that it would meet', () => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    rig.place(1, 0, { limitPrice: 5_000, size: 60 * SHARE, timeInForce: 'fak' });
    rig.book(300, BIDS, ASKS).place(2, 300, { limitPrice: 5_000 });
    expect(rig.book(400, BIDS, ASKS).told[1]).toEqual(['accepted', 2, 350]);
  });

  test('is refused if it is post-only', () => {
    expect(resting({ limitPrice: 5_000, postOnly: true }).told).toEqual([
      ['refused', 1, 100, 'post_only_would_trade'],
    ]);
  });

  test.each([
    ['fok', 120, [['fill', 1, 200, 'taker', 120]]],
    ['fok', 121, [['miss', 1, 300, 'no_depth']]],
    ['fak', 121, [['fill', 1, 200, 'taker', 120]]],
  ] as const)('%s of %d where 120 are displayed', (timeInForce, shares, told) => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    rig.place(1, 0, { limitPrice: 5_100, size: shares * SHARE, timeInForce });
    expect(rig.book(300, BIDS, ASKS).told).toEqual(told);
  });

  test.each([
    [30_000_000, 60],
    [60_600_000, 120],
    [60_600_001, null],
  ])('fill-or-kill for %d micro-USD of 60 at 0.50 and 60 at 0.51 buys %j', (budget, shares) => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    rig.place(1, 0, { limitPrice: 5_100, size: null, budget, timeInForce: 'fok' });
    expect(rig.book(300, BIDS, ASKS).told[0]).toEqual(
      shares === null ? ['miss', 1, 300, 'no_depth'] : ['fill', 1, 200, 'taker', shares],
    );
  });

  test('fill-or-kill for 1 USDC at 0.07 is filled whole', () => {
    const asks = [[0.07, 60]] as const;
    const rig = new DeskRig().book(0, [], asks);
    rig.place(1, 0, { limitPrice: 700, size: null, budget: 1_000_000, timeInForce: 'fok' });
    expect(rig.book(300, [], asks).told[0]).toEqual(['fill', 1, 200, 'taker', 14.285714]);
  });
});

type Refused = Partial<OrderTerms> & { limitPrice: number; at?: number };

describe('a refusal', () => {
  test.each<[string, Refused, string]>([
    ['a price between two ticks', { limitPrice: 4_805 }, 'not_a_tick'],
    ['four shares', { limitPrice: 4_800, size: 4 * SHARE }, 'below_minimum_size'],
    ['after the end', { limitPrice: 4_800, at: 299_960 }, 'window_ended'],
    ['at the end', { limitPrice: 4_800, at: 299_950 }, 'window_ended'],
    ['held until the end', { limitPrice: 4_800, at: 299_800, timeInForce: 'fak' }, 'window_ended'],
  ])('%s', (_, { at = 0, ...terms }, reason) => {
    expect(new DeskRig().book(0, BIDS, ASKS).place(1, at, terms)).toBe(reason);
  });

  test('five shares are enough', () => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    expect(rig.place(1, 0, { limitPrice: 4_800, size: 5 * SHARE })).toBe(START_MS + 50);
  });

  test('a millisecond before the end is early enough', () => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    expect(rig.place(1, 299_949, { limitPrice: 4_800 })).toBe(START_MS + 299_999);
    expect(rig.place(2, 299_799, { limitPrice: 4_800, timeInForce: 'fak' })).toBe(START_MS + 299_999);
  });

  test('an order that the venue held before its restart still fills', () => {
    const outages = restartOf({ fromMs: START_MS + 1_000, untilMs: START_MS + 31_000 });
    const rig = new DeskRig({ outages }).book(0, BIDS, ASKS);
    rig.place(1, 900, { limitPrice: 5_000, timeInForce: 'fak' });
    expect(rig.book(1_200, BIDS, ASKS).told).toEqual([['fill', 1, 1_100, 'taker', 50]]);
  });

  test('a price of 0.485 is a tick once the book shows one', () => {
    const rig = new DeskRig().book(0, [[0.481, 10]], ASKS);
    expect(rig.place(1, 0, { limitPrice: 4_850 })).toBe(START_MS + 50);
    expect(new DeskRig().book(0, [[0.03, 10]], ASKS).place(1, 0, { limitPrice: 310 })).toBe(START_MS + 50);
  });

  test.each([
    [0.04, 410, 'not_a_tick'],
    [0.03, 310, START_MS + 50],
    [0.96, 9_610, 'not_a_tick'],
    [0.97, 9_710, START_MS + 50],
  ])('at a best price of %d an order at %d ticks: %s', (best, limitPrice, outcome) => {
    const rig = new DeskRig().book(0, [[best, 10]], []);
    expect(rig.place(1, 0, { limitPrice })).toBe(outcome);
  });

  test('during a restart nothing is accepted, then two minutes only post-only orders', () => {
    const outages = restartOf({ fromMs: START_MS + 1_000, untilMs: START_MS + 31_000 });
    const rig = new DeskRig({ outages });
    for (const [orderId, at, postOnly] of [
      [1, 940, false],
      [2, 960, true],
      [6, 30_950, false],
      [3, 31_000, false],
      [4, 31_000, true],
      [5, 150_950, false],
    ] as const) {
      rig.book(at, BIDS, ASKS).place(orderId, at, { limitPrice: 4_800, postOnly });
      rig.book(at + 60, BIDS, ASKS);
    }
    expect(rig.told).toEqual([
      ['accepted', 1, 990],
      ['refused', 2, 1_020, 'venue_restarting'],
      ['refused', 6, 31_010, 'venue_post_only'],
      ['refused', 3, 31_060, 'venue_post_only'],
      ['accepted', 4, 31_050],
      ['accepted', 5, 151_000],
    ]);
    rig.desk.cancel(4, START_MS + 152_000);
  });

  test('a cancel that arrives during a restart takes effect after it', () => {
    const outages = restartOf({ fromMs: START_MS + 1_000, untilMs: START_MS + 31_000 });
    const rig = resting({}, { outages });
    rig.desk.cancel(1, START_MS + 2_000);
    expect(rig.book(32_000, BIDS, ASKS).told.at(-1)).toEqual(['cancelled', 1, 31_000, 'asked']);
  });
});

describe('an order ends', () => {
  test('by a cancel, which loses the race against a fill before it arrives', () => {
    const rig = resting();
    rig.desk.cancel(1, START_MS + 200);
    rig.trade(240, 'SELL_YES', 0.48, 110).trade(250, 'SELL_YES', 0.48, 5).trade(251, 'SELL_YES', 0.48, 99);
    expect(rig.told.slice(1)).toEqual([
      ['fill', 1, 240, 'maker', 10],
      ['fill', 1, 250, 'maker', 5],
      ['cancelled', 1, 250, 'asked'],
    ]);
  });

  test('by a cancel, which never overtakes it', () => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    rig.place(1, 0, { limitPrice: 4_800 });
    rig.desk.cancel(1, START_MS - 40);
    expect(rig.book(100, BIDS, ASKS).told).toEqual([
      ['accepted', 1, 50],
      ['cancelled', 1, 50, 'asked'],
    ]);
  });

  test.each([
    ['at its expiry', { timeInForce: 'gtd', expiresMs: START_MS + 700 }, 700],
    ['at the market’s end', {}, 300_000],
    ['at the market’s end before its expiry', { timeInForce: 'gtd', expiresMs: START_MS + 400_000 }, 300_000],
  ] as const)('%s', (_, terms, at) => {
    const rig = resting(terms).trade(at + 1, 'SELL_YES', 0.4, 900);
    expect(rig.told.slice(1)).toEqual([['expired', 1, at]]);
  });

  test('at its expiry, though a cancel arrives later', () => {
    const rig = resting({ timeInForce: 'gtd', expiresMs: START_MS + 700 });
    rig.desk.cancel(1, START_MS + 660);
    expect(rig.trade(1_000, 'SELL_YES', 0.4, 900).told.slice(1)).toEqual([['expired', 1, 700]]);
  });

  test('with the market, if nothing happened before', () => {
    const rig = resting();
    rig.desk.end(START_MS + 400_000);
    expect(rig.told.at(-1)).toEqual(['expired', 1, 300_000]);
  });
});

describe('a replacement', () => {
  const wanted: OrderTerms = {
    ...{ token: 'yes', action: 'buy', limitPrice: 4_700, size: 50 * SHARE, budget: null },
    ...{ timeInForce: 'gtc', expiresMs: null, postOnly: true },
  };

  test('joins the end of its queue, and what the old order filled counts', () => {
    const rig = resting();
    rig.desk.replace(1, 2, wanted, START_MS + 200);
    rig.trade(230, 'SELL_YES', 0.48, 120).book(300, [[0.47, 40]], ASKS);
    rig.trade(400, 'SELL_YES', 0.47, 200);
    expect(rig.told.slice(1)).toEqual([
      ['fill', 1, 230, 'maker', 20],
      ['cancelled', 1, 250, 'replaced'],
      ['accepted', 2, 250],
      ['fill', 2, 400, 'maker', 30],
    ]);
  });

  test('that was sent before its order arrived replaces it, though no message came in between', () => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    rig.place(1, 0, { limitPrice: 4_800 });
    rig.desk.replace(1, 2, wanted, START_MS + 20);
    expect(rig.book(100, BIDS, ASKS).told).toEqual([
      ['accepted', 1, 50],
      ['cancelled', 1, 70, 'replaced'],
      ['accepted', 2, 70],
    ]);
  });

  test('never overtakes the order that it replaces', () => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    rig.place(1, 0, { limitPrice: 4_800 });
    expect(rig.desk.replace(1, 2, wanted, START_MS - 40)).toBe(START_MS + 50);
    expect(rig.book(100, BIDS, ASKS).told).toEqual([
      ['accepted', 1, 50],
      ['cancelled', 1, 50, 'replaced'],
      ['accepted', 2, 50],
    ]);
  });

  test('of an order that was filled before is refused', () => {
    const rig = resting();
    rig.desk.replace(1, 2, wanted, START_MS + 200);
    rig.trade(230, 'SELL_YES', 0.48, 500).book(300, BIDS, ASKS);
    expect(rig.told.slice(1)).toEqual([
      ['fill', 1, 230, 'maker', 50],
      ['refused', 2, 300, 'replaced_order_ended'],
    ]);
    expect(rig.desk.replace(1, 3, wanted, START_MS + 400)).toBe('replaced_order_ended');
  });
});

describe('a gap', () => {
  test('that becomes known ends every order; fills since its start do not count', () => {
    const rig = resting().trade(200, 'SELL_YES', 0.48, 120);
    rig.place(2, 210, { limitPrice: 4_700 });
    rig.desk.gapKnown(START_MS + 150, START_MS + 900);
    expect(rig.told.slice(1)).toEqual([
      ['fill', 1, 200, 'maker', 20],
      ['miss', 2, 900, 'untrusted'],
      ['cancelled', 1, 150, 'gap'],
      ['taken_back', 150],
    ]);
    expect(rig.desk.hasOrders).toBe(false);
  });

  test('an order that expired before the gap became known has expired', () => {
    const rig = resting({ timeInForce: 'gtd', expiresMs: START_MS + 150 });
    rig.desk.gapKnown(START_MS + 200, START_MS + 300);
    expect(rig.told.slice(1)).toEqual([
      ['expired', 1, 150],
      ['taken_back', 200],
    ]);
  });

  test('an order due at the very start of a gap met the known book', () => {
    const rig = new DeskRig().book(0, BIDS, ASKS);
    rig.place(1, 0, { limitPrice: 5_000, timeInForce: 'fak' });
    rig.place(2, 1, { limitPrice: 5_000, timeInForce: 'fak' });
    rig.desk.gapKnown(START_MS + 200, START_MS + 900);
    expect(rig.told).toEqual([
      ['fill', 1, 200, 'taker', 50],
      ['miss', 2, 900, 'untrusted'],
      ['taken_back', 200],
    ]);
  });

  test('a book that was in doubt and is proven again unchanged shows the place in the queue', () => {
    const rig = resting();
    rig.desk.show(rig.desk.book, false);
    rig.desk.show(rig.desk.book, true);
    expect(rig.trade(200, 'SELL_YES', 0.48, 110).makerFills).toMatchObject([{ size: 10 }]);
  });

  test('an unproven book fills nothing, and afterwards all that is displayed is ahead', () => {
    const rig = resting().trade(150, 'SELL_YES', 0.48, 100);
    rig
      .book(200, [], [[0.47, 30]], false)
      .trade(210, 'SELL_YES', 0.47, 500)
      .book(300, BIDS, ASKS);
    rig.trade(400, 'SELL_YES', 0.48, 110);
    expect(rig.makerFills).toEqual([{ id: 1, timeMs: START_MS + 400, size: 10 }]);
  });
});
