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

/** Where a strike or a close was read, best first within each source; `docs/SETTLEMENT.md` says which decides what. */
export const PRICE_BASES = {
  /** `priceToBeat` and `finalPrice` of the venue's listing. */
  listing: 'official',
  /** The deciding price itself, as its own feed gave it to us. */
  twap_relay: 'relayed',
  chainlink_relay: 'relayed',
  binance_candle: 'relayed',
  /** The average made of relayed one-second points, none missing. */
  chainlink_ticks: 'estimated',
  /** The same price on another market than the deciding one: off by what the two differ. */
  binance_trades: 'estimated',
} as const satisfies Record<string, StrikeSource>;
export type PriceBasis = keyof typeof PRICE_BASES;

/** Who named the winner first. The listing confirms what the stream or the exchange said. */
export const RESOLUTION_SOURCES = ['stream', 'exchange', 'listing'] as const;
export type ResolvedBy = (typeof RESOLUTION_SOURCES)[number];

/** How a market's strike, close and outcome came to be known; kept beside them so that each can be proven. */
export interface SettlementFacts {
  strikeBasis: PriceBasis | null;
  /** When we got to know the strike that stands; a reader of the past may not know it sooner. */
  strikeKnownTimeMs: number | null;
  /** The strike that stands minus the next best source's, USD. */
  strikeDifference: number | null;
  closeBasis: PriceBasis | null;
  closeKnownTimeMs: number | null;
  closeDifference: number | null;
  /** What our strike and close make of the venue's rule: 1, 0 or 0.5; null where the two cannot be compared. */
  computedPayoutYes: number | null;
  /** The venue's payout is another than the computed one; null until both are there. */
  winnerDisagrees: boolean | null;
  resolvedBy: ResolvedBy | null;
  /** Who stated `resolvedTimeMs`; null where an earlier release stored it. */
  resolvedTimeSource: ResolvedBy | null;
  /** When the listing was first read with the outcome. */
  confirmedTimeMs: number | null;
  /** The average's length as listed for this market; wins over the table of rules. */
  twapLookbackSeconds: number | null;
  /** When fee, step and average were last read from the listing, and the rules table in force then. */
  rulesReadTimeMs: number | null;
  rulesVersion: string | null;
}

/** Nothing is known about the settlement yet. */
export const NO_SETTLEMENT: SettlementFacts = {
  strikeBasis: null,
  strikeKnownTimeMs: null,
  strikeDifference: null,
  closeBasis: null,
  closeKnownTimeMs: null,
  closeDifference: null,
  computedPayoutYes: null,
  winnerDisagrees: null,
  resolvedBy: null,
  resolvedTimeSource: null,
  confirmedTimeMs: null,
  twapLookbackSeconds: null,
  rulesReadTimeMs: null,
  rulesVersion: null,
};

/** One market: one window of one series. Times are Unix milliseconds; money is USD; fees are fractions. */
export interface Market extends SettlementFacts {
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
  /** Of the first source that gave one: what was served once is not replaced by what another source says later. */
  resolvedTimeMs: number | null;
  volume: number | null;
  liquidity: number | null;
  /** Smallest price step, in ticks of 1/10000 USDC. */
  tickSize: number;
  takerFeeRate: number | null;
  takerFeeExponent: number | null;
  takerDelayMs: number | null;
  /**
   * When we received the first proven state of its book. Null: none so far, or an earlier release or an import has it,
   * and then the quotes tell.
   */
  recordedSinceMs: number | null;
}
