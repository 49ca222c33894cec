import { expect, test } from 'vitest';
import { oneClock } from '../../test/support/gaps.ts';
import { SHARE, SignalRig, T0 } from '../../test/support/signalRig.ts';

const CHEAP = { yes: [[4600, 80 * SHARE]], no: [[4700, 100 * SHARE]] } as const;
const DEAR = { yes: [[4800, 80 * SHARE]], no: [[4900, 100 * SHARE]] } as const;

test('asks 0.46 and 0.47 at fee rate 0.07: one row, one push, one opportunity on the board, at known figures', async () => {
  const rig = await SignalRig.start();
  const marketId = rig.market();
  rig.book(CHEAP);
  rig.book(CHEAP);
  await rig.settle();
  const fee = 0.07 * (0.46 * 0.54 + 0.47 * 0.53);
  const figures = {
    ...{ market_id: marketId, tier: 'logical', direction: 'BUY_BOTH', polymarket_slug: 'btc-updown-5m-1' },
    fill_price: expect.closeTo(0.93, 12),
    est_fee_per_share: expect.closeTo(fee, 12),
    expected_pnl_per_share: expect.closeTo(1 - 0.93 - fee, 12),
    fill_spread: expect.closeTo(0.46 + 0.47 - 0.02, 12),
    ...{ confidence: 'stale', detected_at: '2026-11-20T12:00:10.000+00:00' },
    ...{ tau_minutes: 290 / 60, type: 'opportunity' },
  };
  expect(rig.published).toEqual([expect.objectContaining(figures)]);
  expect(rig.board()).toMatchObject([{ ...figures, available_size: 80, seconds_to_resolution: 290 }]);
  const rows = await rig.rows();
  expect(rows).toHaveLength(1);
  expect(rows[0]?.detection).toMatchObject({
    ...{ detectedMs: T0 + 10_000, receivedMs: T0 + 10_000, availableSize: 80, takerHoldMs: 150 },
    legs: [
      { token: 'yes', levels: [{ price: 4600, size: 80 * SHARE }] },
      { token: 'no', levels: [{ price: 4700, size: 80 * SHARE }] },
    ],
  });
});

test('asks 0.48 and 0.49 cost more than 1 with their fees: nothing', async () => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(DEAR);
  await rig.settle();
  expect([rig.published, rig.board(), await rig.rows()]).toEqual([[], [], []]);
});

test('a recurring opportunity keeps its first time and is neither written nor published again', async () => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.clock.advance(1_000);
  rig.book(DEAR);
  expect(rig.board()).toEqual([]);
  await rig.clock.advance(1_000);
  rig.book(CHEAP);
  await rig.settle();
  expect(rig.board()).toMatchObject([{ detected_at: '2026-11-20T12:00:10.000+00:00' }]);
  expect(rig.published).toHaveLength(1);
  expect(await rig.rows()).toHaveLength(1);
});

test('nothing is published before the row can be read from the database', async () => {
  const rig = await SignalRig.start();
  rig.market();
  const seen: Promise<number>[] = [];
  rig.bus.subscribe('opportunity', () => seen.push(rig.rows().then((rows) => rows.length)));
  rig.book(CHEAP);
  // The detection is made, its row is not written yet.
  expect([rig.published, rig.board()]).toEqual([[], []]);
  await rig.settle();
  expect(await Promise.all(seen)).toEqual([1]);
});

test.each([
  ['an untrusted book', (rig: SignalRig) => rig.book(CHEAP, { trusted: false })],
  [
    'a gap',
    (rig: SignalRig) => {
      rig.bus.publish('gap', oneClock(gap(rig, null)));
      rig.book(CHEAP);
    },
  ],
  [
    'an ended market',
    (rig: SignalRig) => {
      rig.clock.stepWall(300_000);
      rig.book(CHEAP);
    },
  ],
])('%s never signals', async (_what, show) => {
  const rig = await SignalRig.start();
  rig.market();
  show(rig);
  rig.price(97_000);
  await rig.settle();
  expect([rig.published, rig.board(), await rig.rows()]).toEqual([[], [], []]);
});

test.each([
  ['trust is lost', (rig: SignalRig) => rig.trust(false)],
  ['a gap opens', (rig: SignalRig) => rig.bus.publish('gap', oneClock(gap(rig, null)))],
  ['the market ends', (rig: SignalRig) => rig.clock.stepWall(300_000)],
  ['the market is resolved', (rig: SignalRig) => void rig.market({ status: 'resolved', payoutYes: 1 })],
])('an opportunity leaves the board when %s', async (_what, happen) => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.settle();
  expect(rig.board()).toHaveLength(1);
  happen(rig);
  expect(rig.board()).toEqual([]);
});

test.each(['closed', 'resolved'] as const)('a market that is %s is not signalled again', async (status) => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.settle();
  rig.market({ status });
  rig.book({ yes: CHEAP.yes, no: [[4600, 100 * SHARE]] });
  rig.price(97_000);
  await rig.clock.advance(2_000);
  expect(rig.board()).toEqual([]);
});

test('after a gap the next trusted state is evaluated again', async () => {
  const rig = await SignalRig.start();
  rig.market();
  rig.bus.publish('gap', oneClock(gap(rig, null)));
  rig.book(CHEAP);
  rig.bus.publish('gap', oneClock(gap(rig, rig.clock.now())));
  rig.price(97_000);
  await rig.settle();
  expect(rig.published).toHaveLength(1);
});

function gap(rig: SignalRig, endTimeMs: number | null) {
  const [marketId] = rig.markets.map((market) => market.marketId);
  return {
    ...{ gapId: 'gap_1', marketId: marketId as string, startTimeMs: T0, endTimeMs },
    ...{ cause: 'silent_feed' as const, feed: 'polymarket.clob', repairedBy: null },
    ...{ knownTimeMs: T0, knownSeq: 1, seq: 1 },
  };
}

test('the executable fills: at 50 ms all, at 250 ms the rest within the limits, at 500 ms nothing', async () => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.clock.advance(100);
  rig.book({ yes: [[4600, 30 * SHARE]], no: [[4700, 100 * SHARE]] });
  await rig.clock.advance(200);
  rig.book(DEAR);
  await rig.clock.advance(1_000);
  await rig.settle();
  expect((await rig.rows())[0]?.executable).toEqual([
    { afterMs: 50, fillPrice: 0.93, size: 80 },
    { afterMs: 250, fillPrice: 0.93, size: 30 },
    { afterMs: 500, fillPrice: null, size: 0 },
  ]);
});

test('an executable fill over several levels goes up to the price of the last', async () => {
  const rig = await SignalRig.start();
  rig.market();
  const yes = [
    [4600, 30 * SHARE],
    [4700, 50 * SHARE],
    [5200, 900 * SHARE],
  ] as const;
  rig.book({ yes, no: [[4700, 100 * SHARE]] });
  await rig.clock.advance(1_000);
  await rig.settle();
  const [row] = await rig.rows();
  expect(row?.detection.availableSize).toBe(80);
  expect(row?.executable).toEqual(
    [50, 250, 500].map((afterMs) => ({ afterMs, fillPrice: expect.closeTo(0.93625, 12), size: 80 })),
  );
});

test('a book received in the same millisecond counts; an untrusted one fills nothing', async () => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.clock.advance(50);
  rig.book({ yes: [[4600, 7 * SHARE]], no: [[4700, 100 * SHARE]] });
  await rig.clock.advance(150);
  rig.trust(false);
  await rig.clock.advance(1_000);
  expect((await rig.rows())[0]?.executable).toEqual([
    { afterMs: 50, fillPrice: 0.93, size: 7 },
    { afterMs: 250, fillPrice: null, size: 0 },
    { afterMs: 500, fillPrice: null, size: 0 },
  ]);
});

test('an order sent within a gap fills nothing, although the gap ends before its fills are computed', async () => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.clock.advance(20);
  rig.bus.publish('gap', oneClock(gap(rig, null)));
  await rig.clock.advance(280);
  // A gap's end is published before the book that proves it.
  rig.bus.publish('gap', oneClock(gap(rig, rig.clock.now())));
  rig.book(CHEAP);
  await rig.clock.advance(1_000);
  expect((await rig.rows())[0]?.executable).toEqual([
    { afterMs: 50, fillPrice: null, size: 0 },
    { afterMs: 250, fillPrice: null, size: 0 },
    { afterMs: 500, fillPrice: 0.93, size: 80 },
  ]);
});

test('a payout that the listing names before the market is resolved settles no row', async () => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.clock.advance(1_000);
  rig.market({ status: 'closed', payoutYes: 1 });
  await rig.settle();
  expect((await rig.rows())[0]?.settlement).toBeNull();
});

test.each([
  ['Up', 1],
  ['Down', 0],
  [null, 0.5],
] as const)('resolved %s: a pair always pays 1', async (outcome, payoutYes) => {
  const rig = await SignalRig.start();
  rig.market();
  rig.book(CHEAP);
  await rig.clock.advance(1_000);
  const resolvedTimeMs = T0 + 310_000;
  rig.market({ status: 'resolved', outcome, payoutYes, resolvedTimeMs });
  await rig.settle();
  const realized = 1 - 0.93 - 0.07 * (0.46 * 0.54 + 0.47 * 0.53);
  expect((await rig.rows())[0]?.settlement).toEqual({
    ...{ outcome, payoutYes, resolvedMs: resolvedTimeMs },
    realized: expect.closeTo(realized, 12),
  });
});
