import { describe, expect, test } from 'vitest';
import { BookPlayer } from '../../../test/support/bookPlayer.ts';
import { marketState } from '../../../test/support/marketState.ts';
import { MARKET, WireMarket } from '../../../test/support/wire.ts';
import { MarketBook } from '../../venues/polymarket/book/marketBook.ts';
import { COST_SCALE, TakerFee } from '../fees.ts';
import { LadderSide } from '../ladderSide.ts';
import { Random } from '../random.ts';
import { BestPriceAge } from './bestPriceAge.ts';
import { detectLogical, walkPairs } from './logical.ts';
import { repricedEdge } from './signal.ts';

/** `LADDER_PAIRS=1000000` for the whole proof, a dozen seconds. */
const LADDER_PAIRS = Number(process.env.LADDER_PAIRS ?? 50_000);

const PAIR = {
  yesBids: [[0.44, 50]],
  yesAsks: [[0.47, 80]],
  noBids: [[0.45, 50]],
  noAsks: [[0.48, 100]],
} as const;

describe('a pair of outcomes for sale', () => {
  test('at 0.47 and 0.48 makes 1.5091 cents after both fees', () => {
    const signal = detectLogical(marketState(PAIR));
    expect(signal).toMatchObject({
      tier: 'logical',
      direction: 'BUY_BOTH',
      confidence: 'stable',
      availableSize: 80,
    });
    expect(signal?.fillPrice).toBe(0.95);
    expect(signal?.fillSpread).toBeCloseTo(0.06, 12);
    expect(signal?.estFeePerShare).toBeCloseTo(0.034909, 12);
    expect(signal?.edgePerShare).toBeCloseTo(0.015091, 12);
    expect(signal?.legs).toEqual([
      { token: 'yes', levels: [{ price: 4_700, size: 80_000_000 }] },
      { token: 'no', levels: [{ price: 4_800, size: 80_000_000 }] },
    ]);
    expect(signal?.best).toEqual({ yesBid: 0.44, yesAsk: 0.47, noBid: 0.45, noAsk: 0.48 });
  });

  test.each([
    [0.48, 0.49, false],
    [0.46, 0.47, true],
    [0.9, 0.08, true],
    [0.97, 0.02, true],
    [0.5, 0.5, false],
    [0.482, 0.483, true],
    [0.483, 0.483, false],
  ])('at %d and %d is an opportunity: %s', (yes, no, expected) => {
    const signal = detectLogical(marketState({ yesAsks: [[yes, 10]], noAsks: [[no, 10]] }));
    expect(signal !== null).toBe(expected);
  });

  test('has the probability of the model where it knows one, else that of the prices', () => {
    const [known, unknown] = [0.7, null].map((yesProb) => {
      const state = marketState(PAIR);
      state.model.yesProb = yesProb;
      return detectLogical(state)?.modelYesProb;
    });
    expect(known).toBe(0.7);
    expect(unknown).toBeCloseTo(0.455, 12);
  });

  test('has no level without a whole unit, and uses the last unit of each', () => {
    const side = (prices: readonly number[], sizes: readonly number[]) => ({
      ...{ count: prices.length, prices: Uint16Array.from(prices), sizes: Float64Array.from(sizes) },
    });
    const { fee } = marketState(PAIR);
    expect(walkPairs(side([3_000, 3_100], [0.4, 5]), side([3_000], [5]), fee).yesLevels).toEqual([
      { price: 3_100, size: 5 },
    ]);
    const walk = walkPairs(side([3_000, 3_100], [1, 2]), side([3_000, 3_100], [2, 1]), fee);
    expect(walk.size).toBe(3);
  });

  test('is none if less than a unit of it is for sale', () => {
    const state = marketState(PAIR);
    const asks = { count: 1, prices: Uint16Array.of(4_700), sizes: Float64Array.of(0.4) };
    expect(detectLogical({ ...state, yes: { bids: state.yes.bids, asks } })).toBeNull();
  });

  test('over two levels per side is bought until a pair costs more than 1', () => {
    const signal = detectLogical(
      marketState({
        yesAsks: [
          [0.46, 30],
          [0.47, 100],
        ],
        noAsks: [
          [0.48, 80],
          [0.5, 200],
        ],
      }),
    );
    expect(signal?.availableSize).toBe(80);
    expect((signal?.edgePerShare as number) * 80).toBeCloseTo(1.50875 + 2.6e-6, 5);
    expect(signal?.fillPrice).toBe(0.94625);
    expect(signal?.legs[0]?.levels).toEqual([
      { price: 4_600, size: 30_000_000 },
      { price: 4_700, size: 50_000_000 },
    ]);
  });

  test('has the same edge whatever the model says later', () => {
    const signal = detectLogical(marketState(PAIR));
    expect(signal && repricedEdge(signal, 0.99)).toBe(signal?.edgePerShare);
  });

  test('is as certain as the younger of its two prices', () => {
    const state = marketState(PAIR, { heldMs: 29_999 });
    expect(detectLogical(state)).toMatchObject({ confidence: 'stale', heldMs: 29_999, tier: 'logical' });
    expect(detectLogical(marketState(PAIR, { heldMs: 30_000 }))?.confidence).toBe('stable');
  });

  test.each(['yes', 'no'] as const)('is as old as its younger price if %s changed last', (changed) => {
    const state = marketState(PAIR, { heldMs: 60_000 });
    const before = {
      yes: { bids: state.yes.bids, asks: asksOf([[changed === 'yes' ? 4_600 : 4_700, 1]]) },
      no: { bids: state.no.bids, asks: asksOf([[changed === 'no' ? 4_700 : 4_800, 1]]) },
    };
    const priceAge = new BestPriceAge();
    priceAge.update(before, state.nowMs - 60_000);
    priceAge.update(state, state.nowMs - 10_000);
    expect(detectLogical({ ...state, priceAge })).toMatchObject({ confidence: 'stale', heldMs: 10_000 });
  });

  test('uses the book’s implied value of Up if no strike is known', () => {
    expect(detectLogical(marketState(PAIR, { readings: { strike: null } }))?.modelYesProb).toBeCloseTo(
      0.455,
      12,
    );
    const asksOnly = { yesAsks: PAIR.yesAsks, noAsks: PAIR.noAsks };
    const signal = detectLogical(marketState(asksOnly, { readings: { strike: null } }));
    expect(signal?.modelYesProb).toBeCloseTo((0.47 + 0.52) / 2, 12);
    expect(signal).toMatchObject({ marketYesMid: null, model: { strike: null, yesProb: null } });
    expect(signal?.fillSpread).toBeCloseTo(0.95, 12);
  });

  test('is none while the book is untrusted, crossed or one-sided, or the window is over', () => {
    expect(detectLogical(marketState(PAIR, { trusted: false }))).toBeNull();
    expect(detectLogical(marketState({ ...PAIR, yesBids: [[0.471, 5]] }))).toBeNull();
    expect(detectLogical(marketState({ ...PAIR, noBids: [[0.481, 5]] }))).toBeNull();
    expect(detectLogical(marketState({ yesAsks: [[0.3, 5]] }))).toBeNull();
    expect(detectLogical(marketState(PAIR, { readings: { nowMs: MARKET.endTimeMs } }))).toBeNull();
  });
});

/** Levels as [ticks, units of a thousandth of a share]. */
type Rough = [price: number, size: number][];

function roughSide(
  random: Random,
  { from, to, sizeMax }: { from: number; to: number; sizeMax: number },
): Rough {
  const count = 1 + Math.floor(random.next() * 3);
  const prices = new Set<number>();
  while (prices.size < count) prices.add(from + Math.floor(random.next() * (to - from)));
  return [...prices].map((price) => [price, 1 + Math.floor(random.next() * sizeMax)]);
}

function asksOf(levels: Rough): LadderSide {
  const asks = new LadderSide('asks');
  for (const [price, size] of levels) asks.set(price, size * 1_000);
  return asks;
}

/** Lowest cost of every number of units of one side, by trying every choice of levels. */
function cheapest(levels: Rough, cost: (price: number) => number): number[] {
  let best = [0];
  for (const [price, size] of levels) {
    const next = new Array<number>(best.length + size).fill(Infinity);
    best.forEach((spent, units) => {
      for (let more = 0; more <= size; more++) {
        next[units + more] = Math.min(next[units + more] as number, spent + more * cost(price));
      }
    });
    best = next;
  }
  return best;
}

/** The highest profit of any choice of pairs, and the fewest units that reach it. All in whole numbers. */
function bruteForce(yes: Rough, no: Rough, rate: number): { units: number; profit: number } {
  const cost = (price: number) => price * 10_000_000_000 + rate * price * (10_000 - price);
  const yesCosts = cheapest(yes, cost);
  const noCosts = cheapest(no, cost);
  let best = { units: 0, profit: 0 };
  for (let units = 1; units < Math.min(yesCosts.length, noCosts.length); units++) {
    const profit = units * 1e14 - (yesCosts[units] as number) - (noCosts[units] as number);
    if (profit > best.profit) best = { units, profit };
  }
  return best;
}

describe('the best of all choices', () => {
  const rates = [0, 70_000, 72_000] as const;
  const fees = rates.map(
    (rate) =>
      new TakerFee({ rate: rate / 1e6, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' }),
  );

  test('equals the walk, on random ladder pairs', () => {
    const random = new Random('logical');
    let chances = 0;
    for (let round = 0; round < LADDER_PAIRS; round++) {
      const middle = 200 + Math.floor(random.next() * 9_600);
      const width = 20 + Math.floor(random.next() * 180);
      const yes = roughSide(random, { from: middle - width, to: middle + width, sizeMax: 4 });
      const no = roughSide(random, { from: 9_800 - middle, to: 10_200 - middle, sizeMax: 4 });
      const at = round % rates.length;
      const walk = walkPairs(asksOf(yes), asksOf(no), fees[at] as TakerFee);
      const best = bruteForce(yes, no, rates[at] as number);
      const profit = (best.profit / COST_SCALE) * 1e-3;
      if (walk.size !== best.units * 1_000 || Math.abs(walk.profit - profit) > 1e-9) {
        throw new Error(`round ${round}: ${JSON.stringify({ yes, no, rate: rates[at], walk, best })}`);
      }
      if (best.units > 0) chances++;
    }
    // Otherwise the rounds would have tested nothing.
    expect(chances).toBeGreaterThan(LADDER_PAIRS / 10);
    expect(chances).toBeLessThan(0.9 * LADDER_PAIRS);
  });

  test('balances: price, fee and profit sum to the payout of the pairs', () => {
    const random = new Random('sums');
    for (let round = 0; round < 2_000; round++) {
      const yes = asksOf(roughSide(random, { from: 100, to: 6_000, sizeMax: 5_000 }));
      const no = asksOf(roughSide(random, { from: 100, to: 6_000, sizeMax: 5_000 }));
      const walk = walkPairs(yes, no, fees[1] as TakerFee);
      const { size, fee, profit, yesLevels, noLevels } = walk;
      const principal = [...yesLevels, ...noLevels].reduce((sum, level) => sum + level.price * level.size, 0);
      expect(principal / 1e10 + fee + profit).toBeCloseTo(size / 1e6, 9);
    }
  });
});

test('a book with mirrored tokens never shows an opportunity, however its actions arrive', () => {
  const random = new Random('mirrored');
  const wire = new WireMarket();
  for (let cents = 1; cents < 50; cents++) wire.set({ side: 'BUY', price: cents * 100, size: 5_000_000 });
  for (let cents = 50; cents < 100; cents++) wire.set({ side: 'SELL', price: cents * 100, size: 5_000_000 });
  const state = marketState({});
  const seen = { states: 0, untrusted: 0, cheapBetweenFrames: 0, signals: 0 };
  const book = new MarketBook({ ...MARKET, tickSize: '0.01' });
  const { yes, no } = book;
  const player = new BookPlayer(book, ({ trusted }) => {
    seen.states++;
    if (!trusted) seen.untrusted++;
    if (detectLogical({ ...state, yes, no, trusted }) !== null) seen.signals++;
  });
  player.play(wire.snapshot(MARKET.startTimeMs), 1);
  for (let i = 1; i <= 3_000; i++) {
    const timeMs = MARKET.startTimeMs + i;
    for (const frame of wire.action(timeMs, moveOfTouch(wire, random)).flatMap(byToken)) {
      // One frame in two hundred is lost, so that the book is wrong until the next snapshot.
      if (random.next() > 0.005) player.play(frame, 1);
      if (walkPairs(yes.asks, no.asks, state.fee).size > 0) seen.cheapBetweenFrames++;
    }
    if (i % 20 === 0) player.play(wire.snapshot(timeMs), 1);
  }
  expect(seen.states).toBeGreaterThan(2_000);
  // Otherwise there would have been nothing to detect wrongly.
  expect(seen.cheapBetweenFrames).toBeGreaterThan(1_000);
  expect(seen.untrusted).toBeGreaterThan(100);
  expect(seen.signals).toBe(0);
});

/** Splits a frame with both tokens' changes in two: the tokens disagree in between. */
function byToken(frame: string): string[] {
  const { price_changes: changes, ...rest } = JSON.parse(frame);
  return changes.map((change: unknown) => JSON.stringify({ ...rest, price_changes: [change] }));
}

/**
 * Moves the touch by one to eight cents: levels in the way are removed and levels behind are added, in either order.
 */
function moveOfTouch(wire: WireMarket, random: Random) {
  const bid = wire.bids.best as number;
  const steps = 1 + Math.floor(random.next() * 8);
  const up = bid <= 2_000 || (bid < 8_000 && random.next() < 0.5);
  const changes: { side: 'BUY' | 'SELL'; price: number; size: number }[] = [];
  for (let i = 1; i <= steps; i++) {
    const price = up ? bid + i * 100 : bid + (1 - i) * 100;
    changes.push({ side: up ? 'SELL' : 'BUY', price, size: 0 });
    changes.push({ side: up ? 'BUY' : 'SELL', price, size: 1_000_000 + Math.floor(random.next() * 1e8) });
  }
  return random.next() < 0.5 ? changes : changes.reverse();
}
