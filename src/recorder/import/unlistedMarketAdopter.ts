import type { ClobEvent } from '../../schema/events.ts';
import { type Market, NO_SETTLEMENT, UNKNOWN } from '../../schema/market.ts';

/** Most events to keep while a market shows only one token; then it is adopted without the other. */
const EVENTS_HELD_MAX = 1000;
const UNKNOWN_MARKETS_MAX = 10_000;
/** The coarsest tick size of the crypto windows; the one that the hashes prove replaces it. */
const TICK_SIZE_ASSUMED = 100;

interface Sighting {
  readonly tokenIds: string[];
  readonly events: ClobEvent[];
}

/** An adopted market and the events to apply to it. */
export interface Adoption {
  readonly market: Market;
  readonly events: readonly ClobEvent[];
}

/**
 * Markets of a recording without a listing. Which token is YES is then unknown: the first one seen is assumed to be
 * YES, because recorders subscribe, and the venue answers, in the order Up, Down. Fields from the listing are
 * `unknown`.
 */
export class UnlistedMarketAdopter {
  readonly #sightings = new Map<string, Sighting>();

  /** At the end of a recording: the markets with a single token, assumed to be YES; NO stays unknown. */
  adoptOneSided(): Adoption[] {
    const adoptions = [...this.#sightings].map(([marketId, { tokenIds, events }]): Adoption => {
      const [yesTokenId = UNKNOWN] = tokenIds;
      const [{ receivedTimeMs }] = events as [ClobEvent];
      return { market: adopted({ marketId, yesTokenId, noTokenId: UNKNOWN, receivedTimeMs }), events };
    });
    this.#sightings.clear();
    return adoptions;
  }

  /**
   * @param isYes Whether the event's token is YES, where the recording says it.
   * @returns The market once both tokens, or one token in many events, have been seen; otherwise null.
   */
  observe(event: ClobEvent, isYes: boolean | null = null): Adoption | null {
    if (event.kind === 'new_market' || event.kind === 'market_resolved') return null;
    if (event.kind === 'unknown_version') return null;
    const sighting = this.#sightings.get(event.marketId) ?? { tokenIds: [], events: [] };
    if (this.#sightings.size >= UNKNOWN_MARKETS_MAX) this.#sightings.clear();
    this.#sightings.set(event.marketId, sighting);
    if (sighting.events.length < EVENTS_HELD_MAX) sighting.events.push(event);
    const seen = event.kind === 'book_change' ? event.changes.map(({ tokenId }) => tokenId) : [event.tokenId];
    for (const tokenId of seen) {
      if (sighting.tokenIds.includes(tokenId)) continue;
      if (isYes) sighting.tokenIds.unshift(tokenId);
      else sighting.tokenIds.push(tokenId);
    }
    const [yesTokenId, noTokenId = UNKNOWN] = sighting.tokenIds;
    const isAlone = noTokenId === UNKNOWN;
    if (yesTokenId === undefined || (isAlone && sighting.events.length < EVENTS_HELD_MAX)) return null;
    this.#sightings.delete(event.marketId);
    const { receivedTimeMs } = sighting.events[0] ?? event;
    const { marketId } = event;
    return {
      market: adopted({ marketId, yesTokenId, noTokenId, receivedTimeMs }),
      events: sighting.events,
    };
  }
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
