import { withComputed, withEdge } from '../core/settlement.ts';
import type { Market, Outcome, ResolvedBy, SettlementFacts } from '../schema/market.ts';

/**
 * A market's record after the venue's listing was read again. What was known and is now absent stays (numbers
 * come and go in the listing); a resolution heard from another source is not undone by a listing that lags.
 */
export function mergeListing(known: Market | null, listed: Market): Market {
  if (known === null) return listed;
  const merged: Market = withListedEdges(listed, {
    ...listed,
    ...settlementOf(known),
    // The listing is cached: the stream's finer step is the newer one.
    tickSize: Math.min(known.tickSize, listed.tickSize),
    volume: listed.volume ?? known.volume,
    liquidity: listed.liquidity ?? known.liquidity,
    takerFeeRate: listed.takerFeeRate ?? known.takerFeeRate,
    takerFeeExponent: listed.takerFeeExponent ?? known.takerFeeExponent,
    // The listing never says how long an order is held; the exchange may have said that it is not.
    takerDelayMs: known.takerDelayMs ?? listed.takerDelayMs,
    recordedSinceMs: known.recordedSinceMs,
    twapLookbackSeconds: listed.twapLookbackSeconds ?? known.twapLookbackSeconds,
    resolvedBy: known.resolvedBy ?? listed.resolvedBy,
    ...firstResolvedTime(known, listed),
    confirmedTimeMs: known.confirmedTimeMs ?? listed.confirmedTimeMs,
    rulesVersion: listed.rulesVersion,
  });
  const read = { ...merged, rulesReadTimeMs: rulesReadTime(known, merged, listed.rulesReadTimeMs) };
  if (known.status !== 'resolved' || listed.status === 'resolved') return withComputed(read);
  const { status, outcome, payoutYes } = known;
  return withComputed({ ...read, status, outcome, payoutYes });
}

/** The venue states the time in its message and again, as another one, in its listing; readers keep the first. */
function firstResolvedTime(
  known: Market,
  listed: Market,
): Pick<Market, 'resolvedTimeMs' | 'resolvedTimeSource'> {
  const { resolvedTimeMs, resolvedTimeSource } = known.resolvedTimeMs === null ? listed : known;
  return { resolvedTimeMs, resolvedTimeSource };
}

/** What the record says of strike and close, whoever said it. */
function settlementOf(
  known: Market,
): SettlementFacts & Pick<Market, 'strikePrice' | 'strikeSource' | 'closePrice'> {
  const { strikePrice, strikeSource, strikeBasis, strikeKnownTimeMs, strikeDifference } = known;
  const { closePrice, closeBasis, closeKnownTimeMs, closeDifference, computedPayoutYes, winnerDisagrees } =
    known;
  const { resolvedBy, resolvedTimeSource, confirmedTimeMs } = known;
  const { twapLookbackSeconds, rulesReadTimeMs, rulesVersion } = known;
  return {
    ...{ strikePrice, strikeSource, strikeBasis, strikeKnownTimeMs, strikeDifference },
    ...{ closePrice, closeBasis, closeKnownTimeMs, closeDifference, computedPayoutYes, winnerDisagrees },
    ...{ resolvedBy, resolvedTimeSource, confirmedTimeMs },
    ...{ twapLookbackSeconds, rulesReadTimeMs, rulesVersion },
  };
}

function withListedEdges(listed: Market, market: Market): Market {
  let merged = market;
  const { strikePrice, strikeKnownTimeMs, closePrice, closeKnownTimeMs } = listed;
  if (strikePrice !== null && strikeKnownTimeMs !== null) {
    const stated = { price: strikePrice, basis: 'listing', knownTimeMs: strikeKnownTimeMs } as const;
    merged = withEdge(merged, 'strike', stated);
  }
  if (closePrice !== null && closeKnownTimeMs !== null) {
    const stated = { price: closePrice, basis: 'listing', knownTimeMs: closeKnownTimeMs } as const;
    merged = withEdge(merged, 'close', stated);
  }
  return merged;
}

/** Rules that read the same as before were known since then; a change is dated by the reading that showed it. */
function rulesReadTime(known: Market, merged: Market, readTimeMs: number | null): number | null {
  const same =
    known.takerFeeRate === merged.takerFeeRate &&
    known.takerFeeExponent === merged.takerFeeExponent &&
    known.takerDelayMs === merged.takerDelayMs &&
    known.tickSize === merged.tickSize &&
    known.twapLookbackSeconds === merged.twapLookbackSeconds &&
    known.rulesVersion === merged.rulesVersion;
  return same ? known.rulesReadTimeMs : readTimeMs;
}

/** The record with what the exchange says of fee and hold; the listing's own fee stands where there is one. */
export function withRules(
  market: Market,
  rules: {
    feeRate: number | null;
    feeExponent: number | null;
    holdsTakers: boolean | null;
    readTimeMs: number;
  },
): Market {
  const read = {
    ...market,
    takerFeeRate: market.takerFeeRate ?? rules.feeRate,
    takerFeeExponent: market.takerFeeExponent ?? rules.feeExponent,
    takerDelayMs: rules.holdsTakers === false ? 0 : market.takerDelayMs,
  };
  return { ...read, rulesReadTimeMs: rulesReadTime(market, read, rules.readTimeMs) };
}

/** What a source says about the end of a market: the winning token, and when. */
export interface NamedWinner {
  readonly tokenId: string;
  readonly timeMs: number;
  readonly by: ResolvedBy;
}

/**
 * The record once the stream or the exchange named the winner.
 * @returns Null when the token is none of the market's.
 */
export function withWinner(market: Market, named: NamedWinner): Market | null {
  const up = named.tokenId === market.yesTokenId;
  if (!up && named.tokenId !== market.noTokenId) return null;
  const outcome: Outcome = up ? 'Up' : 'Down';
  const resolution = { status: 'resolved', outcome, payoutYes: up ? 1 : 0, resolvedBy: named.by } as const;
  return withComputed({
    ...{ ...market, ...resolution },
    ...{ resolvedTimeMs: named.timeMs, resolvedTimeSource: named.by },
  });
}
