import { withComputed, withEdge } from '../core/settlement.ts';
import type { Market, Outcome, ResolvedBy, SettlementFacts } from '../schema/market.ts';

/**
 * A market's record after its listing was read again. Values that are now absent stay, because numbers come and go in
 * the listing. A resolution from another source stays when the listing lags.
 */
export function mergeListing(known: Market | null, listed: Market): Market {
  if (known === null) return listed;
  const merged: Market = withListedEdges(listed, {
    ...listed,
    ...settlementOf(known),
    // The listing is cached: the stream's finer tick size is the newer one.
    tickSize: Math.min(known.tickSize, listed.tickSize),
    volume: listed.volume ?? known.volume,
    liquidity: listed.liquidity ?? known.liquidity,
    takerFeeRate: listed.takerFeeRate ?? known.takerFeeRate,
    takerFeeExponent: listed.takerFeeExponent ?? known.takerFeeExponent,
    ...takerDelayOf(known, listed),
    recordedSinceMs: known.recordedSinceMs,
    twapLookbackSeconds: listed.twapLookbackSeconds ?? known.twapLookbackSeconds,
    decidingFeed: listed.decidingFeed ?? known.decidingFeed,
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

/** The exchange holds the orders, so its statement is preferred to the listing's; an absent one changes nothing. */
function takerDelayOf(known: Market, listed: Market): Pick<Market, 'takerDelayMs' | 'takerDelaySource'> {
  const isExchanges = known.takerDelaySource === 'exchange';
  const { takerDelayMs, takerDelaySource } = isExchanges || listed.takerDelayMs === null ? known : listed;
  return { takerDelayMs, takerDelaySource };
}

/** The venue states two different times, in its message and in its listing; the record keeps the first one read. */
function firstResolvedTime(
  known: Market,
  listed: Market,
): Pick<Market, 'resolvedTimeMs' | 'resolvedTimeSource'> {
  const { resolvedTimeMs, resolvedTimeSource } = known.resolvedTimeMs === null ? listed : known;
  return { resolvedTimeMs, resolvedTimeSource };
}

/** The record's fields about strike and close, from any source. */
function settlementOf(
  known: Market,
): SettlementFacts & Pick<Market, 'strikePrice' | 'strikeSource' | 'closePrice'> {
  return {
    ...endsOf(known),
    computedPayoutYes: known.computedPayoutYes,
    winnerDisagrees: known.winnerDisagrees,
    resolvedBy: known.resolvedBy,
    resolvedTimeSource: known.resolvedTimeSource,
    confirmedTimeMs: known.confirmedTimeMs,
    twapLookbackSeconds: known.twapLookbackSeconds,
    decidingFeed: known.decidingFeed,
    takerDelaySource: known.takerDelaySource,
    rulesReadTimeMs: known.rulesReadTimeMs,
    rulesVersion: known.rulesVersion,
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

/** Unchanged rules keep their first read time; a change is dated by the read that found it. */
export function rulesReadTime(known: Market, merged: Market, readTimeMs: number | null): number | null {
  const same =
    known.takerFeeRate === merged.takerFeeRate &&
    known.takerFeeExponent === merged.takerFeeExponent &&
    known.takerDelayMs === merged.takerDelayMs &&
    known.tickSize === merged.tickSize &&
    known.twapLookbackSeconds === merged.twapLookbackSeconds &&
    known.decidingFeed === merged.decidingFeed &&
    known.rulesVersion === merged.rulesVersion;
  return same ? known.rulesReadTimeMs : readTimeMs;
}

/** The record with the exchange's fee and taker delay; a fee from the listing takes precedence. */
export function withRules(
  market: Market,
  rules: {
    feeRate: number | null;
    feeExponent: number | null;
    takerDelayMs: number | null;
    readTimeMs: number;
  },
): Market {
  const { takerDelayMs } = rules;
  const read = {
    ...market,
    takerFeeRate: market.takerFeeRate ?? rules.feeRate,
    takerFeeExponent: market.takerFeeExponent ?? rules.feeExponent,
    ...(takerDelayMs === null ? {} : { takerDelayMs, takerDelaySource: 'exchange' as const }),
  };
  return { ...read, rulesReadTimeMs: rulesReadTime(market, read, rules.readTimeMs) };
}

/** A source's statement about the end of a market: the winning token and the time. */
export interface NamedWinner {
  readonly tokenId: string;
  readonly timeMs: number;
  readonly by: ResolvedBy;
}

/**
 * The record after the stream or the exchange named the winner.
 * @returns Null when the token does not belong to the market.
 */
export function withWinner(market: Market, named: NamedWinner): Market | null {
  const up = named.tokenId === market.yesTokenId;
  if (!up && named.tokenId !== market.noTokenId) return null;
  return withPayout(market, { payoutYes: up ? 1 : 0, timeMs: named.timeMs, by: named.by });
}

/** The record after a source reported the payout of one YES share: 1, 0, or 0.5 for a tie. */
export function withPayout(
  market: Market,
  { payoutYes, timeMs, by }: { payoutYes: number; timeMs: number; by: ResolvedBy },
): Market {
  const outcome: Outcome | null = payoutYes === 1 ? 'Up' : payoutYes === 0 ? 'Down' : null;
  const resolution = { status: 'resolved', outcome, payoutYes, resolvedBy: by } as const;
  return withComputed({ ...market, ...resolution, resolvedTimeMs: timeMs, resolvedTimeSource: by });
}

/** The known prices at the window's start and end. */
export function endsOf(known: Market) {
  return {
    strikePrice: known.strikePrice,
    strikeSource: known.strikeSource,
    strikeBasis: known.strikeBasis,
    strikeKnownTimeMs: known.strikeKnownTimeMs,
    strikeDifference: known.strikeDifference,
    closePrice: known.closePrice,
    closeBasis: known.closeBasis,
    closeKnownTimeMs: known.closeKnownTimeMs,
    closeDifference: known.closeDifference,
  };
}
