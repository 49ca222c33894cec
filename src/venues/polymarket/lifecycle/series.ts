/**
 * The series of crypto up/down windows: which exist, and the irregular names in their slugs and titles. Read live on
 * 2026-09-17 and 2026-10-01.
 */
import { EVENT_TYPES, type EventType, type Ticker } from '../../../schema/market.ts';
import type { VenueNames } from '../../symbols.ts';

/** All markets with one asset and one window length. */
export interface Series {
  readonly ticker: Ticker;
  readonly eventType: EventType;
}

/** In the slugs of 5-minute, 15-minute and 4-hour windows and of their series. */
export const SHORT_NAMES: VenueNames = {
  BTC: 'btc',
  ETH: 'eth',
  SOL: 'sol',
  XRP: 'xrp',
  DOGE: 'doge',
  BNB: 'bnb',
  HYPE: 'hype',
  ZEC: 'zec',
};
/** In the slugs of hours and days; null: the asset has neither. */
export const FULL_NAMES: VenueNames = {
  BTC: 'bitcoin',
  ETH: 'ethereum',
  SOL: 'solana',
  XRP: 'xrp',
  DOGE: 'dogecoin',
  BNB: 'bnb',
  HYPE: 'hype',
  ZEC: null,
};
/** In the slugs of the series of hours, and of days. */
const HOURLY_NAMES: VenueNames = { ...SHORT_NAMES, SOL: 'solana', ZEC: null };
const DAILY_NAMES: VenueNames = { ...HOURLY_NAMES, DOGE: 'dogecoin' };

/** The slug of the series that lists every window of a ticker and kind; null if the venue has no such series. */
export function seriesSlugOf(ticker: Ticker, eventType: EventType): string | null {
  if (eventType === '1h') return HOURLY_NAMES[ticker] && `${HOURLY_NAMES[ticker]}-up-or-down-hourly`;
  if (eventType === 'daily_up_down') return DAILY_NAMES[ticker] && `${DAILY_NAMES[ticker]}-up-or-down-daily`;
  return `${SHORT_NAMES[ticker]}-up-or-down-${eventType}`;
}

/** The venue's series of these assets: by kind, and by asset within a kind. */
export function seriesOf(tickers: readonly Ticker[]): Series[] {
  return EVENT_TYPES.flatMap((eventType) =>
    tickers
      .filter((ticker) => seriesSlugOf(ticker, eventType) !== null)
      .map((ticker) => ({ ticker, eventType })),
  );
}
