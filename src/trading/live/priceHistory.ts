import type { UnderlyingSource } from '../../schema/events.ts';
import type { Ticker } from '../../schema/market.ts';

/** A market's volatility and mean use prices from at most this long before its window. */
export const HISTORY_MS = 3_600_000;
/** Prices kept per feed; ten a second for an hour are 36,000. */
const POINTS_MAX = 200_000;
/** Points dropped at once, so that dropping costs little per price. */
const DROP_AT_ONCE = 4_096;

export interface PriceFeed {
  readonly ticker: Ticker;
  readonly source: UnderlyingSource;
}

export interface PricePoint {
  readonly seq: number;
  readonly receivedMs: number;
  readonly eventMs: number;
  readonly price: number;
}

/** The last hour of prices of every feed, for upcoming markets. */
export class PriceHistory {
  readonly #feeds = new Map<string, PricePoint[]>();

  push(feed: PriceFeed, point: PricePoint): void {
    const points = this.#of(feed);
    points.push(point);
    const oldest = points[DROP_AT_ONCE];
    const isOld = oldest !== undefined && oldest.receivedMs < point.receivedMs - HISTORY_MS;
    if (isOld || points.length > POINTS_MAX) points.splice(0, DROP_AT_ONCE);
  }

  /** Prepends recorded prices older than the first pushed one. */
  prepend(feed: PriceFeed, before: readonly PricePoint[]): void {
    const points = this.#of(feed);
    const firstSeq = points[0]?.seq ?? Number.POSITIVE_INFINITY;
    const older = before.filter(({ seq }) => seq < firstSeq);
    this.#feeds.set(feedKey(feed), [...older, ...points].slice(-POINTS_MAX));
  }

  points(feed: PriceFeed): readonly PricePoint[] {
    return this.#of(feed);
  }

  #of(feed: PriceFeed): PricePoint[] {
    const known = this.#feeds.get(feedKey(feed));
    if (known !== undefined) return known;
    const points: PricePoint[] = [];
    this.#feeds.set(feedKey(feed), points);
    return points;
  }
}

export function feedKey({ ticker, source }: PriceFeed): string {
  return `${ticker} ${source}`;
}
