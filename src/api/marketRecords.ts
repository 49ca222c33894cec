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
import { type Market, UNKNOWN } from '../schema/market.ts';
import { formatTime, formatTimeOrNull } from '../schema/time.ts';
import { firstQuoteTimes } from '../store/queries/coverage.ts';
import {
  countMarkets,
  EVENT_URL,
  findMarket,
  listMarkets,
  type MarketFilter,
  type MarketPosition,
  type MarketQuery,
} from '../store/queries/markets.ts';
import { loadGapsOf } from '../store/queries/resume.ts';

export interface MarketDependencies extends MarketLookup {
  readonly clock: Clock;
}

/** Null if the market does not exist. @param options Passed on to `findMarket`; see there. */
export async function marketRecord(
  parts: MarketDependencies,
  marketId: string,
  options: { readonly signal: AbortSignal },
): Promise<MarketBody | null> {
  const market = parts.live.followed.market(marketId);
  if (market === null) {
    const stored = await findMarket(parts.store, marketId, options);
    return stored && withTakerDelay(stored);
  }
  const [body] = await bodiesOf(parts, [market], options);
  return body ?? null;
}

/** Newest end first; at most `limit` records. */
export async function marketRecords(
  parts: MarketDependencies,
  query: MarketQuery,
  signal: AbortSignal,
): Promise<MarketBody[]> {
  const { limit, after } = query;
  const { selected, except } = followedOf(parts, query);
  const followed = selected
    .filter((market) => after === null || isBefore(after, market))
    .sort((a, b) => (isBefore(a, b) ? -1 : 1))
    .slice(0, limit);
  const [listed, known] = await Promise.all([
    listMarkets(parts.store, { ...query, except }, signal),
    bodiesOf(parts, followed, { signal }),
  ]);
  const stored = listed.map(withTakerDelay);
  if (known.length === 0) return stored;
  return [...stored, ...known]
    .map((body) => ({ body, place: placeOf(body) }))
    .sort((a, b) => (isBefore(a.place, b.place) ? -1 : 1))
    .slice(0, limit)
    .map(({ body }) => body);
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

function placeOf({ end_time: endTime, market_id: marketId }: MarketBody): MarketPosition {
  return { endTimeMs: Date.parse(endTime), marketId };
}

/** Whether `a` comes before `b` in a list. */
function isBefore(a: MarketPosition, b: MarketPosition): boolean {
  return a.endTimeMs === b.endTimeMs ? a.marketId > b.marketId : a.endTimeMs > b.endTimeMs;
}

/** Coverage counts rows and gaps that still wait for the store. */
async function bodiesOf(
  { live, store, clock }: MarketDependencies,
  markets: readonly Market[],
  { signal }: { readonly signal: AbortSignal },
): Promise<MarketBody[]> {
  const nowMs = clock.now();
  const begun = markets.filter(({ startTimeMs }) => startTimeMs < nowMs);
  const unsaid = begun.filter(({ recordedSinceMs }) => recordedSinceMs === null);
  const idsOf = (some: readonly Market[]) => some.map(({ marketId }) => marketId);
  const [storedGaps, firstQuotes] = await Promise.all([
    begun.length === 0 ? [] : loadGapsOf(store, idsOf(begun), signal),
    unsaid.length === 0 ? new Map<string, number>() : firstQuoteTimes(store, idsOf(unsaid), signal),
  ]);
  const gapsByMarket = new Map<string, Gap[]>(markets.map(({ marketId }) => [marketId, []]));
  for (const gap of storedGaps) gapsByMarket.get(gap.marketId)?.push(gap);
  return markets.map((market) => {
    const { marketId, startTimeMs, endTimeMs, recordedSinceMs } = market;
    const gaps = newestGaps(gapsByMarket.get(marketId) ?? [], live.followed.gaps(marketId));
    const share = recordedShare(
      { fromMs: startTimeMs, toMs: endTimeMs },
      {
        sinceMs: recordedSinceMs ?? firstQuotes.get(marketId) ?? null,
        lost: gaps.map((gap) => ({ fromMs: gap.startTimeMs, toMs: gap.endTimeMs ?? nowMs })),
        nowMs,
      },
    );
    return withTakerDelay(marketBody(market, share));
  });
}

/** A gap in memory replaces its stored version. */
function newestGaps(stored: readonly Gap[], inMemory: readonly Gap[]): Gap[] {
  const known = new Set(inMemory.map(({ gapId }) => gapId));
  return [...stored.filter(({ gapId }) => !known.has(gapId)), ...inMemory];
}

/** Adds the delay in force when the window opens, where the venue gave none for the market. */
function withTakerDelay(body: MarketBody): MarketBody {
  const { market_type: eventType, ticker, start_time: start } = body;
  if (body.taker_delay_ms !== null || eventType === UNKNOWN || ticker === UNKNOWN) return body;
  return { ...body, taker_delay_ms: venueRulesAt(eventType, ticker, Date.parse(start)).takerHoldMs };
}

/** A record in memory as the API shows it: field for field what the store's query makes of the stored record. */
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
    taker_delay_ms: market.takerDelayMs,
    polymarket_url: market.slug === UNKNOWN ? null : `${EVENT_URL}${market.slug}`,
  };
}
