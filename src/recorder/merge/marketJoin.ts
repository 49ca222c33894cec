import { withComputed, withEdge } from '../../core/settlement.ts';
import { type Market, type MarketStatus, UNKNOWN } from '../../schema/market.ts';
import { endsOf, rulesReadTime } from '../marketMerge.ts';

const STATUS_ORDER: readonly MarketStatus[] = ['open', 'closed', 'resolved'];

/**
 * A market's record after another version of it was received, from any collector. More knowledge replaces less, and
 * nothing goes back: a collector that has just started knows less than the record.
 */
export function joinMarkets(known: Market | null, heard: Market): Market {
  if (known === null) return heard;
  const joined: Market = withEdges(heard, {
    ...withKnown(known, heard),
    ...endsOf(known),
    ...outcomeOf(known, heard),
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
function outcomeOf(known: Market, heard: Market) {
  const isCorrected =
    heard.status === 'resolved' && (heard.confirmedTimeMs !== null || known.confirmedTimeMs === null);
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
