import { expect, test } from 'vitest';
import { bookRecord, type LevelPairs } from '../../test/support/api.ts';
import { detection } from '../../test/support/detections.ts';
import { SHARE, SignalRig, T0 } from '../../test/support/signalRig.ts';
import { Random } from '../core/random.ts';
import { AuditLog } from './auditLog.ts';

const SECONDS = 700;
const MARKET = { eventType: '1h', endTimeMs: T0 + 3_600_000 } as const;

async function atTheMoney(moves = {}): Promise<SignalRig> {
  const rig = await SignalRig.start();
  rig.market(MARKET);
  await move(rig, moves);
  return rig;
}

/**
 * Moves the price of the underlying for some minutes, so that its volatility is known.
 * @param calm Size of the moves in the last two minutes, relative to before.
 * @param below How far it ends below the strike, USD.
 */
async function move(rig: SignalRig, { calm = 1, below = 0 }: { calm?: number; below?: number } = {}) {
  const random = new Random('live board 1');
  let price = 97_000;
  const show = () => {
    for (const source of ['binance_spot', 'chainlink'] as const) rig.price(price, source);
  };
  for (let second = 0; second < SECONDS; second++) {
    price += random.uniform(-10, 10) * (second > SECONDS - 120 ? calm : 1);
    show();
    await rig.clock.advance(1000);
  }
  rig.market({ ...MARKET, strikePrice: price + below });
  show();
}

/** YES at a bid and an ask in ticks, NO its mirror. */
function quote(rig: SignalRig, bid: number, ask: number, no?: { bid: number; ask: number }): void {
  const [marketId] = rig.markets.map((market) => market.marketId) as [string];
  const level = (price: number): LevelPairs => [[price, 50 * SHARE]];
  const levels = { yesBids: level(bid), yesAsks: level(ask) };
  const ofNo = no && { no: { bids: level(no.bid), asks: level(no.ask) } };
  rig.bus.publish('book', bookRecord({ seq: 1, marketId, timeMs: rig.clock.now(), ...levels, ...ofNo }));
}

const shown = (rig: SignalRig, sigmaSeconds = 600) =>
  rig.board({ sigmaSeconds }).map(({ tier, direction, detected_at }) => ({ tier, direction, detected_at }));

test('a market that turns to the other direction is on the board as in its audit row, or not at all', async () => {
  const rig = await atTheMoney();
  quote(rig, 4200, 4400);
  await rig.settle();
  const [row] = await rig.rows();
  expect(row?.detection).toMatchObject({ tier: 'stale', direction: 'BUY_YES' });
  const bought = shown(rig);
  expect(bought).toMatchObject([{ tier: 'stale', direction: 'BUY_YES' }]);

  quote(rig, 5600, 5800);
  await rig.settle();
  expect(shown(rig)).toEqual([]);
  expect(await rig.rows()).toHaveLength(1);

  // A restart reads the direction from the row.
  await rig.restart();
  await move(rig);
  quote(rig, 5600, 5800);
  await rig.settle();
  expect(shown(rig)).toEqual([]);

  quote(rig, 4200, 4400);
  await rig.settle();
  expect(shown(rig)).toEqual(bought);
});

test('a second opportunity of a kind is not shown before the row of the first is written', async () => {
  const rig = await atTheMoney();
  quote(rig, 4200, 4400);
  quote(rig, 4900, 5100);
  quote(rig, 4200, 4400);
  expect(shown(rig)).toEqual([]);
  await rig.settle();
  expect(shown(rig)).toHaveLength(1);
});

test('a row that another process wrote first decides what the board shows', async () => {
  const rig = await atTheMoney();
  const [marketId] = rig.markets.map((market) => market.marketId) as [string];
  const row = detection({ marketId, tier: 'stale', direction: 'BUY_NO', detectedMs: T0 + 11_000 });
  await new AuditLog(rig.database, rig.clock).detected(row);
  quote(rig, 4200, 4400);
  await rig.settle();
  expect(shown(rig)).toEqual([]);
  quote(rig, 5600, 5800);
  await rig.settle();
  expect(shown(rig)).toEqual([
    { tier: 'stale', direction: 'BUY_NO', detected_at: '2026-11-20T12:00:11.000+00:00' },
  ]);
});

test('a volatility that would buy the other side hides the row', async () => {
  const rig = await atTheMoney({ calm: 0.02, below: 1.2 });
  quote(rig, 4150, 4350, { bid: 4200, ask: 4400 });
  await rig.settle();
  const ofModel = (sigmaSeconds: number) =>
    rig.board({ sigmaSeconds }).filter(({ tier }) => tier !== 'logical');
  expect(ofModel(600)).toMatchObject([{ direction: 'BUY_YES' }]);
  expect(ofModel(3600)).toMatchObject([{ direction: 'BUY_YES' }]);
  expect(ofModel(60)).toEqual([]);
  const [engine, asked] = [ofModel(600)[0], ofModel(3_600)[0]];
  const difference = (asked?.model_yes_prob ?? 0) - (engine?.model_yes_prob ?? 0);
  expect(Math.abs(difference)).toBeGreaterThan(1e-6);
  expect((asked?.edge_per_share ?? 0) - (engine?.edge_per_share ?? 0)).toBeCloseTo(difference, 12);
});

test('a volatility that would buy neither side leaves the row on the board', async () => {
  const rig = await atTheMoney({ calm: 0.02, below: 1.2 });
  quote(rig, 4200, 4400);
  await rig.settle();
  const ofModel = (sigmaSeconds: number) =>
    rig.board({ sigmaSeconds }).filter(({ tier }) => tier !== 'logical');
  const [engine, asked] = [ofModel(600), ofModel(60)];
  expect([engine, asked]).toMatchObject([[{ direction: 'BUY_YES' }], [{ direction: 'BUY_YES' }]]);
  // On either side of the edge that the engine requires.
  expect(engine[0]?.edge_per_share).toBeGreaterThan(0.04);
  expect(asked[0]?.edge_per_share).toBeLessThan(0.04);
});

test('shows the larger expected profit first, down to the edge that is asked for', async () => {
  const rig = await SignalRig.start();
  const ids = [3, 1, 2].map((digit) => `0x${String(digit).repeat(64)}`);
  for (const [at, marketId] of ids.entries()) {
    rig.market({ marketId, slug: `btc-updown-5m-${at}` });
    const pair = { yes: [[4_000, SHARE]], no: [[5_000 + 100 * at, SHARE]] } as const;
    rig.book(pair, { marketId });
  }
  await rig.settle();
  const all = rig.board();
  expect(all.map(({ market_id }) => market_id)).toEqual(ids);
  const [best, middle] = all.map(({ edge_per_share }) => edge_per_share) as [number, number];
  expect(best).toBeGreaterThan(middle);
  expect(rig.board({ minEdge: middle })).toHaveLength(2);
  expect(rig.board({ minEdge: middle + 1e-9 })).toHaveLength(1);
  expect(rig.board({ limit: 1 }).map(({ market_id }) => market_id)).toEqual(ids.slice(0, 1));
});

test('reading the board writes no row: an endgame is found by the next evaluation', async () => {
  const rig = await SignalRig.start();
  rig.market();
  for (let second = 0; second < 169; second++) {
    rig.clock.stepWall(1_000);
    for (const source of ['binance_spot', 'chainlink'] as const)
      rig.price(97_300 + (second % 2) * 10, source);
  }
  // The pair stays open, so every reader prices the market.
  rig.book({ yes: [[4600, 80 * SHARE]], no: [[4700, 100 * SHARE]] });
  await rig.settle();
  const tiers = async () => (await rig.rows()).map(({ detection: { tier } }) => tier);
  const before = await tiers();
  // Nothing has happened but that the endgame's range began.
  rig.clock.stepWall(T0 + 180_500 - rig.clock.now());
  expect(rig.board()).not.toEqual([]);
  await rig.settle();
  expect(await tiers()).toEqual(before);
  await rig.clock.advance(1_000);
  await rig.settle();
  expect(await tiers()).toEqual(['endgame', ...before]);
});

test('an edge that prints as the requested minimum is shown', async () => {
  const rig = await SignalRig.start();
  rig.market();
  // The edge is 0.005275; its double is 0.005274999999999999.
  const level = (price: number): LevelPairs => [[price, 100 * SHARE]];
  rig.book({ yes: level(9600), no: level(300) });
  await rig.settle();
  expect(rig.board({ minEdge: 0.005275 })).toHaveLength(1);
  expect(rig.board({ minEdge: 0.005275001 })).toEqual([]);
});

test('shows only the assets and lengths that are asked for, and of equal profits the smaller market id first', async () => {
  const rig = await SignalRig.start();
  const [hour, five, ether] = [3, 2, 1].map((digit) => `0x${String(digit).repeat(64)}`) as [
    ...[string, string, string],
  ];
  rig.market({ marketId: hour, slug: 'btc-1h', ...MARKET });
  rig.market({ marketId: five, slug: 'btc-5m' });
  rig.market({ marketId: ether, slug: 'eth-5m', ticker: 'ETH' });
  for (const marketId of [hour, five, ether])
    rig.book({ yes: [[4_000, SHARE]], no: [[5_000, SHARE]] }, { marketId });
  await rig.settle();
  const ids = (query: Parameters<SignalRig['board']>[0]) => rig.board(query).map((row) => row.market_id);
  expect(ids({})).toEqual([ether, five, hour]);
  expect(ids({ eventTypes: ['1h'] })).toEqual([hour]);
  expect(ids({ eventTypes: ['5m'] })).toEqual([ether, five]);
  expect(ids({ tickers: ['BTC'] })).toEqual([five, hour]);
});

test('a row has the best prices, the strike and the time left, and no mid of a book with an empty side', async () => {
  const rig = await SignalRig.start();
  const marketId = rig.market();
  for (const source of ['binance_spot', 'chainlink'] as const) rig.price(97_100, source);
  rig.book({ yes: [[4_000, SHARE]], no: [[5_000, SHARE]] });
  await rig.settle();
  await rig.clock.advance(500);
  expect(rig.board()).toMatchObject([
    {
      ...{ market_id: marketId, tier: 'logical', direction: 'BUY_BOTH' },
      ...{ seconds_to_resolution: 289.5, resolution_at: '2026-11-20T12:05:00.000+00:00' },
      ...{ strike_price: 97_000, underlying_now: 97_100, sigma_annual: null },
      ...{ yes_bid: 0.01, yes_ask: 0.4, no_bid: 0.01, no_ask: 0.5, available_size: 1 },
    },
  ]);
  const oneSided = { yesBids: [], yesAsks: [[4_000, SHARE]], no: { bids: [], asks: [[5_000, SHARE]] } };
  const seq = 99;
  rig.bus.publish(
    'book',
    bookRecord({ ...{ seq, marketId, timeMs: rig.clock.now() }, ...oneSided } as never),
  );
  await rig.settle();
  expect(rig.board()).toMatchObject([{ yes_bid: null, market_yes_mid: null, mismatch_mid: null }]);
});

test('a logical opportunity comes before one of the model with a larger profit', async () => {
  const rig = await atTheMoney();
  const [marketId] = rig.markets.map((market) => market.marketId) as [string];
  const pair = rig.market({ marketId: `0x${'f'.repeat(64)}`, slug: 'btc-5m', endTimeMs: T0 + 3_600_000 });
  quote(rig, 3_000, 3_200);
  rig.book({ yes: [[4_600, SHARE]], no: [[4_900, SHARE]] }, { marketId: pair });
  await rig.settle();
  const rows = rig.board();
  const [first, second] = rows.map((row) => row.expected_pnl_per_share) as [number, number];
  expect(rows.map(({ market_id, tier }) => [market_id, tier])).toEqual([
    [pair, 'logical'],
    [marketId, 'stale'],
  ]);
  expect(first).toBeLessThan(second);
});

test('the outlook of a market without a price has none, and a market that is not watched has no outlook', async () => {
  const rig = await SignalRig.start();
  const marketId = rig.market();
  expect(rig.signals.board.outlook(marketId)).toMatchObject({
    ...{ spot: null, sigmaAnnual: null, yesProb: null, fee: { rate: 0.07 } },
  });
  for (const source of ['binance_spot', 'chainlink'] as const) rig.price(97_100, source);
  expect(rig.signals.board.outlook(marketId)).toMatchObject({ spot: 97_100 });
  expect(rig.signals.board.outlook('0xother')).toBeNull();
});

test('a pair stays on the board where the model would buy one of its tokens', async () => {
  const rig = await atTheMoney();
  quote(rig, 3_900, 4_000, { bid: 4_800, ask: 4_900 });
  await rig.settle();
  for (const sigmaSeconds of [600, 3_600])
    expect(shown(rig, sigmaSeconds).map(({ direction }) => direction)).toEqual(['BUY_BOTH', 'BUY_YES']);
});
