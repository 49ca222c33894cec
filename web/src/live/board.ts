import type { LiveWindow } from '../api/schema.ts';
import { type BookMessage, bookIn, LEVELS, type Side } from './bookMessage.ts';
import type { Level, LiveMarket, LiveState } from './messages.ts';
import { priceMarket } from './outlook.ts';
import { TickerPrices } from './tickerPrices.ts';

/** Seconds of mids kept for each market. */
const TRAIL_SECONDS = 180;
/** An older price says nothing about now: the service's own rule. */
const PRICE_AGE_MAX_MS = 10_000;

interface Shown {
  book: BookMessage;
  timeMs: number;
  trail: (number | null)[];
  trailSecond: number;
}

/** Newest book of every market, priced when the page is refreshed and not per message. */
export class Board {
  readonly #shown = new Map<string, Shown>();
  readonly #markets = new Map<string, LiveWindow>();
  /** The causes of each market's open gaps, by their ids: rows that were lost have a gap of their own. */
  readonly #gaps = new Map<string, Map<string, string>>();
  /** Markets whose newest snapshot could not be read. */
  readonly #unreadable = new Set<string>();
  readonly #prices = new Map<string, TickerPrices>();
  /** When each ticker's newest price was read. */
  readonly #pricedMs = new Map<string, number>();
  #newestBookMs: number | null = null;
  #aheadMs = 0;

  /** @param aheadMs How far the service's clock is ahead of this machine's. */
  setMarkets(markets: readonly LiveWindow[], aheadMs: number): void {
    this.#aheadMs = aheadMs;
    for (const market of markets) this.#markets.set(market.market_id, market);
    const known = new Set(markets.map(({ market_id }) => market_id));
    for (const marketId of this.#shown.keys()) {
      if (!known.has(marketId)) {
        this.#shown.delete(marketId);
        this.#markets.delete(marketId);
        this.#gaps.delete(marketId);
      }
    }
    for (const marketId of this.#unreadable) if (!known.has(marketId)) this.#unreadable.delete(marketId);
  }

  /**
   * Replaces a ticker's prices: prices received meanwhile are newer, and older ones cannot be inserted before them.
   * @param nowMs When they were read, by this machine's clock. Prices are never newer, also where the clocks differ by
   * too little to be noticed.
   */
  seedPrices(
    ticker: string,
    points: readonly (readonly [timeMs: number, price: number])[],
    nowMs: number,
  ): void {
    const prices = new TickerPrices();
    for (const [timeMs, price] of points) prices.push(timeMs, price);
    this.#prices.set(ticker, prices);
    this.#priceRead(ticker, Math.min((points.at(-1)?.[0] ?? 0) - this.#aheadMs, nowMs));
  }

  /**
   * Applies the text of a snapshot. After an unreadable one, the market has no pushed book until the next: the old one
   * would look current, and polls have a newer one.
   * @param nowMs When the message was read, by this machine's clock.
   */
  pushText(marketId: string, text: string, nowMs: number): void {
    const book = bookIn(text);
    if (book === null) {
      this.#shown.delete(marketId);
      this.#unreadable.add(marketId);
      return;
    }
    this.#unreadable.delete(marketId);
    this.pushBook(book, nowMs);
  }

  /** @param nowMs When the message was read, by this machine's clock. */
  pushBook(book: BookMessage, nowMs: number): void {
    const timeMs = Date.parse(book.ts);
    this.#newestBookMs = nowMs;
    if (book.underlying_price !== null) {
      const prices = this.#prices.get(book.underlying_ticker) ?? new TickerPrices();
      this.#prices.set(book.underlying_ticker, prices);
      prices.push(timeMs, book.underlying_price);
      this.#priceRead(book.underlying_ticker, nowMs);
    }
    const shown = this.#shown.get(book.market_id);
    if (shown === undefined) {
      this.#shown.set(book.market_id, { book, timeMs, trail: [], trailSecond: 0 });
    } else {
      shown.book = book;
      shown.timeMs = timeMs;
    }
  }

  /** @param cause Null: the gap is closed. */
  setGap(marketId: string, gapId: string, cause: string | null): void {
    const open = this.#gaps.get(marketId) ?? new Map<string, string>();
    this.#gaps.set(marketId, open);
    if (cause === null) open.delete(gapId);
    else open.set(gapId, cause);
  }

  #priceRead(ticker: string, timeMs: number): void {
    this.#pricedMs.set(ticker, Math.max(timeMs, this.#pricedMs.get(ticker) ?? 0));
  }

  /** The prices of a ticker; undefined while none is current. */
  #currentPrices(ticker: string, nowMs: number): TickerPrices | undefined {
    const isCurrent = nowMs - (this.#pricedMs.get(ticker) ?? 0) <= PRICE_AGE_MAX_MS;
    return isCurrent ? this.#prices.get(ticker) : undefined;
  }

  /** A gap may have closed without a connection. The service reports the open ones after the first snapshots. */
  onConnected(): void {
    this.#gaps.clear();
  }

  /** @param isLive Books are being pushed; otherwise the mid of this second is unknown. */
  stateAt(
    nowMs: number,
    isLive: boolean,
  ): Pick<LiveState, 'markets' | 'tickers' | 'newestBookMs' | 'unreadable'> {
    const tickers = Object.fromEntries(
      [...this.#prices].map(([ticker, prices]) => [
        ticker,
        {
          price: this.#currentPrices(ticker, nowMs)?.price ?? null,
          sigmaAnnual: prices.sigmaAnnual(nowMs),
        },
      ]),
    );
    const markets = Object.fromEntries(
      [...this.#shown].map(([id, shown]) => [id, this.#lookAt(shown, nowMs, isLive)]),
    );
    return { markets, tickers, newestBookMs: this.#newestBookMs, unreadable: this.#unreadable.size };
  }

  #lookAt(shown: Shown, nowMs: number, isLive: boolean): LiveMarket {
    const { book, timeMs } = shown;
    const gap = [...(this.#gaps.get(book.market_id)?.values() ?? [])].at(-1) ?? null;
    lengthenTrail(shown, nowMs, isLive && gap === null);
    const market = this.#markets.get(book.market_id);
    const nothing = { distance: null, modelProbability: null };
    return {
      ...{ marketId: book.market_id, timeMs, trusted: book.trusted, gap, underlying: book.underlying_price },
      yesBids: levels(book.yes_bids),
      yesAsks: levels(book.yes_asks),
      noBids: levels(book.no_bids),
      noAsks: levels(book.no_asks),
      trail: [...shown.trail],
      ...(market === undefined
        ? nothing
        : priceMarket(market, this.#currentPrices(market.ticker, nowMs), nowMs + this.#aheadMs)),
    };
  }
}

/** @param isKnown The book is the venue's at this moment; otherwise the mid of this second is unknown. */
function lengthenTrail(shown: Shown, nowMs: number, isKnown: boolean): void {
  const second = Math.floor(nowMs / 1000);
  if (second === shown.trailSecond) return;
  const { book } = shown;
  const [bid, ask] = [book.yes_bids[0], book.yes_asks[0]];
  shown.trail.push(isKnown && book.trusted && bid && ask ? (bid.price + ask.price) / 2 : null);
  if (shown.trail.length > TRAIL_SECONDS) shown.trail.shift();
  shown.trailSecond = second;
}

function levels(side: readonly Side[]): Level[] {
  return side.slice(0, LEVELS).map(({ price, size }) => [price, size]);
}
