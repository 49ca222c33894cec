/** Names used by every part: tickers, windows, and the record of one market. */

/** Every asset that can be followed, in the order of every answer; `UNDERROUND_TICKERS` chooses among them. */
export const TICKERS = ['BTC', 'ETH', 'SOL', 'XRP', 'DOGE', 'BNB', 'HYPE', 'ZEC'] as const;
export type Ticker = (typeof TICKERS)[number];
/** The assets followed without a choice of the operator. */
export const DEFAULT_TICKERS: readonly Ticker[] = ['BTC', 'ETH', 'SOL'];

/** The assets that one service follows, in the order of `TICKERS`: `UNDERROUND_TICKERS`. */
export interface FollowedAssets {
  readonly tickers: readonly Ticker[];
}

/** Window kinds in the order of every answer. The venue's `daily` is `daily_up_down` for users. */
export const EVENT_TYPES = ['5m', '15m', '1h', '4h', 'daily_up_down'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The address of a market's page at the venue. */
export function venuePageUrl(slug: string): string {
  return `https://polymarket.com/event/${slug}`;
}

/** For markets outside the followed series: imported recordings may contain them. */
export const UNKNOWN = 'unknown';
export type MarketTicker = Ticker | typeof UNKNOWN;
export type MarketEventType = EventType | typeof UNKNOWN;

export type MarketStatus = 'open' | 'closed' | 'resolved';
export type Outcome = 'Up' | 'Down';
/** Origin of the strike: the venue, its price stream as relayed to this service, or an estimate of this service. */
export type StrikeSource = 'official' | 'relayed' | 'estimated';

/** Where a strike or a close was read, best first within each source; `docs/SETTLEMENT.md` has the rules. */
export const PRICE_BASES = {
  /** `priceToBeat` and `finalPrice` of the venue's listing. */
  listing: 'official',
  /** The venue's website: its own statement of one window's open price, earlier than the listing's and undocumented. */
  crypto_price: 'official',
  /** The deciding price itself, from its own feed. */
  twap_relay: 'relayed',
  chainlink_relay: 'relayed',
  binance_candle: 'relayed',
  /** The average of relayed one-second points, with none missing. */
  chainlink_ticks: 'estimated',
  /** The same price on a market other than the deciding one; off by the difference between the two. */
  binance_trades: 'estimated',
} as const satisfies Record<string, StrikeSource>;
export type PriceBasis = keyof typeof PRICE_BASES;

/** The feeds that can decide a market, as named by its own listing. */
export type DecidingFeed =
  | 'chainlink_spot'
  | 'chainlink_twap'
  | 'binance_spot'
  | 'binance_futures'
  /** A listing of an hour or a day names prices that this service does not read: nothing is guessed. */
  | 'unknown';
/** Where the venue gave a market's own taker delay. */
type TakerDelaySource = 'listing' | 'exchange';

/** The source that reported the winner first. The listing confirms the stream's or the exchange's report. */
export const RESOLUTION_SOURCES = ['stream', 'exchange', 'listing'] as const;
export type ResolvedBy = (typeof RESOLUTION_SOURCES)[number];

/** Origins of a market's strike, close and outcome, stored beside them as evidence. */
export interface SettlementFacts {
  strikeBasis: PriceBasis | null;
  /** When the current strike became known; a replay may not know it sooner. */
  strikeKnownTimeMs: number | null;
  /** The current strike minus the next best source's, USD. */
  strikeDifference: number | null;
  closeBasis: PriceBasis | null;
  closeKnownTimeMs: number | null;
  closeDifference: number | null;
  /**
   * The payout by the venue's rule from this service's strike and close: 1, 0 or 0.5; null where the two cannot be
   * compared.
   */
  computedPayoutYes: number | null;
  /** Whether the venue's payout differs from the computed one; null until both exist. */
  winnerDisagrees: boolean | null;
  resolvedBy: ResolvedBy | null;
  /** The source of `resolvedTimeMs`; null where an earlier release stored it. */
  resolvedTimeSource: ResolvedBy | null;
  /** When the listing was first read with an outcome. */
  confirmedTimeMs: number | null;
  /** Length of the average in the listing of this market; it overrides the table of rules. */
  twapLookbackSeconds: number | null;
  /** The deciding feed in the listing of this market; it overrides the table. Null: the listing names none. */
  decidingFeed: DecidingFeed | null;
  /** The source of `takerDelayMs`; null without one. */
  takerDelaySource: TakerDelaySource | null;
  /**
   * When fee, tick size and average were last read from the listing, and the version of the rules table at that time.
   */
  rulesReadTimeMs: number | null;
  rulesVersion: string | null;
}

/** The settlement facts of a market before any is known. */
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
  decidingFeed: null,
  takerDelaySource: null,
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
  /** The window that decides the outcome, not the time of the market's publication. */
  startTimeMs: number;
  endTimeMs: number;
  strikePrice: number | null;
  strikeSource: StrikeSource | null;
  closePrice: number | null;
  outcome: Outcome | null;
  /** Payout of one YES share: 1, 0, or 0.5 for a tied daily. Null until resolved. */
  payoutYes: number | null;
  /** From the first source that reported one: a published time is not replaced by a later source's. */
  resolvedTimeMs: number | null;
  volume: number | null;
  liquidity: number | null;
  /** Tick size, in ticks of 1/10000 USDC. */
  tickSize: number;
  takerFeeRate: number | null;
  takerFeeExponent: number | null;
  /** The venue's delay for this one market; null: the table of rules applies. */
  takerDelayMs: number | null;
  /**
   * When the first verified state of its book was received. Null if there is none yet, or if an earlier release or an
   * import has recorded it: then its quotes contain the time.
   */
  recordedSinceMs: number | null;
}
