/** The newest prices of the underlying and the newest perpetual books of a run, as received. */
import type {
  PerpDepthEvent,
  PerpVenueName,
  UnderlyingEvent,
  UnderlyingSource,
} from '../../schema/events.ts';
import type { Ticker } from '../../schema/market.ts';
import { isLate } from '../lateness.ts';
import { UnderlyingState } from '../session/underlyingState.ts';
import type { PriceLevel } from './definition.ts';

export interface NewestPrice {
  readonly price: number;
  readonly eventTimeMs: number;
  readonly receivedMs: number;
}

interface PerpBook {
  readonly bids: readonly PriceLevel[];
  readonly asks: readonly PriceLevel[];
}

export class RunFeeds {
  readonly #usesModel: boolean;
  readonly #prices = new Map<string, NewestPrice>();
  readonly #states = new Map<string, UnderlyingState>();
  readonly #depths = new Map<string, PerpDepthEvent>();

  constructor({ usesModel }: { readonly usesModel: boolean }) {
    this.#usesModel = usesModel;
  }

  onPrice(event: UnderlyingEvent): void {
    const { ticker, source, price, eventTimeMs, receivedTimeMs: receivedMs } = event;
    if (this.#usesModel) this.underlying(ticker, source).push({ receivedMs, eventMs: eventTimeMs, price });
    // A late price is a price of the past.
    if (!isLate(event)) this.#prices.set(`${ticker} ${source}`, { price, eventTimeMs, receivedMs });
  }

  onDepth(depth: PerpDepthEvent): void {
    this.#depths.set(`${depth.ticker} ${depth.venue}`, depth);
  }

  /** Shared by all markets that this feed decides. */
  underlying(ticker: Ticker, source: UnderlyingSource): UnderlyingState {
    const key = `${ticker} ${source}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const state = new UnderlyingState({ sigmaFromMs: Number.POSITIVE_INFINITY });
    this.#states.set(key, state);
    return state;
  }

  price(ticker: Ticker, source: UnderlyingSource): NewestPrice | null {
    return this.#prices.get(`${ticker} ${source}`) ?? null;
  }

  depth(ticker: Ticker, venue: PerpVenueName): PerpBook | null {
    const depth = this.#depths.get(`${ticker} ${venue}`);
    return depth === undefined ? null : { bids: levelsOf(depth.bids), asks: levelsOf(depth.asks) };
  }
}

function levelsOf(levels: PerpDepthEvent['bids']): PriceLevel[] {
  return levels.map(([price, size]) => ({ price: Number(price), size: Number(size) }));
}
