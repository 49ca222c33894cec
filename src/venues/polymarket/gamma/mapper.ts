import { parseDecimal } from '../../../core/money.ts';
import { withComputed, withEdge } from '../../../core/settlement.ts';
import { venueRulesAt } from '../../../core/venueRules.ts';
import { type EventType, type Market, NO_SETTLEMENT, type Ticker } from '../../../schema/market.ts';
import { parseSlug, type Window } from '../lifecycle/windows.ts';
import { numberOf, positive, textList, timeOf } from './fields.ts';
import { type GammaMarket, gammaEvent, gammaMarket, gammaMarketEvents } from './messages.ts';
import { type Resolution, resolutionOf } from './resolution.ts';

/** Even a disputed oracle closes a market sooner than it stays `closed: false` this long after its end. */
export const ZOMBIE_AFTER_MS = 6 * 3_600_000;

/** Steps the venue uses, in ticks of 1/10000 USDC. */
const TICK_SIZES: ReadonlySet<number> = new Set([1000, 100, 50, 25, 10, 1]);

export const GAMMA_REJECTIONS = [
  'shape_invalid',
  'event_unknown',
  'other_series',
  'not_two_tokens',
  'outcomes_unclear',
  'wrong_year',
  'times_disagree',
  'zombie',
  'tick_size_unknown',
] as const;
export type GammaRejectionReason = (typeof GAMMA_REJECTIONS)[number];

/** A market of one of our series, and what only the venue's listing says about it. */
export interface GammaListing {
  readonly ok: true;
  readonly market: Market & { ticker: Ticker; eventType: EventType };
  /** False before trading opens and after it ends; null where the venue does not say. */
  readonly acceptingOrders: boolean | null;
}

/** Why an object was not taken. `slug` is null when it has none. */
export interface GammaRejection {
  readonly ok: false;
  readonly reason: GammaRejectionReason;
  readonly slug: string | null;
  readonly detail: string;
}

export type GammaResult = GammaListing | GammaRejection;

interface EventFacts {
  readonly id: string;
  readonly eventMetadata?: { priceToBeat?: unknown; finalPrice?: unknown } | null | undefined;
}

/**
 * Maps one object of `GET /events` to its markets (ours hold one).
 * @param nowMs What "long after its end" and "the nearest year" are measured against.
 */
export function mapGammaEvent(raw: unknown, nowMs: number): readonly GammaResult[] {
  const event = gammaEvent.safeParse(raw);
  if (!event.success) return [rejection('shape_invalid', raw, event.error.issues)];
  return event.data.markets.map((market) => mapMarketOf(event.data, market, nowMs));
}

/** Maps one object of `GET /markets`, which names its event inside. */
export function mapGammaMarket(raw: unknown, nowMs: number): GammaResult {
  const event = gammaMarketEvents.safeParse(raw).data?.events[0];
  if (!event) return rejection('event_unknown', raw, 'the market names no event');
  return mapMarketOf(event, raw, nowMs);
}

function mapMarketOf(event: EventFacts, rawMarket: unknown, nowMs: number): GammaResult {
  const parsed = gammaMarket.safeParse(rawMarket);
  if (!parsed.success) return rejection('shape_invalid', rawMarket, parsed.error.issues);
  const raw = parsed.data;
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
  return listing(raw, event, { ticker, eventType, tickSize, tokens, window, nowMs });
}

interface Proven {
  readonly ticker: Ticker;
  readonly eventType: EventType;
  readonly tickSize: number;
  readonly tokens: Tokens;
  readonly window: Window;
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
    // A price stated before that end of the window has come is not one: `withEdge` leaves it out.
    if (stated !== null) market = withEdge(market, edge, { price: stated, basis: 'listing', knownTimeMs });
  }
  return { ok: true, acceptingOrders: raw.acceptingOrders ?? null, market: withComputed(market) };
}

function plainMarket(
  raw: GammaMarket,
  event: EventFacts,
  { resolution, ...proven }: Proven & { resolution: Resolution | null },
): GammaListing['market'] {
  const { window, tokens, nowMs, eventType, ticker } = proven;
  const rules = venueRulesAt(eventType, ticker, window.startTimeMs);
  const resolvedTimeMs = resolution ? timeOf(raw.closedTime) : null;
  return {
    ...NO_SETTLEMENT,
    marketId: raw.conditionId,
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
    // The interface says that marketable orders are held, never for how long.
    takerDelayMs: rules.takerHoldMs,
    recordedSinceMs: null,
    resolvedBy: resolution ? 'listing' : null,
    resolvedTimeSource: resolvedTimeMs === null ? null : 'listing',
    confirmedTimeMs: resolution ? nowMs : null,
    twapLookbackSeconds: raw.cryptoMarketConfig?.twapLookbackSeconds ?? null,
    rulesReadTimeMs: nowMs,
    rulesVersion: rules.version,
  };
}

/** A market the venue declares free of fees costs 0; one that merely shows no schedule costs we do not know what. */
function feeOf(raw: GammaMarket): Pick<Market, 'takerFeeRate' | 'takerFeeExponent'> {
  if (raw.feesEnabled === false) return { takerFeeRate: 0, takerFeeExponent: 1 };
  return { takerFeeRate: raw.feeSchedule?.rate ?? null, takerFeeExponent: raw.feeSchedule?.exponent ?? null };
}

interface Tokens {
  readonly yesTokenId: string;
  readonly noTokenId: string;
  /** The outcomes' labels in the order of the raw lists. */
  readonly labels: readonly string[];
}

interface Refusal {
  readonly reason: GammaRejectionReason;
  readonly detail: string;
}

/** Tokens go by the outcome's label: the order of the lists is not promised. */
function tokensOf(raw: GammaMarket): Tokens | Refusal {
  const labels = textList(raw.outcomes);
  const ids = textList(raw.clobTokenIds);
  if (ids?.length !== 2 || ids[0] === ids[1] || !ids.every((id) => /^\d{1,78}$/.test(id))) {
    return { reason: 'not_two_tokens', detail: `clobTokenIds ${raw.clobTokenIds.slice(0, 200)}` };
  }
  const yesTokenId = ids[labels?.indexOf('Up') ?? -1];
  const noTokenId = ids[labels?.indexOf('Down') ?? -1];
  if (labels?.length !== 2 || yesTokenId === undefined || noTokenId === undefined) {
    return { reason: 'outcomes_unclear', detail: `outcomes ${raw.outcomes.slice(0, 200)}` };
  }
  return { yesTokenId, noTokenId, labels };
}

/**
 * The window that the slug and `endDate` both name, and `eventStartTime` too where the object has one (some
 * captured ones lack it: then the first two prove the window, since every slug but the repeated hour's fixes both ends).
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
