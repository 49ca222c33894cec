import { withComputed, withEdge } from '../../core/settlement.ts';
import { type Market, type MarketStatus, UNKNOWN } from '../../schema/market.ts';
import { endsOf, rulesReadTime } from '../marketMerge.ts';

const STATUS_ORDER: readonly MarketStatus[] = ['open', 'closed', 'resolved'];

/** The values in a sender's last record of a market that the venue may correct later. */
export type StatedFacts = ReturnType<typeof statedFacts>;

export function statedFacts(market: Market) {
  const { strikePrice, strikeBasis, closePrice, closeBasis, payoutYes, confirmedTimeMs } = market;
  const { takerFeeRate, takerFeeExponent } = market;
  const prices = { strikePrice, strikeBasis, closePrice, closeBasis };
  return { ...prices, payoutYes, confirmedTimeMs, takerFeeRate, takerFeeExponent };
}

/**
 * A market's record after another version of it was received, from any collector. More knowledge replaces less, and
 * nothing goes back: a collector that has just started knows less than the record, and one that repeats an older value
 * has not read its correction yet.
 * @param stated What the same run of the sender stated before; null: this is its first record.
 */
export function joinMarkets(known: Market | null, heard: Market, stated: StatedFacts | null = null): Market {
  if (known === null) return heard;
  const joined: Market = withEdges(newEdges(known, heard, stated), {
    ...withKnown(known, heard),
    ...endsOf(known),
    ...outcomeOf(known, heard, stated),
    ...feeOf(known, heard, stated),
    status: rank(heard.status) >= rank(known.status) ? heard.status : known.status,
    tickSize: Math.min(known.tickSize, heard.tickSize),
    recordedSinceMs: earlier(known.recordedSinceMs, heard.recordedSinceMs),
    confirmedTimeMs: earlier(known.confirmedTimeMs, heard.confirmedTimeMs),
    ...takerDelayOf(known, heard),
  });
  const rulesReadTimeMs = rulesReadTime(known, joined, heard.rulesReadTimeMs) ?? heard.rulesReadTimeMs;
  const { computedPayoutYes, winnerDisagrees } = heard;
  const asHeard = { ...joined, rulesReadTimeMs, computedPayoutYes, winnerDisagrees };
  // The sender computed the payout from the same facts, as far as it has.
  return isSameSettlement(asHeard, heard) ? asHeard : withComputed(asHeard);
}

function rank(status: MarketStatus): number {
  return STATUS_ORDER.indexOf(status);
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

/** Newer values, except those that say that nothing is known. */
function withKnown(known: Market, heard: Market): Market {
  const joined = { ...heard } as Record<string, unknown>;
  for (const [name, value] of Object.entries(known))
    if (joined[name] === null || joined[name] === UNKNOWN) joined[name] = value;
  return joined as unknown as Market;
}

/** The received record with the known prices in place of older ones: repeated, or of a stale first record. */
function newEdges(known: Market, heard: Market, stated: StatedFacts | null): Market {
  const isOld = (end: 'strike' | 'close') => {
    const [price, basis, knownTime] = [`${end}Price`, `${end}Basis`, `${end}KnownTimeMs`] as const;
    return stated === null
      ? heard[basis] === known[basis] && isBefore(heard[knownTime], known[knownTime])
      : stated[price] === heard[price] && stated[basis] === heard[basis];
  };
  const { strikePrice, strikeSource, strikeBasis, strikeKnownTimeMs } = known;
  const { closePrice, closeBasis, closeKnownTimeMs } = known;
  return {
    ...heard,
    ...(isOld('strike') ? { strikePrice, strikeSource, strikeBasis, strikeKnownTimeMs } : {}),
    ...(isOld('close') ? { closePrice, closeBasis, closeKnownTimeMs } : {}),
  };
}

function isBefore(a: number | null, b: number | null): boolean {
  return a !== null && b !== null && a < b;
}

/** The better source of each end of the window, as for several sources of one collector. */
function withEdges(heard: Market, market: Market): Market {
  let joined = market;
  const { strikePrice, strikeBasis, strikeKnownTimeMs, closePrice, closeBasis, closeKnownTimeMs } = heard;
  if (strikePrice !== null && strikeBasis !== null && strikeKnownTimeMs !== null)
    joined = withEdge(joined, 'strike', {
      price: strikePrice,
      basis: strikeBasis,
      knownTimeMs: strikeKnownTimeMs,
    });
  else if (joined.strikePrice === null)
    joined = { ...joined, strikePrice, strikeSource: heard.strikeSource, strikeBasis, strikeKnownTimeMs };
  if (closePrice !== null && closeBasis !== null && closeKnownTimeMs !== null)
    joined = withEdge(joined, 'close', {
      price: closePrice,
      basis: closeBasis,
      knownTimeMs: closeKnownTimeMs,
    });
  else if (joined.closePrice === null) joined = { ...joined, closePrice, closeBasis, closeKnownTimeMs };
  return {
    ...joined,
    strikeDifference: joined.strikeDifference ?? heard.strikeDifference,
    closeDifference: joined.closeDifference ?? heard.closeDifference,
  };
}

/** The first source names the time of the resolution; the listing's confirmation corrects the outcome. */
function outcomeOf(known: Market, heard: Market, stated: StatedFacts | null) {
  const isNew =
    stated === null
      ? known.confirmedTimeMs === null || isBefore(known.confirmedTimeMs, heard.confirmedTimeMs)
      : stated.payoutYes !== heard.payoutYes ||
        (stated.confirmedTimeMs === null && heard.confirmedTimeMs !== null);
  const isCorrected =
    heard.status === 'resolved' &&
    isNew &&
    (heard.confirmedTimeMs !== null || known.confirmedTimeMs === null);
  const isFirst = known.status !== 'resolved';
  const { outcome, payoutYes } = isFirst || isCorrected ? heard : known;
  const { resolvedTimeMs, resolvedTimeSource } = known.resolvedTimeMs === null ? heard : known;
  return {
    outcome,
    payoutYes,
    resolvedBy: known.resolvedBy ?? heard.resolvedBy,
    resolvedTimeMs,
    resolvedTimeSource,
  };
}

/** The known fee if the sender repeats its own: another sender may have read a newer one. */
function feeOf(
  known: Market,
  heard: Market,
  stated: StatedFacts | null,
): Pick<Market, 'takerFeeRate' | 'takerFeeExponent'> {
  const isRepeated =
    stated !== null &&
    stated.takerFeeRate === heard.takerFeeRate &&
    stated.takerFeeExponent === heard.takerFeeExponent;
  const { takerFeeRate, takerFeeExponent } = isRepeated ? known : withKnown(known, heard);
  return { takerFeeRate, takerFeeExponent };
}

/** The exchange holds the orders, so its statement is preferred to the listing's. */
function takerDelayOf(known: Market, heard: Market): Pick<Market, 'takerDelayMs' | 'takerDelaySource'> {
  const isKnown =
    heard.takerDelayMs === null ||
    (known.takerDelaySource === 'exchange' && heard.takerDelaySource !== 'exchange');
  const { takerDelayMs, takerDelaySource } = isKnown ? known : heard;
  return { takerDelayMs, takerDelaySource };
}

function isSameSettlement(a: Market, b: Market): boolean {
  return (
    a.strikePrice === b.strikePrice &&
    a.strikeBasis === b.strikeBasis &&
    a.closePrice === b.closePrice &&
    a.closeBasis === b.closeBasis &&
    a.payoutYes === b.payoutYes
  );
}
