import type { PerpDepthEvent } from '../../schema/events.ts';
import { TICKERS, type Ticker } from '../../schema/market.ts';
import { BinanceDepthBook } from '../../venues/binance/depthBook.ts';
import { binanceSymbol } from '../../venues/binance/mapper.ts';

/** Updates remembered per symbol: minutes of the fastest stream. */
const UPDATES_MAX = 1_000;

interface Update {
  readonly first: number;
  readonly last: number;
}

/**
 * The futures books of a recording. A REST snapshot does not name its symbol: it is used while the recording has named
 * a single one. Of several, it is the one whose updates alone enclose its id, once the updates of all have passed it.
 */
export class BinanceFutures {
  readonly #books = new Map<Ticker, BinanceDepthBook>();
  readonly #updates = new Map<Ticker, Update[]>();
  #snapshot: { readonly frame: string; readonly id: number } | null = null;

  /** @returns The books that changed. Frames of other symbols and spot frames change none. */
  apply(
    frame: string,
    message: Readonly<Record<string, unknown>>,
    receivedTimeMs: number,
  ): readonly PerpDepthEvent[] {
    // Only futures updates name the previous update, and only futures snapshots carry a time.
    if (message.e === 'depthUpdate' && message.pu !== undefined) {
      const ticker = TICKERS.find((one) => binanceSymbol(one) === message.s);
      if (ticker === undefined) return [];
      this.#note(ticker, { first: Number(message.U), last: Number(message.u) });
      const depth = this.#bookOf(ticker).apply(frame, ticker, receivedTimeMs);
      return [depth, this.#join(receivedTimeMs)].filter((event) => event !== null);
    }
    if (message.lastUpdateId === undefined || message.E === undefined) return [];
    const [only, ...others] = this.#updates.keys();
    if (only === undefined) return [];
    if (others.length > 0) this.#snapshot = { frame, id: Number(message.lastUpdateId) };
    const depth =
      others.length > 0 ? this.#join(receivedTimeMs) : this.#bookOf(only).apply(frame, only, receivedTimeMs);
    return depth === null ? [] : [depth];
  }

  #note(ticker: Ticker, update: Update): void {
    const updates = this.#updates.get(ticker) ?? [];
    this.#updates.set(ticker, updates);
    if (updates.length === UPDATES_MAX) updates.shift();
    updates.push(update);
  }

  /** Applies the snapshot that waits for its symbol, if it is certain now. */
  #join(receivedTimeMs: number): PerpDepthEvent | null {
    if (this.#snapshot === null) return null;
    const { frame, id } = this.#snapshot;
    const symbols = [...this.#updates];
    if (symbols.some(([, updates]) => (updates.at(-1)?.last ?? 0) < id)) return null;
    this.#snapshot = null;
    const enclosing = symbols.filter(([, updates]) =>
      updates.some(({ first, last }) => first <= id && id <= last),
    );
    const [ticker] = enclosing.length === 1 ? (enclosing[0] ?? []) : [];
    // A book that has its chain is newer than the snapshot.
    if (ticker === undefined || !this.#bookOf(ticker).isWaiting) return null;
    return this.#bookOf(ticker).apply(frame, ticker, receivedTimeMs);
  }

  #bookOf(ticker: Ticker): BinanceDepthBook {
    const book = this.#books.get(ticker) ?? new BinanceDepthBook('usdm', binanceSymbol(ticker));
    this.#books.set(ticker, book);
    return book;
  }
}
