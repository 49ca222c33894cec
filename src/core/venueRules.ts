/**
 * The venue's rules by date: fees, the taker hold, tick sizes, and the deciding prices of a window. One table, so that
 * no rule of today is applied to last year. A market's own listing takes precedence over the table (`feeOfMarket`).
 */
import type { UnderlyingSource } from '../schema/events.ts';
import {
  type DecidingFeed,
  type EventType,
  type Market,
  type MarketTicker,
  type Ticker,
  UNKNOWN,
} from '../schema/market.ts';
import {
  FEES,
  type FeeRule,
  HOLDS,
  MAKER_REBATES,
  MINIMUM_SIZES,
  OFFICIAL_STRIKES,
  type Row,
  SETTLEMENTS,
  type SettlementRule,
  TICKS,
  type TickRule,
} from './venueRulesTable.ts';

/**
 * The table's version in receipts and audit rows: its date and a fingerprint of all its rows. It is written here because
 * this code computes no hash of its own; a test compares it with the table.
 */
export const VENUE_RULES_VERSION = '2026-11-22-d34d5342cbe0';

interface VenueRules {
  /** `VENUE_RULES_VERSION` of the table these came from. */
  readonly version: string;
  readonly fee: FeeRule;
  /** How long the venue holds a marketable order before it matches it. */
  readonly takerHoldMs: number;
  readonly tick: TickRule;
  /** Of an order that may rest, in units. */
  readonly minimumSize: number;
  /** Share of the taker fee that the maker of a fill can expect. */
  readonly makerRebate: number;
  readonly settlement: SettlementRule;
  /** Whether the listing states strike and close; null if the first day is unknown. */
  readonly statesStrike: boolean | null;
}

/**
 * The rules in force at a time.
 * @param timeMs Unix milliseconds. For fee, hold and tick: when the order trades. For the settlement: when the window
 * STARTS; a window keeps the rule it opened under.
 */
export function venueRulesAt(eventType: EventType, ticker: Ticker, timeMs: number): VenueRules {
  const asked = { eventType, ticker, timeMs };
  return {
    version: VENUE_RULES_VERSION,
    fee: inForce(FEES, asked),
    takerHoldMs: inForce(HOLDS, asked),
    tick: inForce(TICKS, asked),
    minimumSize: inForce(MINIMUM_SIZES, asked),
    makerRebate: inForce(MAKER_REBATES, asked),
    settlement: inForce(SETTLEMENTS, asked),
    statesStrike: inForce(OFFICIAL_STRIKES, asked),
  };
}

/** The period around a time in which the rules for orders do not change; `fromMs` is inside, `untilMs` is not. */
export function unchangedAround(timeMs: number): { fromMs: number; untilMs: number } {
  let [fromMs, untilMs] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (const row of [...FEES, ...HOLDS, ...TICKS, ...MINIMUM_SIZES, ...MAKER_REBATES]) {
    if (row.fromMs <= timeMs) fromMs = Math.max(fromMs, row.fromMs);
    else untilMs = Math.min(untilMs, row.fromMs);
  }
  return { fromMs, untilMs };
}

/** The fee in a market's own listing; null if the listing states none. */
interface ListedFee {
  readonly takerFeeRate: number | null;
  readonly takerFeeExponent: number | null;
}

/** The fee of one market: as listed (Gamma `feeSchedule`, CLOB `fd`), else the table's at `timeMs`. */
export function feeOfMarket(
  market: ListedFee & { readonly eventType: EventType; readonly ticker: Ticker },
  timeMs: number,
): FeeRule & { readonly from: 'listing' | 'table' } {
  const table = venueRulesAt(market.eventType, market.ticker, timeMs).fee;
  const { takerFeeRate, takerFeeExponent } = market;
  if (takerFeeRate === null) return { ...table, from: 'table' };
  const exponent = takerFeeExponent ?? table.exponent;
  // The listing has only two numbers; whether the formula of that time had one more factor follows from the table.
  const base = exponent === table.exponent ? table.base : 'share';
  return { ...table, rate: takerFeeRate, exponent, base, from: 'listing' };
}

/** Assets whose hours and days the USD-M futures decide, by every listing seen (2026-03-15 to 2026-07-27). */
const FUTURES_DECIDE: ReadonlySet<MarketTicker> = new Set<MarketTicker>(['HYPE']);
/** The average of windows whose listing names an average without its length: the only one in use since 2026-08-14. */
const LOOKBACK_SECONDS = 60;

type SettledMarket = Pick<
  Market,
  'eventType' | 'ticker' | 'startTimeMs' | 'twapLookbackSeconds' | 'decidingFeed'
>;

/**
 * The settlement rule of a market: the rule its window opened under, unless its own listing names another feed or
 * another length of the average. The candles of a rule are on the exchange that the listing names.
 * @returns Null for a market of an imported recording without known series, and for one whose listing names a feed
 * that has no rule here.
 */
export function settlementOfMarket(market: SettledMarket): SettlementRule | null {
  const { decidingFeed, twapLookbackSeconds } = market;
  const byTable = tableSettlementOf(market);
  if (byTable === null) return null;
  switch (decidingFeed ?? feedOf(byTable, market.ticker)) {
    case 'chainlink_spot':
      return { kind: 'chainlink_spot', tie: 'up' };
    case 'chainlink_twap': {
      const ofTable = byTable.kind === 'chainlink_twap' ? byTable.lookbackSeconds : LOOKBACK_SECONDS;
      return { kind: 'chainlink_twap', lookbackSeconds: twapLookbackSeconds ?? ofTable, tie: 'up' };
    }
    case 'binance_spot':
    case 'binance_futures':
      return isCandle(byTable) ? byTable : null;
    default:
      return null;
  }
}

/**
 * Whether the prices that decide a market are recorded here. Those of the futures market are not, and a strike of one
 * market must not be compared with prices of another.
 */
export function isDecidingPriceRecorded(market: SettledMarket): boolean {
  const byTable = tableSettlementOf(market);
  if (byTable === null || settlementOfMarket(market) === null) return false;
  return (market.decidingFeed ?? feedOf(byTable, market.ticker)) !== 'binance_futures';
}

/** The recorded feed nearest to the price that decides the market. */
export function decidingSource(market: SettledMarket): UnderlyingSource {
  const kind = settlementOfMarket(market)?.kind ?? market.decidingFeed;
  // Only listings of hours and days name an unknown feed.
  return kind === 'unknown' || kind?.startsWith('binance_') ? 'binance_spot' : 'chainlink';
}

/** Whether the market's own listing names another rule than the table has for its window. */
export function contradictsTable(market: SettledMarket): boolean {
  const { decidingFeed, twapLookbackSeconds } = market;
  const byTable = tableSettlementOf(market);
  if (byTable === null) return false;
  if (decidingFeed !== null && decidingFeed !== feedOf(byTable, market.ticker)) return true;
  const isTwap = byTable.kind === 'chainlink_twap' && twapLookbackSeconds !== null;
  return isTwap && byTable.lookbackSeconds !== twapLookbackSeconds;
}

function tableSettlementOf({ eventType, ticker, startTimeMs }: SettledMarket): SettlementRule | null {
  if (eventType === UNKNOWN || ticker === UNKNOWN) return null;
  return venueRulesAt(eventType, ticker, startTimeMs).settlement;
}

/** The feed with the prices that a rule of the table compares. */
function feedOf(rule: SettlementRule, ticker: MarketTicker): DecidingFeed {
  if (isCandle(rule)) return FUTURES_DECIDE.has(ticker) ? 'binance_futures' : 'binance_spot';
  return rule.kind;
}

function isCandle(rule: SettlementRule): rule is Extract<SettlementRule, { kind: `binance_${string}` }> {
  return rule.kind === 'binance_hour' || rule.kind === 'binance_minute';
}

interface Asked {
  readonly eventType: EventType;
  readonly ticker: Ticker;
  readonly timeMs: number;
}

/** The newest matching row; every list begins with one that always matches. */
function inForce<T>(rows: readonly Row<T>[], { eventType, ticker, timeMs }: Asked): T {
  let found: Row<T> | undefined;
  for (const row of rows) {
    if (row.fromMs > timeMs) continue;
    if (row.eventTypes && !row.eventTypes.includes(eventType)) continue;
    if (row.tickers && !row.tickers.includes(ticker)) continue;
    if (found === undefined || row.fromMs >= found.fromMs) found = row;
  }
  if (found === undefined) throw new RangeError(`no venue rule for ${eventType} at ${timeMs}`);
  return found.is;
}
