import type { ClobEvent } from '../../schema/events.ts';
import { type Market, NO_SETTLEMENT, UNKNOWN } from '../../schema/market.ts';

/** Most events to keep while a market shows only one token; then it is adopted without the other. */
const EVENTS_HELD_MAX = 1000;
const UNKNOWN_MARKETS_MAX = 10_000;
/** The coarsest tick size of the crypto windows; the one that the hashes prove replaces it. */
const TICK_SIZE_ASSUMED = 100;

interface Sighting {
  /** In the order of their first events, but a token that the recording calls YES comes first. */
  readonly tokenIds: string[];
  /** The token that the recording calls NO; null where it calls none so. */
  noTokenId: string | null;
  readonly events: ClobEvent[];
}

/** An adopted market and the events to apply to it. */
export interface Adoption {
  readonly market: Market;
  readonly events: readonly ClobEvent[];
}

/**
 * Markets of a recording without a listing. Where the recording does not say which token is YES, the first one seen is
 * assumed to be YES, because recorders subscribe, and the venue answers, in the order Up, Down. Fields from the listing
 * are `unknown`.
 */
export class UnlistedMarketAdopter {
  readonly #sightings = new Map<string, Sighting>();

  /** At the end of a recording: the markets with a single token. The other one stays unknown. */
  adoptOneSided(): Adoption[] {
    const adoptions = [...this.#sightings].map(([marketId, sighting]): Adoption => {
      const { events } = sighting;
      const [{ receivedTimeMs }] = events as [ClobEvent];
      return { market: adopted({ marketId, ...tokensOf(sighting), receivedTimeMs }), events };
    });
    this.#sightings.clear();
    return adoptions;
  }

  /**
   * @param isYes Whether the event's token is YES; null where the recording does not say it.
   * @returns The market once both tokens, or one token in many events, have been seen; otherwise null.
   */
  observe(event: ClobEvent, isYes: boolean | null = null): Adoption | null {
    if (event.kind === 'new_market' || event.kind === 'market_resolved') return null;
    if (event.kind === 'unknown_version') return null;
    const sighting = this.#sightingOf(event.marketId);
    if (sighting.events.length < EVENTS_HELD_MAX) sighting.events.push(event);
    const seen = event.kind === 'book_change' ? event.changes.map(({ tokenId }) => tokenId) : [event.tokenId];
    for (const tokenId of seen) {
      if (sighting.tokenIds.includes(tokenId)) continue;
      if (isYes === false) sighting.noTokenId ??= tokenId;
      if (isYes) sighting.tokenIds.unshift(tokenId);
      else sighting.tokenIds.push(tokenId);
    }
    const { tokenIds, events } = sighting;
    if (tokenIds.length === 0 || (tokenIds.length === 1 && events.length < EVENTS_HELD_MAX)) return null;
    this.#sightings.delete(event.marketId);
    const { receivedTimeMs } = events[0] ?? event;
    const { marketId } = event;
    return { market: adopted({ marketId, ...tokensOf(sighting), receivedTimeMs }), events };
  }

  #sightingOf(marketId: string): Sighting {
    const known = this.#sightings.get(marketId);
    if (known !== undefined) return known;
    if (this.#sightings.size >= UNKNOWN_MARKETS_MAX) this.#sightings.clear();
    const fresh: Sighting = { tokenIds: [], noTokenId: null, events: [] };
    this.#sightings.set(marketId, fresh);
    return fresh;
  }
}

/** A token that the recording calls NO is never YES, even if it is the only one. */
function tokensOf({ tokenIds, noTokenId }: Sighting): { yesTokenId: string; noTokenId: string } {
  const [yesTokenId = UNKNOWN, otherTokenId = UNKNOWN] = tokenIds.filter((tokenId) => tokenId !== noTokenId);
  return { yesTokenId, noTokenId: noTokenId ?? otherTokenId };
}

function adopted(ids: {
  marketId: string;
  yesTokenId: string;
  noTokenId: string;
  receivedTimeMs: number;
}): Market {
  const { marketId, yesTokenId, noTokenId, receivedTimeMs } = ids;
  return {
    marketId,
    eventId: UNKNOWN,
    slug: UNKNOWN,
    question: 'A market of an imported recording',
    eventType: UNKNOWN,
    ticker: UNKNOWN,
    yesTokenId,
    noTokenId,
    status: 'closed',
    startTimeMs: receivedTimeMs,
    endTimeMs: receivedTimeMs + 1,
    strikePrice: null,
    strikeSource: null,
    closePrice: null,
    outcome: null,
    payoutYes: null,
    resolvedTimeMs: null,
    volume: null,
    liquidity: null,
    tickSize: TICK_SIZE_ASSUMED,
    takerFeeRate: null,
    takerFeeExponent: null,
    takerDelayMs: null,
    recordedSinceMs: null,
    ...NO_SETTLEMENT,
  };
}
