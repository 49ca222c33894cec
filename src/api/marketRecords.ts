/**
 * Reads market records: followed markets from memory, all others from the store. So a window that opened while the
 * store lags is found, and an outdated record is never shown.
 */
import { TICKS_PER_USDC } from '../core/money.ts';
import { recordedShare } from '../core/recordedShare.ts';
import { venueRulesAt } from '../core/venueRules.ts';
import type { MarketLookup } from '../http/marketLookup.ts';
import type { Clock } from '../runtime/clock.ts';
import type { MarketBody } from '../schema/api/resources.ts';
import type { Gap } from '../schema/gap.ts';
import { type Market, UNKNOWN, venuePageUrl } from '../schema/market.ts';
import { formatTime, formatTimeOrNull } from '../schema/time.ts';
import { firstQuoteTimes } from '../store/queries/coverage.ts';
import {
  countMarkets,
  listMarkets,
  loadMarket,
  type MarketFilter,
  type MarketPosition,
  type MarketQuery,
} from '../store/queries/markets.ts';
import { loadGapsOf } from '../store/queries/resume.ts';

const NO_GAPS: readonly Gap[] = [];
const NO_QUOTES: ReadonlyMap<string, number> = new Map();

export interface MarketDependencies extends MarketLookup {
  readonly clock: Clock;
}

/** Null if the market does not exist. @param options Passed on unread; see `loadMarket`. */
export async function marketRecord(
  parts: MarketDependencies,
  marketId: string,
  options: { readonly signal: AbortSignal },
): Promise<MarketBody | null> {
  const market = parts.live.followed.market(marketId) ?? (await loadMarket(parts.store, marketId, options));
  if (market === null) return null;
  // Not as a list of one: a single market needs no rows sorted by market.
  const { store, clock } = parts;
  const nowMs = clock.now();
  const hasBegun = market.startTimeMs < nowMs;
  const gaps = hasBegun ? await loadGapsOf(store, [marketId], options) : NO_GAPS;
  const isUnsaid = hasBegun && market.recordedSinceMs === null;
  const firstQuotes = isUnsaid ? await firstQuoteTimes(store, [marketId], options) : NO_QUOTES;
  return bodyOf(parts, market, { gaps, firstQuoteMs: firstQuotes.get(marketId) ?? null, nowMs });
}

/** Newest end first; at most `limit` records. */
export async function marketRecords(
  parts: MarketDependencies,
  query: MarketQuery,
  signal: AbortSignal,
): Promise<MarketBody[]> {
  const { limit, after } = query;
  const { selected, except } = followedOf(parts, query);
  const stored = await listMarkets(parts.store, { ...query, except }, signal);
  const listed = [...stored, ...selected.filter((market) => after === null || isBefore(after, market))]
    .sort((a, b) => (isBefore(a, b) ? -1 : 1))
    .slice(0, limit);
  return bodiesOf(parts, listed, { signal });
}

export async function countMarketRecords(
  parts: MarketDependencies,
  filter: MarketFilter,
  signal: AbortSignal,
): Promise<number> {
  const { selected, except } = followedOf(parts, filter);
  return selected.length + (await countMarkets(parts.store, { ...filter, except }, signal));
}

/**
 * The followed markets that match a filter, and ids that the store query must exclude. All followed ids are excluded,
 * because stored versions may be older.
 */
function followedOf(
  { live }: MarketDependencies,
  { ticker, eventType, status, sinceMs, untilMs }: MarketFilter,
): { selected: Market[]; except: string[] } {
  const followed = [...live.followed.markets()];
  const selected = followed.filter(
    (market) =>
      (ticker === null || market.ticker === ticker) &&
      (eventType === null || market.eventType === eventType) &&
      (status === null || market.status === status) &&
      (sinceMs === null || market.endTimeMs >= sinceMs) &&
      (untilMs === null || market.endTimeMs < untilMs),
  );
  return { selected, except: followed.map(({ marketId }) => marketId) };
}

/** Whether `a` comes before `b` in a list. */
function isBefore(a: MarketPosition, b: MarketPosition): boolean {
  return a.endTimeMs === b.endTimeMs ? a.marketId > b.marketId : a.endTimeMs > b.endTimeMs;
}

/** Coverage counts rows and gaps that still wait for the store. */
async function bodiesOf(
  parts: MarketDependencies,
  markets: readonly Market[],
  options: { readonly signal: AbortSignal },
): Promise<MarketBody[]> {
  const { store, clock } = parts;
  const nowMs = clock.now();
  const begun = markets.filter(({ startTimeMs }) => startTimeMs < nowMs);
  const unsaid = begun.filter(({ recordedSinceMs }) => recordedSinceMs === null);
  const idsOf = (some: readonly Market[]) => some.map(({ marketId }) => marketId);
  const [storedGaps, firstQuotes] = await Promise.all([
    begun.length === 0 ? NO_GAPS : loadGapsOf(store, idsOf(begun), options),
    unsaid.length === 0 ? NO_QUOTES : firstQuoteTimes(store, idsOf(unsaid), options),
  ]);
  const gapsByMarket = new Map<string, Gap[]>(markets.map(({ marketId }) => [marketId, []]));
  for (const gap of storedGaps) gapsByMarket.get(gap.marketId)?.push(gap);
  return markets.map((market) =>
    bodyOf(parts, market, {
      gaps: gapsByMarket.get(market.marketId) ?? NO_GAPS,
      firstQuoteMs: firstQuotes.get(market.marketId) ?? null,
      nowMs,
    }),
  );
}

/** @param stored What the store knows of the market's coverage. */
function bodyOf(
  { live }: MarketDependencies,
  market: Market,
  stored: { readonly gaps: readonly Gap[]; readonly firstQuoteMs: number | null; readonly nowMs: number },
): MarketBody {
  const { marketId, startTimeMs, endTimeMs, recordedSinceMs } = market;
  const { nowMs } = stored;
  const gaps = newestGaps(stored.gaps, live.followed.gaps(marketId));
  const share = recordedShare(
    { fromMs: startTimeMs, toMs: endTimeMs },
    {
      sinceMs: recordedSinceMs ?? stored.firstQuoteMs,
      lost: gaps.map((gap) => ({ fromMs: gap.startTimeMs, toMs: gap.endTimeMs ?? nowMs })),
      nowMs,
    },
  );
  return marketBody(market, share);
}

/** A gap in memory replaces its stored version. */
function newestGaps(stored: readonly Gap[], inMemory: readonly Gap[]): readonly Gap[] {
  if (inMemory.length === 0) return stored;
  const known = new Set(inMemory.map(({ gapId }) => gapId));
  return [...stored.filter(({ gapId }) => !known.has(gapId)), ...inMemory];
}

/** The venue's delay for the market; where it gave none, the one in force when the window opens. */
function takerDelayOf({ eventType, ticker, startTimeMs, takerDelayMs }: Market): number | null {
  if (takerDelayMs !== null || eventType === UNKNOWN || ticker === UNKNOWN) return takerDelayMs;
  return venueRulesAt(eventType, ticker, startTimeMs).takerHoldMs;
}

/** A record as the API shows it. */
function marketBody(market: Market, coverage: number): MarketBody {
  return {
    market_id: market.marketId,
    event_id: market.eventId,
    slug: market.slug,
    question: market.question,
    market_type: market.eventType,
    ticker: market.ticker,
    status: market.status,
    start_time: formatTime(market.startTimeMs),
    end_time: formatTime(market.endTimeMs),
    strike_price: market.strikePrice,
    strike_source: market.strikeSource,
    close_price: market.closePrice,
    outcome: market.outcome,
    payout_yes: market.payoutYes,
    coverage,
    resolved_at: formatTimeOrNull(market.resolvedTimeMs),
    resolved_at_source: market.resolvedTimeSource,
    volume: market.volume,
    liquidity: market.liquidity,
    tick_size: market.tickSize / TICKS_PER_USDC,
    taker_fee_rate: market.takerFeeRate,
    taker_delay_ms: takerDelayOf(market),
    polymarket_url: market.slug === UNKNOWN ? null : venuePageUrl(market.slug),
  };
}
