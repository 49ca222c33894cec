/** What a strategy reads of one market. The objects stay the same: each read shows the present. */
import { TICKS_PER_USDC, UNITS_PER_SHARE } from '../money.ts';
import type { Rows } from '../session/rows.ts';
import type { TapeMarket } from '../session/tape.ts';
import type { Token } from '../signals/signal.ts';
import type { BookReader, MarketView, ModelView, PriceLevel } from './definition.ts';
import type { MarketTracker } from './marketTracker.ts';

/** The time of the run. */
export interface RunClock {
  nowMs: number;
  seq: number;
}

export class MarketFacts implements MarketView {
  readonly #market: TapeMarket;
  readonly #tracker: MarketTracker;
  readonly #clock: RunClock;

  constructor(tracker: MarketTracker, clock: RunClock) {
    this.#market = tracker.market;
    this.#tracker = tracker;
    this.#clock = clock;
  }

  get marketId() {
    return this.#market.marketId;
  }

  get ticker() {
    return this.#market.ticker;
  }

  get eventType() {
    return this.#market.eventType;
  }

  get startTimeMs() {
    return this.#market.startTimeMs;
  }

  get endTimeMs() {
    return this.#market.endTimeMs;
  }

  get strikePrice() {
    const { strikePrice, strikeKnownTimeMs, startTimeMs } = this.#market;
    // A strike is unknown before it was received, and before its window has opened.
    const isKnown =
      strikeKnownTimeMs !== null && this.#clock.nowMs >= Math.max(strikeKnownTimeMs, startTimeMs);
    return isKnown ? strikePrice : null;
  }

  get tickSize() {
    return this.#tracker.tickSize / TICKS_PER_USDC;
  }

  get minimumOrderSize() {
    return this.#tracker.minimumOrderSize / UNITS_PER_SHARE;
  }

  get trusted() {
    return this.#tracker.trusted;
  }
}

export class BookInForce implements BookReader {
  readonly #rows: Rows;
  readonly #tracker: MarketTracker;

  constructor(tracker: MarketTracker) {
    this.#rows = tracker.rows;
    this.#tracker = tracker;
  }

  bestBid(token: Token): number | null {
    const { yesBid, noBid } = this.#rows;
    return usdcOf((token === 'yes' ? yesBid : noBid)[0]);
  }

  bestAsk(token: Token): number | null {
    const { yesAsk, noAsk } = this.#rows;
    return usdcOf((token === 'yes' ? yesAsk : noAsk)[0]);
  }

  levels(token: Token, side: 'bids' | 'asks'): readonly PriceLevel[] {
    const book = this.#rows.book[0] as number;
    if (this.#rows.count === 0 || book < 0) return [];
    const { count, prices, sizes } = this.#tracker.ladders.side(book, token, side);
    const levels: PriceLevel[] = [];
    for (let at = 0; at < count; at++) {
      const price = (prices[at] as number) / TICKS_PER_USDC;
      levels.push({ price, size: (sizes[at] as number) / UNITS_PER_SHARE });
    }
    return levels;
  }

  imbalance(token: Token): number | null {
    const yes = orNull(this.#rows.imbalance[0]);
    return yes === null || token === 'yes' ? yes : -yes;
  }
}

export class ModelReading implements ModelView {
  readonly #rows: Rows;
  readonly #tracker: MarketTracker;

  constructor(tracker: MarketTracker) {
    this.#rows = tracker.rows;
    this.#tracker = tracker;
  }

  get yesProbability() {
    return orNull(this.#rows.yesProb[0]);
  }

  get distancePct() {
    const distance = orNull(this.#rows.distance[0]);
    return distance === null ? null : distance * 100;
  }

  get distanceSigma() {
    return orNull(this.#rows.distanceSigma[0]);
  }

  get volatility() {
    return this.#tracker.underlying?.sigmaAnnual ?? null;
  }
}

function usdcOf(ticks: number | undefined): number | null {
  return ticks === undefined || Number.isNaN(ticks) ? null : ticks / TICKS_PER_USDC;
}

function orNull(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}
