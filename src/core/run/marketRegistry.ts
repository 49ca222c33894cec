import type { Ticker } from '../../schema/market.ts';
import type { MarketView } from './definition.ts';
import type { MarketTracker } from './marketTracker.ts';
import { BookInForce, MarketFacts, ModelReading, type RunClock } from './views.ts';

interface KnownMarket {
  readonly tracker: MarketTracker;
  readonly facts: MarketFacts;
  readonly book: BookInForce;
  readonly model: ModelReading;
}

/** The markets in play: received, and not resolved. */
export class MarketRegistry {
  readonly #clock: RunClock;
  readonly #known = new Map<string, KnownMarket>();
  readonly #ofTicker = new Map<Ticker, MarketTracker[]>();
  /** Markets that were in play, or that the strategy did not ask for. */
  readonly #left = new Set<string>();
  /** By the start of the window. */
  #byStart: MarketFacts[] = [];
  /** The answer of `open`, valid until the first window of it ends. */
  #open: readonly MarketView[] = [];
  #openUntilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: RunClock) {
    this.#clock = clock;
  }

  add(tracker: MarketTracker): void {
    const { market } = tracker;
    const facts = new MarketFacts(tracker, this.#clock);
    this.#known.set(market.marketId, {
      ...{ tracker, facts },
      ...{ book: new BookInForce(tracker), model: new ModelReading(tracker) },
    });
    const others = this.#ofTicker.get(market.ticker) ?? [];
    this.#ofTicker.set(market.ticker, [...others, tracker]);
    const later = this.#byStart.findIndex(({ startTimeMs }) => startTimeMs > market.startTimeMs);
    this.#byStart.splice(later < 0 ? this.#byStart.length : later, 0, facts);
    this.#openUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Ignores all further items of a market. */
  leave(marketId: string): void {
    this.#left.add(marketId);
    const known = this.#known.get(marketId);
    if (known === undefined) return;
    this.#known.delete(marketId);
    const { ticker } = known.tracker.market;
    const others = this.#ofTicker.get(ticker) ?? [];
    this.#ofTicker.set(
      ticker,
      others.filter((tracker) => tracker !== known.tracker),
    );
    this.#byStart = this.#byStart.filter((facts) => facts !== known.facts);
    this.#openUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** @returns Null if the market is no longer in play. @throws {RangeError} If it was never received. */
  inPlay(marketId: string): MarketTracker | null {
    const known = this.#known.get(marketId);
    if (known !== undefined) return known.tracker;
    if (this.#left.has(marketId)) return null;
    throw new RangeError(`an item of market ${marketId} before the market itself`);
  }

  /** @throws {RangeError} If the market was not received, or is no longer in play. */
  known(marketId: string): KnownMarket {
    const known = this.#known.get(marketId);
    if (known !== undefined) return known;
    const why = this.#left.has(marketId) ? 'is resolved and no longer known' : 'has not been received';
    throw new RangeError(`market ${JSON.stringify(marketId)} ${why}`);
  }

  ofTicker(ticker: Ticker): readonly MarketTracker[] {
    return this.#ofTicker.get(ticker) ?? [];
  }

  /** Whether a listing of this market came before. */
  has(marketId: string): boolean {
    return this.#known.has(marketId) || this.#left.has(marketId);
  }

  *trackers(): IterableIterator<MarketTracker> {
    for (const { tracker } of this.#known.values()) yield tracker;
  }

  /** Markets whose window has not ended, oldest window first. */
  open(nowMs: number): readonly MarketView[] {
    if (nowMs < this.#openUntilMs) return this.#open;
    const open = this.#byStart.filter(({ endTimeMs }) => endTimeMs > nowMs);
    this.#open = Object.freeze(open);
    this.#openUntilMs = Math.min(...open.map(({ endTimeMs }) => endTimeMs));
    return open;
  }
}
