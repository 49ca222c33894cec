/**
 * One open market: makers that follow the fair value, takers, the finer tick, the side that nobody quotes
 * near the end, and the emptying afterwards. It schedules its own actions; every frame goes to the venue's sink.
 */

import { Random } from '../core/random.ts';
import { type LevelSet, type Print, WireBook, type WireFrame } from './book.ts';
import { fairUp } from './fairValue.ts';
import { type LadderSide, NO_ASK } from './ladder.ts';
import type { SimulatedMarket } from './markets.ts';
import { cheapOffer } from './partedBook.ts';
import { type PriceBoard, TWAP_SECONDS } from './prices.ts';
import {
  changedLevels,
  consumedLevels,
  filledLevels,
  oneSidedTarget,
  onlySide,
  quietLevels,
  requoteLevels,
  type Target,
} from './quoting.ts';
import type { Schedule } from './schedule.ts';
import { CENT, changesPerSecond, ordersPerMinute, quotePatience, spreadTicks } from './shape.ts';

/** The parts of the venue that a market needs. */
export interface VenueContext {
  readonly seed: string;
  readonly schedule: Schedule;
  readonly prices: PriceBoard;
  /** 1 = the venue's own rate of book changes. */
  density(): number;
  /** How often per hour a market's two tokens are quoted apart. */
  opportunitiesPerHour(): number;
  /** Delay from a book frame's timestamp to its sending. */
  readonly latencyMs: LatencyRange;
  /** Added to every venue timestamp to simulate a wrong clock. */
  stampOffsetMs(): number;
  emit(atMs: number, market: SimulatedMarket, frame: WireFrame): void;
}

export interface LatencyRange {
  readonly low: number;
  readonly high: number;
}

const QUOTE_NOISE = 2.5;
const REFINES_ABOVE = 960;
const CLUMP_MS = 250;
const CLUMP_FACTOR = 2.5;
const CALM_FACTOR = 0.6;
const MIN_CHANGES_PER_SECOND = 0.02;
const EMPTYING_ACTIONS = 3;
/** Before a window opens. */
const QUIET_ORDERS_PER_MINUTE = 0.3;
const HOUR_MS = 3_600_000;
/** Mean duration of such opportunities: 2.7 s, as seen in 2026. */
const OPPORTUNITY_LASTS_MS = 2_700;
/** Hundredths of a share. */
const OFFERED_SIZE = 8_000;
export const RECORDED_LATENCY_MS: LatencyRange = { low: 9, high: 55 };

export class MarketSimulation {
  readonly market: SimulatedMarket;
  readonly book: WireBook;
  readonly #context: VenueContext;
  readonly #random: Random;
  /** A separate generator, so that a market with opportunities is otherwise the same as one without. */
  readonly #opportunityRandom: Random;
  #noise = 0;
  #spread = 2;
  #clumpUntilMs = 0;
  /** The only side of Up that is quoted; null when both are. */
  #onlySide: LadderSide | null = null;
  #isEmptied = false;
  /** True while the two tokens are quoted apart: nobody else acts. */
  #isParted = false;

  constructor(market: SimulatedMarket, context: VenueContext) {
    this.market = market;
    this.#context = context;
    const { facts } = market;
    const bookRandom = new Random(`${context.seed}/book/${facts.slug}`);
    this.#random = new Random(`${context.seed}/live/${facts.slug}`);
    this.#opportunityRandom = new Random(`${context.seed}/chances/${facts.slug}`);
    // Makers fill a new book within minutes of its listing; it keeps that timestamp until the first change.
    this.book = new WireBook(market, this.#random, facts.createdMs + bookRandom.below(300_000));
    for (const set of quietLevels(bookRandom)) this.book.ladder.set(set.side, set.price, set.size);
  }

  /** Starts makers and takers. A window that has already opened gets a filled book at once. */
  play(nowMs: number): void {
    if (nowMs > this.market.facts.window.startTimeMs) {
      const target = this.#target(nowMs);
      const standing = (['bid', 'ask'] as const).flatMap((side) =>
        this.book.ladder.prices(side).map((price) => ({ side, price, size: 0 })),
      );
      for (const set of [...standing, ...filledLevels(this.#random, target)]) {
        this.book.ladder.set(set.side, set.price, set.size);
      }
      this.book.apply([], this.#stamp(nowMs));
    }
    const { window, habits } = this.market.facts;
    this.#context.schedule.at(nowMs + this.#random.uniform(0, 500), this.#requote);
    this.#context.schedule.at(nowMs + this.#random.uniform(0, 1000), this.#change);
    this.#context.schedule.at(nowMs + this.#random.uniform(0, 2000), this.#trade);
    if (this.#context.opportunitiesPerHour() > 0) this.#planOpportunity(nowMs);
    this.#context.schedule.at(window.endTimeMs + habits.emptiedDelayMs, (atMs) =>
      this.#empty(atMs, EMPTYING_ACTIONS),
    );
  }

  /** Mid of Up in thousandths; null while one-sided. */
  get mid(): number | null {
    const { ladder } = this.book;
    return ladder.isTwoSided ? (ladder.bestBid + ladder.bestAsk) / 2 : null;
  }

  /** Changes the tick size from 0.01 to 0.001 now, at any price. */
  refineTick(nowMs: number): void {
    if (this.book.tick === 1) return;
    this.#emit(nowMs, this.book.refineTick(this.#stamp(nowMs)));
    this.market.fate.tickText = this.book.tickText;
  }

  /**
   * Quotes the two tokens at these best asks (thousandths), apart if their sum is below 1, until the end of the window.
   * Nobody else acts meanwhile.
   */
  quoteApart(nowMs: number, { upAsk, downAsk }: { upAsk: number; downAsk: number }): void {
    if (this.#isEmptied) return;
    this.#isParted = true;
    const target = { bid: upAsk - CENT, ask: upAsk };
    const sets = requoteLevels(this.book.ladder, target, {
      tick: this.book.tick,
      random: this.#opportunityRandom,
    });
    if (sets.length > 0) this.#act(nowMs, sets);
    this.#emit(nowMs, this.book.part({ ask: downAsk, size: OFFERED_SIZE }, this.#stamp(nowMs)));
  }

  /** The value of Up to the makers, 0..1. */
  fair(nowMs: number): number {
    return fairUp(this.market, { prices: this.#context.prices, nowMs });
  }

  readonly #requote = (atMs: number): void => {
    if (this.#isEmptied) return;
    const { ticker, window, habits } = this.market.facts;
    const isEnded = atMs >= window.endTimeMs;
    const usualMs = isEnded ? 2000 : quoteWaitMs(window.endTimeMs - window.startTimeMs);
    const waitMs = usualMs * quotePatience(ticker);
    this.#context.schedule.at(atMs + waitMs * this.#random.uniform(0.6, 1.4), this.#requote);
    if (this.#isParted) return;
    const { ladder } = this.book;
    const mid = this.mid;
    const isExtreme = mid !== null && (mid > REFINES_ABOVE || mid < NO_ASK - REFINES_ABOVE);
    if (habits.refinesTick && isExtreme && atMs > window.startTimeMs) this.refineTick(atMs);
    const target = this.#target(atMs);
    const sets = requoteLevels(ladder, target, { tick: this.book.tick, random: this.#random });
    if (sets.length === 0) return;
    this.#clumpUntilMs = atMs + CLUMP_MS;
    this.#act(atMs, sets);
  };

  readonly #change = (atMs: number): void => {
    if (this.#isEmptied) return;
    const { ticker, eventType, window } = this.market.facts;
    const isOpen = atMs >= window.startTimeMs && atMs < window.endTimeMs;
    const clump = atMs < this.#clumpUntilMs ? CLUMP_FACTOR : CALM_FACTOR;
    const rate = changesPerSecond(ticker, eventType, isOpen) * this.#context.density() * clump;
    const waitMs = this.#random.exponential(1000 / Math.max(rate, MIN_CHANGES_PER_SECOND));
    this.#context.schedule.at(atMs + waitMs, this.#change);
    if (this.#isParted) return;
    const sets = changedLevels(this.book.ladder, this.#random);
    if (sets.length > 0) this.#act(atMs, sets);
  };

  readonly #trade = (atMs: number): void => {
    if (this.#isEmptied) return;
    this.#context.schedule.at(this.#nextTradeMs(atMs), this.#trade);
    if (this.#isParted) return;
    const { sets, prints } = consumedLevels(this.book, this.#random);
    if (prints.length === 0) return;
    this.#clumpUntilMs = atMs + CLUMP_MS;
    this.#act(atMs, sets, prints);
    this.market.fate.lastTradePrice = this.book.lastTradePrice;
  };

  #nextTradeMs(atMs: number): number {
    const { ticker, eventType, window } = this.market.facts;
    const after = (fromMs: number, perMinute: number) =>
      fromMs + this.#random.exponential(60_000 / perMinute);
    if (atMs < window.startTimeMs) {
      const nextMs = after(atMs, QUIET_ORDERS_PER_MINUTE);
      if (nextMs < window.startTimeMs) return nextMs;
    }
    // Nobody waits at the pace from before the opening once the window is open.
    const fromMs = Math.max(atMs, window.startTimeMs);
    const elapsed = Math.min(1, (fromMs - window.startTimeMs) / (window.endTimeMs - window.startTimeMs));
    return after(fromMs, ordersPerMinute({ ticker, eventType, elapsed, mid: this.mid }));
  }

  #planOpportunity(nowMs: number): void {
    const waitMs = this.#opportunityRandom.exponential(HOUR_MS / this.#context.opportunitiesPerHour());
    if (nowMs + waitMs < this.market.facts.window.endTimeMs) {
      this.#context.schedule.at(nowMs + waitMs, (atMs) => this.#part(atMs));
    }
  }

  /** Quotes Down apart from Up for a few seconds. */
  #part(atMs: number): void {
    this.#planOpportunity(atMs);
    const offer = cheapOffer(this.book.ladder, this.#opportunityRandom);
    if (this.#isEmptied || this.#isParted || offer === null) return;
    this.#isParted = true;
    this.#emit(atMs, this.book.part(offer, this.#stamp(atMs)));
    this.#context.schedule.at(atMs + this.#opportunityRandom.exponential(OPPORTUNITY_LASTS_MS), (endMs) =>
      this.#join(endMs),
    );
  }

  #join(atMs: number): void {
    if (!this.#isParted) return;
    this.#isParted = false;
    this.#emit(atMs, this.book.part(null, this.#stamp(atMs)));
  }

  #empty(atMs: number, actionsLeft: number): void {
    this.#join(atMs);
    this.#isEmptied = true;
    const { ladder } = this.book;
    const levels = (['bid', 'ask'] as const).flatMap((side) =>
      ladder.prices(side).map((price) => ({ side, price, size: 0 })),
    );
    const count = Math.ceil(levels.length / actionsLeft);
    if (count > 0) this.#act(atMs, levels.slice(0, count));
    if (actionsLeft > 1)
      this.#context.schedule.at(atMs + 300, (laterMs) => this.#empty(laterMs, actionsLeft - 1));
  }

  /** The makers' target for the best prices. */
  #target(nowMs: number): Target {
    const { window, habits } = this.market.facts;
    const tick = this.book.tick;
    const fair = this.fair(nowMs);
    if (nowMs < window.startTimeMs - TWAP_SECONDS * 1000) return { bid: 490, ask: 510 };
    const secondsLeft = (window.endTimeMs - nowMs) / 1000;
    const { oneSidedDraw: draw } = habits;
    this.#onlySide = onlySide({ fair, secondsLeft, draw, before: this.#onlySide });
    if (this.#onlySide !== null) return oneSidedTarget(this.#onlySide, fair, tick);
    this.#noise = 0.8 * this.#noise + QUOTE_NOISE * 0.6 * this.#random.normal();
    if (this.#random.chance(0.3)) this.#spread = spreadTicks(this.#random, tick === 1);
    return quotesRound(fair * 1000 + this.#noise * 4 * fair * (1 - fair), this.#spread * tick, tick);
  }

  #act(atMs: number, sets: readonly LevelSet[], prints: readonly Print[] = []): void {
    this.#emit(atMs, this.book.apply(sets, this.#stamp(atMs), prints));
  }

  #emit(atMs: number, frames: readonly WireFrame[]): void {
    for (const frame of frames) this.#context.emit(atMs, this.market, frame);
  }

  #stamp(atMs: number): number {
    const { low, high } = this.#context.latencyMs;
    return Math.floor(atMs - this.#random.uniform(low, high) + this.#context.stampOffsetMs());
  }
}

/** Makers requote short windows twice a second, longer ones less often. */
function quoteWaitMs(lengthMs: number): number {
  if (lengthMs <= 300_000) return 500;
  return lengthMs <= 900_000 ? 900 : 1800;
}

function quotesRound(mid: number, spread: number, tick: number): Target {
  const bid = Math.round((mid - spread / 2) / tick) * tick;
  const lowest = tick;
  const highest = NO_ASK - tick - spread;
  const bounded = Math.min(highest, Math.max(lowest, bid));
  return { bid: bounded, ask: bounded + spread };
}
