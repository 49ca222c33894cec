/**
 * The markets that the simulated venue lists. A market's identity and habits depend only on the seed and its slug,
 * so they do not depend on the order of requests. Prices in USD, times in Unix milliseconds.
 */

import { Random } from '../core/random.ts';
import { DEFAULT_TICKERS, EVENT_TYPES, type EventType, type Outcome, type Ticker } from '../schema/market.ts';
import { type ProtocolVersion, shortMarketId } from '../schema/protocol.ts';
import { seriesSlugOf } from '../venues/polymarket/lifecycle/series.ts';
import {
  nextWindow,
  parseSlug,
  slugOf,
  type Window,
  windowAt,
} from '../venues/polymarket/lifecycle/windows.ts';

const HOUR_MS = 3_600_000;
/** The venue lists a window 23.85-23.9 h before it opens. */
const LISTED_AHEAD_MS = 23.9 * HOUR_MS;
/** How long an ended market can still be found. */
const KEPT_MS = 48 * HOUR_MS;

/** Constant facts of a market. */
export interface MarketFacts {
  readonly ticker: Ticker;
  readonly eventType: EventType;
  readonly window: Window;
  readonly slug: string;
  readonly gammaId: string;
  readonly eventId: string;
  readonly version: ProtocolVersion;
  /** 64 hex digits in both versions. */
  readonly conditionId: string;
  /** The condition id in Gamma's form: 62 hex digits in V2. */
  readonly listedId: string;
  readonly upToken: string;
  readonly downToken: string;
  readonly createdMs: number;
  readonly habits: MarketHabits;
}

/** Peculiarities of the venue, drawn once per market with the measured shares. Delays count from the window's end. */
interface MarketHabits {
  readonly resolvedDelayMs: number;
  /** `market_resolved` is never sent for one market in five. */
  readonly resolvedFrameMissing: boolean;
  readonly closedDelayMs: number;
  /** Delay until Gamma shows the market as final. */
  readonly finalDelayMs: number;
  readonly emptiedDelayMs: number;
  readonly strikeDelayMs: number;
  readonly strikeMissing: boolean;
  readonly finalPriceMissing: boolean;
  readonly refinesTick: boolean;
  /** A market is two-sided while the measured share of two-sided markets is above this. */
  readonly oneSidedDraw: number;
  readonly missing: ReadonlySet<'volume' | 'liquidity' | 'bestBid' | 'lastTradePrice'>;
  readonly hasFraction: boolean;
  readonly volume: number;
  readonly liquidity: number;
}

/** The changing state and outcome of a market. Null means not known yet. */
interface MarketFate {
  strike: number | null;
  finalPrice: number | null;
  outcome: Outcome | null;
  /** 1, 0, or 0.5 for a tied daily window. */
  payoutUp: number | null;
  /** Gamma shows it as closed and final. */
  isFinal: boolean;
  /** The order book is permanently removed. */
  isSettled: boolean;
  tickText: string;
  lastTradePrice: string;
}

export interface SimulatedMarket {
  readonly facts: MarketFacts;
  readonly fate: MarketFate;
}

/** Shown before a market's first trade, as recorded. */
const FIRST_TRADE_PRICE: Record<ProtocolVersion, string> = { v1: '0.500', v2: '' };

const DAILY_VOLUME_SHARE: Record<EventType, number> = {
  '5m': 1,
  '15m': 0.75,
  '1h': 0.7,
  '4h': 0.5,
  daily_up_down: 2,
};
const TICKER_SHARE: Record<Ticker, number> = {
  BTC: 1,
  ETH: 0.04,
  SOL: 0.015,
  XRP: 0.01,
  DOGE: 0.004,
  BNB: 0.003,
  HYPE: 0.0005,
  ZEC: 0.0002,
};

export class MarketRegistry {
  readonly #seed: string;
  readonly #startMs: number;
  readonly #tickers: readonly Ticker[];
  readonly #v2FromMs: number;
  readonly #bySlug = new Map<string, SimulatedMarket>();
  readonly #byId = new Map<string, SimulatedMarket>();

  /**
   * @param startMs Markets that ended before this time never existed.
   * @param options.tickers The assets with markets.
   * @param options.v2FromMs Windows that start at or after this time run on protocol V2; default: none.
   */
  constructor(
    seed: string,
    startMs: number,
    {
      tickers = DEFAULT_TICKERS,
      v2FromMs = Number.POSITIVE_INFINITY,
    }: { tickers?: readonly Ticker[]; v2FromMs?: number | undefined } = {},
  ) {
    this.#seed = seed;
    this.#startMs = startMs;
    this.#tickers = tickers;
    this.#v2FromMs = v2FromMs;
  }

  ofWindow(ticker: Ticker, eventType: EventType, window: Window): SimulatedMarket {
    const slug = slugOf(ticker, eventType, window);
    const known = this.#bySlug.get(slug);
    if (known) return known;
    const version = window.startTimeMs >= this.#v2FromMs ? 'v2' : 'v1';
    const facts = drawFacts(this.#seed, { ticker, eventType, window, slug, version });
    const market = { facts, fate: newFate(version) };
    this.#bySlug.set(slug, market);
    for (const id of [market.facts.conditionId, market.facts.upToken, market.facts.downToken]) {
      this.#byId.set(id, market);
    }
    return market;
  }

  /** A market listed at `nowMs`, by the slug that the venue uses today; null when there is none. */
  bySlug(slug: string, nowMs: number): SimulatedMarket | null {
    const parsed = parseSlug(slug);
    const window = parsed?.windows[0];
    if (!parsed || !window || parsed.yearless || !this.#tickers.includes(parsed.ticker)) return null;
    const market = this.ofWindow(parsed.ticker, parsed.eventType, window);
    return market.facts.slug === slug && this.#isListed(market, nowMs) ? market : null;
  }

  /** A market by condition id or token, among those that were requested or simulated. */
  byId(id: string): SimulatedMarket | null {
    return this.#byId.get(id) ?? null;
  }

  /** Every listed market of the series, or of all series, ordered by end. */
  listed(
    nowMs: number,
    range: { series: readonly string[]; endMinMs: number; endMaxMs: number },
  ): SimulatedMarket[] {
    const found: SimulatedMarket[] = [];
    for (const ticker of this.#tickers) {
      for (const eventType of EVENT_TYPES) {
        const slug = seriesSlugOf(ticker, eventType);
        const isWanted = slug !== null && (range.series.length === 0 || range.series.includes(slug));
        if (isWanted) this.#collect(found, { ticker, eventType, nowMs, range });
      }
    }
    return found.sort((a, b) => a.facts.window.endTimeMs - b.facts.window.endTimeMs);
  }

  /** Forgets markets that ended long ago. */
  prune(nowMs: number): void {
    for (const [slug, { facts }] of this.#bySlug) {
      if (facts.window.endTimeMs > nowMs - KEPT_MS) continue;
      this.#bySlug.delete(slug);
      for (const id of [facts.conditionId, facts.upToken, facts.downToken]) this.#byId.delete(id);
    }
  }

  #collect(
    into: SimulatedMarket[],
    ask: {
      ticker: Ticker;
      eventType: EventType;
      nowMs: number;
      range: { endMinMs: number; endMaxMs: number };
    },
  ): void {
    const { ticker, eventType, nowMs, range } = ask;
    const firstMs = Math.max(this.#startMs, range.endMinMs - 1, nowMs - KEPT_MS);
    let window = windowAt(eventType, firstMs);
    while (window.startTimeMs - LISTED_AHEAD_MS <= nowMs && window.endTimeMs <= range.endMaxMs) {
      const market = this.ofWindow(ticker, eventType, window);
      if (window.endTimeMs >= range.endMinMs && this.#isListed(market, nowMs)) into.push(market);
      window = nextWindow(eventType, window);
    }
  }

  #isListed({ facts }: SimulatedMarket, nowMs: number): boolean {
    return facts.createdMs <= nowMs && facts.window.endTimeMs > Math.max(this.#startMs, nowMs - KEPT_MS);
  }
}

function newFate(version: ProtocolVersion): MarketFate {
  return {
    strike: null,
    finalPrice: null,
    outcome: null,
    payoutUp: null,
    isFinal: false,
    isSettled: false,
    tickText: '0.01',
    lastTradePrice: FIRST_TRADE_PRICE[version],
  };
}

function drawFacts(
  seed: string,
  named: { ticker: Ticker; eventType: EventType; window: Window; slug: string; version: ProtocolVersion },
): MarketFacts {
  const random = new Random(`${seed}/facts/${named.slug}`);
  const listing = { gammaId: random.decimal(7), eventId: random.decimal(6) };
  // Drawn in both versions, so that a market has the same habits in either.
  const hash = random.hex(64);
  const ids = { conditionId: `0x${hash}`, upToken: random.decimal(77), downToken: random.decimal(77) };
  return {
    ...named,
    ...listing,
    ...(named.version === 'v2' ? v2Ids(hash) : { ...ids, listedId: ids.conditionId }),
    createdMs: named.window.startTimeMs - Math.round(random.uniform(23.85, 23.9) * HOUR_MS),
    habits: drawHabits(random, named),
  };
}

/**
 * The ids of a V2 market. A position id has, from the highest bit: module 8 (1: binary), base hash 128, arity 16,
 * reserved 64, resolution chain 16, condition index 16, outcome index 8. The condition id is all but the last.
 * @see https://docs.polymarket.com/resources/onchain-position-data (read 2026-10-05); true of the recorded test market.
 */
function v2Ids(hash: string): Pick<MarketFacts, 'conditionId' | 'listedId' | 'upToken' | 'downToken'> {
  const conditionId = `0x01${hash.slice(0, 32)}${'0'.repeat(30)}`;
  const upToken = BigInt(conditionId);
  return {
    conditionId,
    listedId: shortMarketId(conditionId) ?? conditionId,
    upToken: String(upToken),
    downToken: String(upToken + 1n),
  };
}

function drawHabits(random: Random, named: { ticker: Ticker; eventType: EventType }): MarketHabits {
  const missing = new Set<'volume' | 'liquidity' | 'bestBid' | 'lastTradePrice'>();
  if (random.chance(0.15)) missing.add('volume');
  if (random.chance(0.34)) missing.add('liquidity');
  if (random.chance(0.34)) missing.add('bestBid');
  if (random.chance(0.01)) missing.add('lastTradePrice');
  const volumeMedian = 37_000 * DAILY_VOLUME_SHARE[named.eventType] * TICKER_SHARE[named.ticker];
  const closedDelayMs = closedAfter(random, named.eventType);
  // A daily window is decided by the candle that begins at its end.
  const late = named.eventType === 'daily_up_down' ? 62_000 : 0;
  return {
    resolvedDelayMs: Math.round(random.uniform(115_000, 155_000)) + late,
    resolvedFrameMissing: random.chance(0.2),
    closedDelayMs: closedDelayMs + late,
    finalDelayMs: Math.max(closedDelayMs, bounded(random.lognormal(95_000, 0.6), 15_000, 300_000)) + late,
    emptiedDelayMs: Math.round(random.uniform(20_000, 60_000)) + late,
    strikeDelayMs: Math.round(random.uniform(4_000, 25_000)) + late,
    strikeMissing: random.chance(0.08),
    finalPriceMissing: random.chance(0.1),
    refinesTick: random.chance(0.75),
    oneSidedDraw: random.next(),
    missing,
    hasFraction: random.chance(0.7),
    volume: random.lognormal(volumeMedian, 0.6),
    liquidity: random.lognormal(15_000, 0.4),
  };
}

/** Windows that an average decides are closed later than others (measured 2026-10: 53-152 s, median 55). */
function closedAfter(random: Random, eventType: EventType): number {
  const isAverage = eventType !== '1h' && eventType !== 'daily_up_down';
  if (isAverage) return 53_000 + bounded(random.lognormal(2_000, 1.5), 0, 99_000);
  return bounded(random.lognormal(20_000, 0.4), 15_000, 300_000);
}

function bounded(value: number, low: number, high: number): number {
  return Math.round(Math.min(high, Math.max(low, value)));
}

/** Hours and days are decided by an exchange's candles, other windows by an average. */
export function isByCandle(eventType: EventType): boolean {
  return eventType === '1h' || eventType === 'daily_up_down';
}

/** Whether the candles are those of the futures market: for HYPE, which had no spot market before 2026-09-24. */
export function decidedByFutures({ ticker, eventType }: Pick<MarketFacts, 'ticker' | 'eventType'>): boolean {
  return ticker === 'HYPE' && isByCandle(eventType);
}
