/**
 * Whatever our orders are, a displayed size fills them once until others refill it, and so does a trade. Checked against
 * a model that adds up what all fills took from each level.
 */
import { expect, test } from 'vitest';
import { DeskRig, SHARE } from '../../../test/support/deskRig.ts';
import type { Level } from '../../../test/support/tapes.ts';
import { QUEUE_MODELS } from '../../schema/strategy.ts';
import { TICKS_PER_USDC } from '../money.ts';
import { Random } from '../random.ts';
import { TAPE_TRADE_SIDES } from '../session/tape.ts';
import type { Token } from '../signals/signal.ts';
import type { OrderTerms } from './order.ts';
import type { DeskReport } from './report.ts';

const SEEDS = 150;
const STEPS = 120;

type Side = 'bids' | 'asks';
type FillReport = Extract<DeskReport, { kind: 'fill' }>;

/** The levels of YES in ticks and shares; what fills took from a level counts until it grows or disappears. */
class LevelModel {
  readonly #sides: Record<Side, Map<number, { shown: number; taken: number }>> = {
    bids: new Map(),
    asks: new Map(),
  };

  show(book: Readonly<Record<Side, readonly Level[]>>): void {
    for (const side of ['bids', 'asks'] as const) {
      const before = this.#sides[side];
      this.#sides[side] = new Map(
        book[side].map(([price, size]) => {
          const ticks = Math.round(price * TICKS_PER_USDC);
          const known = before.get(ticks);
          const isRefilled = known === undefined || size > known.shown;
          return [ticks, { shown: size, taken: isRefilled ? 0 : known.taken }] as const;
        }),
      );
    }
  }

  /** @returns Shares of a level that no fill has taken yet. */
  left(side: Side, ticks: number): number {
    const level = this.#sides[side].get(ticks);
    return level === undefined ? 0 : Math.max(0, level.shown - level.taken);
  }

  take(side: Side, ticks: number, shares: number): void {
    const level = this.#sides[side].get(ticks);
    if (level !== undefined) level.taken += shares;
  }

  /** Prices of a side, best first. */
  prices(side: Side): number[] {
    const direction = side === 'asks' ? 1 : -1;
    return [...this.#sides[side].keys()].sort((a, b) => direction * (a - b));
  }
}

/** The side of YES that an order meets, and a price of its token as one of YES. */
function met({ token, action }: Pick<OrderTerms, 'token' | 'action'>): {
  side: Side;
  yes: (ticks: number) => number;
} {
  const side = (token === 'yes') === (action === 'buy') ? 'asks' : 'bids';
  return { side, yes: (ticks) => (token === 'yes' ? ticks : TICKS_PER_USDC - ticks) };
}

/** Books whose sides all reach to the same prices, so that a missing level is known to be gone. */
function drawnBook(random: Random): Record<Side, Level[]> {
  const mid = 47 + random.below(7);
  const side = (direction: 1 | -1) => {
    const prices = Array.from({ length: 5 }, (_, at) => mid + direction * (1 + at));
    const kept = prices.filter(() => random.chance(0.8));
    const worst = direction === 1 ? 70 : 30;
    return [...kept, worst].map((cents): Level => [cents / 100, 1 + random.below(60)]);
  };
  return { bids: side(-1), asks: side(1) };
}

function drawnOrder(random: Random): Partial<OrderTerms> & { limitPrice: number } {
  const token: Token = random.chance(0.5) ? 'yes' : 'no';
  const action = random.chance(0.5) ? 'buy' : 'sell';
  const size = (5 + random.below(60)) * SHARE;
  const timeInForce = (['fak', 'fok', 'gtc', 'gtc'] as const)[random.below(4)] ?? 'gtc';
  return { token, action, size, timeInForce, limitPrice: 100 * (42 + random.below(17)) };
}

function takersFit(fills: readonly FillReport[], model: LevelModel, seed: string): void {
  for (const { fill, order, liquidity } of fills) {
    if (liquidity === 'maker') continue;
    const { side, yes } = met(order.terms);
    for (const { price, size } of fill.levels) {
      expect(size / SHARE, seed).toBeLessThanOrEqual(model.left(side, yes(price)));
      model.take(side, yes(price), size / SHARE);
    }
  }
}

/** A book that crosses an order fills it from the other side, best price first, up to its own price. */
function crossingsFit(fills: readonly FillReport[], model: LevelModel, seed: string): void {
  for (const { fill, order } of fills) {
    const { side, yes } = met(order.terms);
    const limit = yes(order.terms.limitPrice);
    let missing = fill.size / SHARE;
    for (const price of model.prices(side)) {
      if (side === 'asks' ? price > limit : price < limit) break;
      const taken = Math.min(missing, model.left(side, price));
      model.take(side, price, taken);
      missing -= taken;
    }
    expect(missing, seed).toBe(0);
  }
}

test('all fills together take from a level no more than its size, and from a trade no more than its own', () => {
  const counts = { taker: 0, crossing: 0, trade: 0 };
  for (let n = 0; n < SEEDS; n++) {
    const seed = `levels ${n}`;
    const random = new Random(seed);
    const rig = new DeskRig({ queueModel: QUEUE_MODELS[n % QUEUE_MODELS.length] ?? 'pessimistic' });
    const model = new LevelModel();
    const filledSince = (from: number) =>
      rig.reports.slice(from).filter((report): report is FillReport => report.kind === 'fill');
    let book = drawnBook(random);
    for (let step = 0; step < STEPS; step++) {
      const at = step * 70;
      const before = rig.reports.length;
      if (step > 0 && random.chance(0.4)) {
        const side = TAPE_TRADE_SIDES[random.below(4)] ?? 'BUY_YES';
        const shares = 1 + random.below(90);
        rig.trade(at, side, (42 + random.below(17)) / 100, shares);
        const fills = filledSince(before);
        const filled = fills.reduce((sum, { fill }) => sum + fill.size, 0);
        expect(filled, seed).toBeLessThanOrEqual(shares * SHARE);
        counts.trade += fills.length;
      } else {
        if (random.chance(0.6)) book = drawnBook(random);
        rig.book(at, book.bids, book.asks);
        const fills = filledSince(before);
        takersFit(fills, model, seed);
        model.show(book);
        const crossings = fills.filter(({ liquidity }) => liquidity === 'maker');
        crossingsFit(crossings, model, seed);
        counts.taker += fills.length - crossings.length;
        counts.crossing += crossings.length;
      }
      if (random.chance(0.5)) rig.place(step, at, drawnOrder(random));
    }
  }
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(SEEDS);
});
