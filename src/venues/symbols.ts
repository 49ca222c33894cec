import { TICKERS, type Ticker } from '../schema/market.ts';

/** A venue's own name of each ticker. */
export type VenueNames = Readonly<Record<Ticker, string>>;

/** The ticker a venue calls `name`; null when it is none of ours. */
export function tickerNamed(names: VenueNames, name: string | undefined): Ticker | null {
  return TICKERS.find((ticker) => names[ticker] === name) ?? null;
}
