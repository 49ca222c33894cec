/**
 * The perpetual's best 50 levels: a spread of one tick, about half of the ticks occupied, dust on most levels and size
 * at the best price (recording of 2026-03-13). Books change when they are polled, as a poller sees them. Every simulated
 * venue shows the same books, each in its own format (`perpAnswers.ts`).
 */

import { Random } from '../core/random.ts';
import type { Ticker } from '../schema/market.ts';
import type { PriceBoard } from './prices.ts';

const LEVELS = 50;
/** Tick size, decimals of price and size, and the number of coins worth one BTC. */
const CONTRACTS: Record<Ticker, { tick: number; digits: number; sizeDigits: number; sizeScale: number }> = {
  BTC: { tick: 0.1, digits: 2, sizeDigits: 3, sizeScale: 1 },
  ETH: { tick: 0.01, digits: 2, sizeDigits: 2, sizeScale: 28 },
  SOL: { tick: 0.01, digits: 3, sizeDigits: 1, sizeScale: 480 },
  XRP: { tick: 0.0001, digits: 4, sizeDigits: 1, sizeScale: 51_000 },
  DOGE: { tick: 0.00001, digits: 5, sizeDigits: 0, sizeScale: 1_000_000 },
  BNB: { tick: 0.1, digits: 2, sizeDigits: 2, sizeScale: 114 },
  HYPE: { tick: 0.001, digits: 3, sizeDigits: 2, sizeScale: 2_850 },
  ZEC: { tick: 0.01, digits: 2, sizeDigits: 2, sizeScale: 230 },
};
const BASIS = 0.0002;
const UNCHANGED = 0.02;
const CHANGED_SHARE = 0.2;
/** Polls of several venues within this time see the same state. */
const STATE_MS = 100;

interface Level {
  ticks: number;
  size: number;
}

/** A level as text: [price, size in coins]. */
export type PerpLevel = readonly [string, string];

/** A book as one poll sees it, best levels first. */
export interface PerpState {
  readonly ticker: Ticker;
  readonly updateId: number;
  /** When the book last changed, and the time of the poll; whole Unix milliseconds. */
  readonly changedMs: number;
  readonly nowMs: number;
  readonly bids: readonly PerpLevel[];
  readonly asks: readonly PerpLevel[];
}

/** One ticker's ladder; `bids` best first (falling), `asks` best first (rising). */
class PerpBook {
  updateId: number;
  changedMs = Number.NEGATIVE_INFINITY;
  readonly #random: Random;
  readonly #ticker: Ticker;
  #bids: Level[] = [];
  #asks: Level[] = [];
  #movedMs = Number.NEGATIVE_INFINITY;

  constructor(seed: string, ticker: Ticker) {
    this.#ticker = ticker;
    this.#random = new Random(`${seed}/perp/${ticker}`);
    this.updateId = 10_000_000 + this.#random.below(1_000_000);
  }

  /** Moves the book to a price; sometimes nothing changes and the update id stays the same. */
  moveTo(price: number, nowMs: number): void {
    if (nowMs - this.#movedMs < STATE_MS) return;
    this.#movedMs = nowMs;
    if (this.#bids.length > 0 && this.#random.chance(UNCHANGED)) return;
    this.changedMs = nowMs;
    this.updateId += 1 + this.#random.below(12);
    const bestBid = Math.floor(price / CONTRACTS[this.#ticker].tick);
    this.#bids = this.#side(this.#bids, bestBid, -1);
    this.#asks = this.#side(this.#asks, bestBid + 1, 1);
  }

  levels(): { bids: PerpLevel[]; asks: PerpLevel[] } {
    const { tick, digits, sizeDigits } = CONTRACTS[this.#ticker];
    const texts = (levels: readonly Level[]) =>
      levels.map(({ ticks, size }): PerpLevel => [(ticks * tick).toFixed(digits), size.toFixed(sizeDigits)]);
    return { bids: texts(this.#bids), asks: texts(this.#asks) };
  }

  /** Keeps the levels still behind the best price, fills up to 50 levels, and redraws some sizes. */
  #side(old: readonly Level[], best: number, step: 1 | -1): Level[] {
    const kept = new Map(old.map(({ ticks, size }) => [ticks, size]));
    const farthest = old.at(-1)?.ticks ?? best - step;
    const levels: Level[] = [];
    for (let ticks = best; levels.length < LEVELS; ticks += step) {
      const known = kept.get(ticks);
      if (known !== undefined) {
        const size = this.#random.chance(CHANGED_SHARE) ? this.#size(ticks === best) : known;
        levels.push({ ticks, size });
        continue;
      }
      const wasKnownEmpty =
        old.length > 0 && (farthest - ticks) * step >= 0 && ((old[0] as Level).ticks - ticks) * step <= 0;
      const occupied = this.#random.chance(wasKnownEmpty ? 0.08 : 0.48);
      if (ticks === best || occupied) levels.push({ ticks, size: this.#size(ticks === best) });
    }
    return levels;
  }

  #size(isTouch: boolean): number {
    const { sizeDigits, sizeScale } = CONTRACTS[this.#ticker];
    const random = this.#random;
    const dust = random.chance(0.5);
    const coins = isTouch
      ? random.lognormal(1.6, 1)
      : dust
        ? 0.001 * (1 + random.below(3))
        : random.lognormal(0.09, 1.4);
    return Math.max(10 ** -sizeDigits, coins * sizeScale);
  }
}

export class PerpExchange {
  readonly #books: ReadonlyMap<Ticker, PerpBook>;
  readonly #prices: PriceBoard;

  constructor(seed: string, prices: PriceBoard) {
    this.#prices = prices;
    this.#books = new Map(prices.tickers.map((ticker) => [ticker, new PerpBook(seed, ticker)]));
  }

  /** The book that a poll at `nowMs` sees. */
  poll(ticker: Ticker, nowMs: number): PerpState {
    const book = this.#books.get(ticker);
    if (book === undefined) throw new RangeError(`${ticker} is not simulated`);
    book.moveTo(this.#prices.spot(ticker) * (1 + BASIS), nowMs);
    const { updateId, changedMs } = book;
    return {
      ticker,
      updateId,
      changedMs: Math.floor(changedMs),
      nowMs: Math.floor(nowMs),
      ...book.levels(),
    };
  }
}
