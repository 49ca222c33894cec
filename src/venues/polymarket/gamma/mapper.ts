import { z } from 'zod';
import { parseDecimal } from '../../../core/money.ts';
import { withComputed, withEdge } from '../../../core/settlement.ts';
import { VENUE_RULES_VERSION } from '../../../core/venueRules.ts';
import {
  type EventType,
  type Market,
  NO_SETTLEMENT,
  type Outcome,
  type Ticker,
} from '../../../schema/market.ts';
import { normalMarketId, unknownVersion } from '../../../schema/protocol.ts';
import { parseSlug, type Window } from '../lifecycle/windows.ts';
import { takerDelayOf } from '../takerDelay.ts';
import { decidingFeedOf } from './decidingFeed.ts';
import { numberOf, positive, textList, timeOf } from './fields.ts';
import {
  type GammaMarket,
  gammaEvent,
  gammaMarketEvents,
  readGammaMarket,
  type UnreadableField,
} from './messages.ts';

/** An unresolved market this long after its end is an error: even a disputed oracle closes it sooner. */
const ZOMBIE_AFTER_MS = 6 * 3_600_000;

/** The venue's tick sizes, in 1/10000 USDC. */
const TICK_SIZES: ReadonlySet<number> = new Set([1000, 100, 50, 25, 10, 1]);

const GAMMA_REJECTIONS = [
  'shape_invalid',
  'event_unknown',
  'other_series',
  'version_unknown',
  'ids_not_available',
  'not_two_tokens',
  'outcomes_unclear',
  'wrong_year',
  'times_disagree',
  'zombie',
  'tick_size_unknown',
] as const;
type GammaRejectionReason = (typeof GAMMA_REJECTIONS)[number];

/** A market of one of our series, with the fields that only the venue's listing has. */
export interface GammaListing {
  readonly ok: true;
  readonly market: Market & { ticker: Ticker; eventType: EventType };
  /** False before trading opens and after it ends; null where the venue does not say. */
  readonly acceptingOrders: boolean | null;
  /** The place of Up in the listing's outcomes. */
  readonly upIndex: 0 | 1;
  /** Fields of the object that count as absent, because their values are of an unexpected type. */
  readonly unreadable: readonly UnreadableField[];
}

/**
 * Why an object was rejected. `slug` is null when the object has none. The detail of `version_unknown` is the version.
 * `ids_not_available` passes: the venue lists a market before its tokens.
 */
export interface GammaRejection {
  readonly ok: false;
  readonly reason: GammaRejectionReason;
  readonly slug: string | null;
  readonly detail: string;
}

type GammaResult = GammaListing | GammaRejection;

interface EventFacts {
  readonly id: string;
  readonly eventMetadata?: { priceToBeat?: unknown; finalPrice?: unknown } | null | undefined;
}

/**
 * Maps one object of `GET /events` to its markets; events of our series hold one.
 * @param nowMs The time for the rules "long after its end" and "the nearest year".
 */
export function mapGammaEvent(raw: unknown, nowMs: number): readonly GammaResult[] {
  const event = gammaEvent.safeParse(raw);
  if (!event.success) return [rejection('shape_invalid', raw, event.error.issues)];
  return event.data.markets.map((market) => mapMarketOf(event.data, market, nowMs));
}

/** Maps one object of `GET /markets`, which contains its event. */
export function mapGammaMarket(raw: unknown, nowMs: number): GammaResult {
  const event = gammaMarketEvents.safeParse(raw).data?.events[0];
  if (!event) return rejection('event_unknown', raw, 'the market names no event');
  return mapMarketOf(event, raw, nowMs);
}

function mapMarketOf(event: EventFacts, rawMarket: unknown, nowMs: number): GammaResult {
  const read = readGammaMarket(rawMarket);
  if (read instanceof z.ZodError) return rejection('shape_invalid', rawMarket, read.issues);
  const { market: raw, unreadable } = read;
  const named = parseSlug(raw.slug, nowMs);
  if (!named) return rejection('other_series', raw, 'the slug is none of ours');
  const tokens = tokensOf(raw);
  if ('reason' in tokens) return rejection(tokens.reason, raw, tokens.detail);
  const window = windowOf(raw, named.windows);
  if ('reason' in window) return rejection(window.reason, raw, window.detail);
  if (!raw.closed && nowMs > window.endTimeMs + ZOMBIE_AFTER_MS) {
    return rejection('zombie', raw, `closed is false long after ${raw.endDate}`);
  }
  const tickSize = parseDecimal(String(raw.orderPriceMinTickSize ?? ''), 4);
  if (tickSize === null || !TICK_SIZES.has(tickSize)) {
    return rejection('tick_size_unknown', raw, `orderPriceMinTickSize ${raw.orderPriceMinTickSize}`);
  }
  const { ticker, eventType } = named;
  return listing(raw, event, { ticker, eventType, tickSize, tokens, window, unreadable, nowMs });
}

interface Proven {
  readonly ticker: Ticker;
  readonly eventType: EventType;
  readonly tickSize: number;
  readonly tokens: Tokens;
  readonly window: Window;
  readonly unreadable: readonly UnreadableField[];
  readonly nowMs: number;
}

function listing(raw: GammaMarket, event: EventFacts, proven: Proven): GammaListing {
  const resolution = resolutionOf(raw, proven.tokens.labels, textList(raw.outcomePrices));
  const { priceToBeat, finalPrice } = event.eventMetadata ?? {};
  const knownTimeMs = proven.nowMs;
  let market = plainMarket(raw, event, { ...proven, resolution });
  for (const [edge, stated] of [
    ['strike', positive(priceToBeat)],
    ['close', positive(finalPrice)],
  ] as const) {
    // `withEdge` drops a price stated before that end of the window.
    if (stated !== null) market = withEdge(market, edge, { price: stated, basis: 'listing', knownTimeMs });
  }
  const upIndex = proven.tokens.labels.indexOf('Up') === 0 ? 0 : 1;
  const { unreadable } = proven;
  const acceptingOrders = raw.acceptingOrders ?? null;
  return { ok: true, acceptingOrders, upIndex, unreadable, market: withComputed(market) };
}

function plainMarket(
  raw: GammaMarket,
  event: EventFacts,
  { resolution, ...proven }: Proven & { resolution: Resolution | null },
): GammaListing['market'] {
  const { window, tokens, nowMs, eventType, ticker } = proven;
  const takerDelayMs = takerDelayOf(raw.secondsDelay);
  const resolvedTimeMs = resolution ? timeOf(raw.closedTime) : null;
  return {
    ...NO_SETTLEMENT,
    marketId: normalMarketId(raw.conditionId),
    eventId: event.id,
    slug: raw.slug,
    question: raw.question,
    eventType,
    ticker,
    yesTokenId: tokens.yesTokenId,
    noTokenId: tokens.noTokenId,
    status: resolution ? 'resolved' : raw.closed || nowMs >= window.endTimeMs ? 'closed' : 'open',
    startTimeMs: window.startTimeMs,
    endTimeMs: window.endTimeMs,
    strikePrice: null,
    strikeSource: null,
    closePrice: null,
    outcome: resolution?.outcome ?? null,
    payoutYes: resolution?.payoutYes ?? null,
    resolvedTimeMs,
    volume: numberOf(raw.volumeNum) ?? numberOf(raw.volume),
    liquidity: numberOf(raw.liquidityNum) ?? numberOf(raw.liquidity),
    tickSize: proven.tickSize,
    ...feeOf(raw),
    takerDelayMs,
    takerDelaySource: takerDelayMs === null ? null : 'listing',
    recordedSinceMs: null,
    resolvedBy: resolution ? 'listing' : null,
    resolvedTimeSource: resolvedTimeMs === null ? null : 'listing',
    confirmedTimeMs: resolution ? nowMs : null,
    ...decidingFeedOf(raw, { ticker, eventType }),
    rulesReadTimeMs: nowMs,
    rulesVersion: VENUE_RULES_VERSION,
  };
}

/** A market declared free of fees costs 0; without a schedule its fee is unknown (null). */
function feeOf(raw: GammaMarket): Pick<Market, 'takerFeeRate' | 'takerFeeExponent'> {
  if (raw.feesEnabled === false) return { takerFeeRate: 0, takerFeeExponent: 1 };
  return { takerFeeRate: raw.feeSchedule?.rate ?? null, takerFeeExponent: raw.feeSchedule?.exponent ?? null };
}

interface Tokens {
  readonly yesTokenId: string;
  readonly noTokenId: string;
  /** The labels of the outcomes in the order of the raw lists. */
  readonly labels: readonly string[];
}

interface Refusal {
  readonly reason: GammaRejectionReason;
  readonly detail: string;
}

/**
 * Assigns tokens by the outcome's label, because the venue does not promise the order of the lists. The version alone
 * selects the field of the ids, because an object may have both.
 * @see https://docs.polymarket.com/migrate/polymarket-v2/api-integrations (read 2026-10-04)
 */
function tokensOf(raw: GammaMarket): Tokens | Refusal {
  const unknown = unknownVersion(raw.version);
  if (unknown !== null) return { reason: 'version_unknown', detail: unknown };
  const labels = textList(raw.outcomes) ?? [];
  const field = raw.version === 'v2' ? 'positionIds' : 'clobTokenIds';
  const stated = raw[field] ?? '';
  const ids = textList(stated);
  if (stated === '' || ids?.length === 0) return { reason: 'ids_not_available', detail: `no ${field} yet` };
  if (ids?.length !== 2 || ids[0] === ids[1] || !ids.every((id) => /^\d{1,78}$/.test(id))) {
    const shown = typeof stated === 'string' ? stated : JSON.stringify(stated);
    return { reason: 'not_two_tokens', detail: `${field} ${shown.slice(0, 200)}` };
  }
  const yesTokenId = ids[labels.indexOf('Up')];
  const noTokenId = ids[labels.indexOf('Down')];
  if (labels.length !== 2 || yesTokenId === undefined || noTokenId === undefined) {
    return { reason: 'outcomes_unclear', detail: `outcomes ${raw.outcomes.slice(0, 200)}` };
  }
  return { yesTokenId, noTokenId, labels };
}

/**
 * The window that the slug and `endDate` both name, and `eventStartTime` too where the object has one. Some captured
 * objects lack it; the first two then suffice, since every slug except the repeated hour's fixes both ends.
 */
function windowOf(raw: GammaMarket, named: readonly Window[]): Window | Refusal {
  const endTimeMs = timeOf(raw.endDate);
  const startTimeMs = raw.eventStartTime == null ? null : timeOf(raw.eventStartTime);
  const detail = `slug ${raw.slug}, eventStartTime ${raw.eventStartTime ?? 'absent'}, endDate ${raw.endDate}`;
  if (endTimeMs === null || (raw.eventStartTime != null && startTimeMs === null)) {
    return { reason: 'times_disagree', detail };
  }
  for (const window of named) {
    if (window.endTimeMs !== endTimeMs) continue;
    if (startTimeMs === null || window.startTimeMs === startTimeMs) return window;
  }
  const otherYear = named.every(
    (window) => new Date(window.endTimeMs).getUTCFullYear() !== new Date(endTimeMs).getUTCFullYear(),
  );
  return { reason: otherYear ? 'wrong_year' : 'times_disagree', detail };
}

function rejection(reason: GammaRejectionReason, raw: unknown, detail: unknown): GammaRejection {
  const slug = (raw as { slug?: unknown } | null)?.slug;
  return {
    ok: false,
    reason,
    slug: typeof slug === 'string' ? slug.slice(0, 200) : null,
    detail: typeof detail === 'string' ? detail : JSON.stringify(detail).slice(0, 500),
  };
}

interface Resolution {
  /** Null for a tie, where each share pays one half. */
  readonly outcome: Outcome | null;
  readonly payoutYes: number;
}

/**
 * The final outcome; null until the market is closed, the oracle says `resolved`, and the two prices are exactly
 * 1 and 0 or both 0.5. Prices near 1 come from trading, not from a resolution; `["0","0"]`, seen on markets of
 * 2020, has no meaning.
 *
 * V2 markets name the status in `resolutionStatus` (inactive, active, resolved). Only the documentation's text says so
 * (read 2026-10-05); the OpenAPI description still has `umaResolutionStatus` alone. So that field is read where a V2
 * market lacks the new one. No resolved V2 market has been seen.
 * @param labels The outcomes in the order of the raw lists; `prices` has the same order.
 */
function resolutionOf(
  raw: GammaMarket,
  labels: readonly string[],
  prices: readonly string[] | null,
): Resolution | null {
  const { umaResolutionStatus } = raw;
  const status = raw.version === 'v2' ? (raw.resolutionStatus ?? umaResolutionStatus) : umaResolutionStatus;
  if (!raw.closed || status !== 'resolved') return null;
  const up = prices?.[labels.indexOf('Up')];
  const down = prices?.[labels.indexOf('Down')];
  if (up === '1' && down === '0') return { outcome: 'Up', payoutYes: 1 };
  if (up === '0' && down === '1') return { outcome: 'Down', payoutYes: 0 };
  if (up === '0.5' && down === '0.5') return { outcome: null, payoutYes: 0.5 };
  return null;
}
