import { TICKERS, type Ticker } from '../schema/market.ts';

/** A venue's symbol for each ticker; null where it has none, and then its feed leaves the ticker out. */
export type VenueNames = Readonly<Record<Ticker, string | null>>;

/** The ticker that a venue calls `name`; null when it is none of ours. */
export function tickerNamed(names: VenueNames, name: string | undefined): Ticker | null {
  return TICKERS.find((ticker) => names[ticker] === name) ?? null;
}
