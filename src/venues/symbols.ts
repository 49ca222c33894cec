import { TICKERS, type Ticker } from '../schema/market.ts';

/** A venue's symbol for each ticker; null where it has none, and then its feed leaves the ticker out. */
export type VenueNames = Readonly<Record<Ticker, string | null>>;

/** The ticker that a venue calls `name`; null when it is none of ours. */
export function tickerNamed(names: VenueNames, name: string | undefined): Ticker | null {
  return TICKERS.find((ticker) => names[ticker] === name) ?? null;
}

/** The names of a venue that spells every ticker by one rule. */
export function namesBy(nameOf: (ticker: Ticker) => string): Readonly<Record<Ticker, string>> {
  return Object.fromEntries(TICKERS.map((ticker) => [ticker, nameOf(ticker)])) as Record<Ticker, string>;
}
