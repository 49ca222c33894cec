import { expect, test } from 'vitest';
import { type Level, ladder } from '../../../test/support/tapes.ts';
import type { SideView } from '../../schema/records.ts';
import { Random } from '../random.ts';
import { Consumption } from './consumption.ts';
import type { FilledLevel } from './walk.ts';

const SHARE = 1_000_000;
const SEQUENCES = 100;
const BOOKS = 60;
const DEPTHS = [1, 2, 3, 5, 15];

/** The first levels of a side, like on a tape of that depth. */
function cut({ prices, sizes, count }: SideView, depth: number): SideView {
  const kept = Math.min(count, depth);
  return { count: kept, prices: prices.subarray(0, kept), sizes: sizes.subarray(0, kept) };
}

/** Buys everything within a number of levels. */
class Buyer {
  readonly consumption = new Consumption();
  readonly #depth: number;
  bought = 0;
  timeMs = 0;

  constructor(depth: number) {
    this.#depth = depth;
  }

  see(asks: SideView): void {
    this.consumption.observe({ side: () => cut(asks, this.#depth), isMirrored: () => true }, 0);
  }

  remaining(asks: SideView): SideView {
    return this.consumption.remaining('yes', 'asks', cut(asks, this.#depth));
  }

  consume(asks: SideView, filled: readonly FilledLevel[]): void {
    const view = cut(asks, this.#depth);
    this.consumption.consume({ token: 'yes', side: 'asks', view, filled, timeMs: ++this.timeMs });
  }

  buyAll(asks: SideView): void {
    const { count, prices, sizes } = this.remaining(asks);
    const filled = Array.from({ length: count }, (_, at) => ({
      price: prices[at] as number,
      size: sizes[at] as number,
    })).filter(({ size }) => size > 0);
    for (const { size } of filled) this.bought += size;
    this.consume(asks, filled);
  }
}

/** Asks whose best price wanders, so that levels leave a cut view and return, grow, shrink and disappear. */
function randomAsks(seed: string): () => SideView {
  const random = new Random(seed);
  const sizes = new Map<number, number>();
  let best = 20;
  return () => {
    best = Math.min(40, Math.max(5, best + random.below(9) - 4));
    for (let cents = best; cents < best + 20; cents++) {
      if (random.chance(0.1)) sizes.set(cents, random.below(3) * 50);
      else if (!sizes.has(cents)) sizes.set(cents, 100);
    }
    const shown = [...sizes].filter(([cents, size]) => cents >= best && size > 0);
    return ladder(
      'asks',
      shown.map(([cents, size]): Level => [cents / 100, size]),
    );
  };
}

test('a level of 100 shares that leaves the loaded depth and returns is sold once', () => {
  const level: Level = [0.5, 100];
  const inFront = Array.from({ length: 15 }, (_, at): Level => [(30 + at) / 100, 10]);
  const buyer = new Buyer(15);
  const alone = ladder('asks', [level]);
  buyer.buyAll(alone);
  buyer.see(ladder('asks', [...inFront, level]));
  buyer.see(alone);
  buyer.buyAll(alone);
  expect(buyer.bought).toBe(100 * SHARE);
});

test('a level that disappears between displayed ones is new when it returns', () => {
  const asks = (...cents: number[]) =>
    ladder(
      'asks',
      cents.map((price): Level => [price / 100, 100]),
    );
  const buyer = new Buyer(15);
  buyer.buyAll(asks(50, 55));
  buyer.see(asks(55));
  buyer.see(asks(50, 55));
  buyer.buyAll(asks(50, 55));
  expect(buyer.bought).toBe(300 * SHARE);
});

/** Every sequence of random books at every depth, for a buyer who sees that depth and one who sees all. */
function* sequences(name: string) {
  for (let n = 0; n < SEQUENCES; n++) {
    for (const depth of DEPTHS) {
      const seed = `${name} ${n}`;
      const [next, random] = [randomAsks(seed), new Random(`${seed} orders`)];
      const [shallow, full] = [new Buyer(depth), new Buyer(Number.POSITIVE_INFINITY)];
      for (let book = 0; book < BOOKS; book++) {
        const asks = next();
        for (const buyer of [shallow, full]) buyer.see(asks);
        yield { asks, random, shallow, full, at: `${seed}, depth ${depth}, book ${book}` };
      }
    }
  }
}

test('after the same fills no depth shows more remaining size of a level than full depth does', () => {
  const soldTwice: string[] = [];
  for (const { asks, random, shallow, full, at } of sequences('left')) {
    const [left, truth] = [shallow.remaining(asks), full.remaining(asks)];
    const filled: FilledLevel[] = [];
    for (let level = 0; level < left.count; level++) {
      const [price, size] = [left.prices[level] as number, left.sizes[level] as number];
      if (size > (truth.sizes[level] as number)) soldTwice.push(at);
      if (size > 0 && random.chance(0.3)) filled.push({ price, size: 1 + random.below(size) });
    }
    for (const buyer of [shallow, full]) buyer.consume(asks, filled);
  }
  expect(soldTwice).toEqual([]);
});

test('fills at any depth never exceed those at full depth', () => {
  const more: string[] = [];
  for (const { asks, random, shallow, full, at } of sequences('fills')) {
    if (!random.chance(0.4)) continue;
    for (const buyer of [shallow, full]) buyer.buyAll(asks);
    if (shallow.bought > full.bought) more.push(at);
  }
  expect(more).toEqual([]);
});

test('a consumed ask takes nothing from a bid that is displayed at its price later', () => {
  const consumption = new Consumption();
  const asks = ladder('asks', [[0.5, 40]]);
  const filled = [{ price: 5_000, size: 30 * SHARE }];
  consumption.consume({ token: 'yes', side: 'asks', view: asks, filled, timeMs: 1 });
  expect([...consumption.remaining('yes', 'asks', asks).sizes.slice(0, 1)]).toEqual([10 * SHARE]);
  const bids = ladder('bids', [[0.5, 40]]);
  expect(consumption.remaining('yes', 'bids', bids)).toBe(bids);
});
