/** The names every part shares: tickers, windows, and the record of one market. */

export const TICKERS = ['BTC', 'ETH', 'SOL'] as const;
export type Ticker = (typeof TICKERS)[number];

/** Window kinds in the order every answer lists them. The venue's `daily` is `daily_up_down` to our users. */
export const EVENT_TYPES = ['5m', '15m', '1h', '4h', 'daily_up_down'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** A market is one of the series we follow; imported recordings may hold markets we know nothing about. */
export const UNKNOWN = 'unknown';
export type MarketTicker = Ticker | typeof UNKNOWN;
export type MarketEventType = EventType | typeof UNKNOWN;

export type MarketStatus = 'open' | 'closed' | 'resolved';
export type Outcome = 'Up' | 'Down';
/** Who said what the strike is: the venue, its price stream as relayed to us, or our own estimate. */
export type StrikeSource = 'official' | 'relayed' | 'estimated';

/** One market: one window of one series. Times are Unix milliseconds; money is USD; fees are fractions. */
export interface Market {
  /** The venue's condition id: `0x` and 64 hex digits. */
  marketId: string;
  eventId: string;
  slug: string;
  question: string;
  eventType: MarketEventType;
  ticker: MarketTicker;
  /** Token of the outcome Up (YES) and of Down (NO): decimal strings of up to 78 digits. */
  yesTokenId: string;
  noTokenId: string;
  status: MarketStatus;
  /** The window that decides the outcome, not the publication of the market. */
  startTimeMs: number;
  endTimeMs: number;
  strikePrice: number | null;
  strikeSource: StrikeSource | null;
  closePrice: number | null;
  outcome: Outcome | null;
  /** What one YES share pays: 1, 0, or 0.5 for a tied daily. Null until resolved. */
  payoutYes: number | null;
  resolvedTimeMs: number | null;
  volume: number | null;
  liquidity: number | null;
  /** Smallest price step, in ticks of 1/10000 USDC. */
  tickSize: number;
  takerFeeRate: number | null;
  takerFeeExponent: number | null;
  takerDelayMs: number | null;
}
