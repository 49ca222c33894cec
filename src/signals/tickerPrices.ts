import { isLate } from '../core/lateness.ts';
import { SecondPrices } from '../core/pricing/secondPrices.ts';
import { VolatilityEstimator } from '../core/pricing/volatilityEstimator.ts';
import { UNDERLYING_AGE_MAX_MS } from '../recorder/underlyingPriceCache.ts';
import type { UnderlyingEvent, UnderlyingSource } from '../schema/events.ts';
import { FeedBasis } from './feedBasis.ts';

/** Sources of a spot price, the one with the most trades first. The relayed average is not one of them. */
const SPOT_SOURCES = ['binance_spot', 'coinbase_spot', 'chainlink'] as const;
export type SpotSource = (typeof SPOT_SOURCES)[number];

/** The feed that resolves the market: the relayed feed, or an exchange. */
export type Decider = 'chainlink' | 'exchange';

/** A price and its source; `basis` is the shift of an exchange's price to the level of the deciding feed. */
export interface Spot {
  readonly price: number;
  readonly source: SpotSource;
  readonly basis: number | null;
}

export interface Sigma {
  readonly annual: number;
  readonly source: SpotSource;
  readonly windowSeconds: number;
}

/** Fresh prices, with and without their sources, in the order of `SPOT_SOURCES`. */
interface SourcePrices {
  readonly bySource: readonly { readonly source: SpotSource; readonly price: number }[];
  readonly prices: readonly number[];
}

export const NO_SOURCES: SourcePrices = { bySource: [], prices: [] };

/** One past price: enough to restore the state after a restart. */
export type PricePoint = Pick<UnderlyingEvent, 'source' | 'price' | 'eventTimeMs' | 'receivedTimeMs'>;

/** One ticker's newest prices by source, and an hour of them at one per second, in memory. */
export class TickerPrices {
  readonly #last = new Map<UnderlyingSource, PricePoint>();
  readonly #estimators = new Map(SPOT_SOURCES.map((source) => [source, new VolatilityEstimator()] as const));
  /** Placed as for a window's end price: a relayed point at its second, a trade at the second that ends with it. */
  readonly #seconds = new Map(SPOT_SOURCES.map((source) => [source, new SecondPrices()] as const));
  readonly #basis = new FeedBasis();
  readonly #sigmas = new Map<number, Sigma | null>();
  #sigmaSecond = -1;
  /** Cached for the last requested time: all markets of the ticker request the same. */
  #sources: SourcePrices = NO_SOURCES;
  #sourcesMs = Number.NaN;

  push(point: PricePoint): void {
    const { source, price, eventTimeMs } = point;
    this.#sourcesMs = Number.NaN;
    const last = this.#last.get(source);
    // A late point belongs to a second that a mean may still need, but is not a current price.
    const isNews = !isLate(point);
    if (isNews && (last === undefined || eventTimeMs >= last.eventTimeMs)) this.#last.set(source, point);
    if (source === 'twap60') return;
    this.#estimators.get(source)?.push(eventTimeMs, price);
    this.#seconds.get(source)?.push(secondOf(point), price);
    if (!isNews) return;
    if (source === 'chainlink') {
      this.#basis.relayed(eventTimeMs, price);
    } else if (source === this.#fastest(point.receivedTimeMs)) this.#basis.traded(eventTimeMs, price, source);
  }

  /**
   * The current price from the deciding feed's view. A relayed feed arrives seconds late, so where it decides, the
   * exchange's price is used, shifted by the difference of the two.
   * @returns Null if no source is fresh.
   */
  spot(decider: Decider, nowMs: number): Spot | null {
    const fast = this.#fastest(nowMs);
    const relayed = this.#fresh('chainlink', nowMs);
    if (fast === null) return relayed && { price: relayed.price, source: 'chainlink', basis: null };
    const { price } = this.#last.get(fast) as PricePoint;
    if (decider === 'exchange') return { price, source: fast, basis: null };
    const basis = this.#basis.value(fast, nowMs);
    if (basis !== null) return { price: price * Math.exp(basis), source: fast, basis };
    return relayed === null
      ? { price, source: fast, basis: null }
      : { price: relayed.price, source: 'chainlink', basis: null };
  }

  /** Fresh prices by source, unshifted. */
  sources(nowMs: number): SourcePrices {
    if (nowMs === this.#sourcesMs) return this.#sources;
    const fresh = SPOT_SOURCES.flatMap((source) => {
      const point = this.#fresh(source, nowMs);
      return point === null ? [] : [{ source, price: point.price }];
    });
    this.#sources = { bySource: fresh, prices: fresh.map(({ price }) => price) };
    this.#sourcesMs = nowMs;
    return this.#sources;
  }

  /** Volatility over windows of that length, computed at most once a second. */
  sigma(windowSeconds: number, nowMs: number): Sigma | null {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.#sigmaSecond) this.#sigmas.clear();
    this.#sigmaSecond = second;
    const known = this.#sigmas.get(windowSeconds);
    if (known !== undefined) return known;
    const sigma = this.#sigmaOf(windowSeconds, nowMs);
    this.#sigmas.set(windowSeconds, sigma);
    return sigma;
  }

  /**
   * Mean of the deciding feed since `fromMs`; seconds that have not arrived count with the current price. A strike
   * estimated from an exchange is compared with the mean of that exchange: the relay's mean would be off by the
   * difference of the two.
   */
  insideMean(asked: { decider: Decider; fromMs: number; nowMs: number; spot: Spot }): number | null {
    const { decider, fromMs, nowMs } = asked;
    const spot = asked.spot.price;
    const source = decider === 'chainlink' ? 'chainlink' : asked.spot.source;
    const last = this.#last.get(source);
    const toMs = last === undefined ? 0 : Math.min(nowMs, secondOf(last));
    const seconds = Math.floor(nowMs / 1_000) - Math.floor(fromMs / 1_000);
    const relayed = Math.floor(toMs / 1_000) - Math.floor(fromMs / 1_000);
    if (seconds - Math.max(relayed, 0) > UNDERLYING_AGE_MAX_MS / 1_000) return null;
    if (relayed <= 0) return spot;
    const mean = this.#seconds.get(source)?.mean({ fromMs, toMs }) ?? null;
    return mean === null ? null : (mean * relayed + spot * (seconds - relayed)) / seconds;
  }

  #sigmaOf(windowSeconds: number, nowMs: number): Sigma | null {
    for (const source of SPOT_SOURCES) {
      if (this.#fresh(source, nowMs) === null) continue;
      const annual = this.#estimators.get(source)?.sigmaAnnual(windowSeconds) ?? null;
      if (annual !== null) return { annual, source, windowSeconds };
    }
    return null;
  }

  #fastest(nowMs: number): 'binance_spot' | 'coinbase_spot' | null {
    if (this.#fresh('binance_spot', nowMs) !== null) return 'binance_spot';
    return this.#fresh('coinbase_spot', nowMs) === null ? null : 'coinbase_spot';
  }

  #fresh(source: SpotSource, nowMs: number): PricePoint | null {
    const point = this.#last.get(source);
    return point === undefined || nowMs - point.receivedTimeMs > UNDERLYING_AGE_MAX_MS ? null : point;
  }
}

/** The time that a point's price belongs to. */
function secondOf({ source, eventTimeMs }: PricePoint): number {
  return source === 'chainlink' ? eventTimeMs : Math.ceil(eventTimeMs / 1_000) * 1_000;
}
