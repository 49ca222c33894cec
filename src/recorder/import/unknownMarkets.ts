import type { ClobEvent } from '../../schema/events.ts';
import { type Market, NO_SETTLEMENT, UNKNOWN } from '../../schema/market.ts';

/** Events kept while a market shows one token only; then it is adopted without the other. */
const EVENTS_HELD_MAX = 1000;
const UNKNOWN_MARKETS_MAX = 10_000;
/** The coarsest step of the crypto windows; the step that the hashes show replaces it. */
const TICK_SIZE_ASSUMED = 100;

interface Sighting {
  readonly tokenIds: string[];
  readonly events: ClobEvent[];
}

/** An adopted market and the events to play into it. */
export interface Adoption {
  readonly market: Market;
  readonly events: readonly ClobEvent[];
}

/**
 * Markets met in a recording without the venue's listing of them. Which token is YES is then not known: the one
 * that came first stands for it (recorders subscribe, and the venue answers, in the order Up, Down), and the
 * record says `unknown` for everything a listing would tell.
 */
export class UnknownMarkets {
  readonly #sightings = new Map<string, Sighting>();

  /** The markets of which one token alone was seen, at the end of a recording: YES by assumption, NO unknown. */
  adoptOneSided(): Adoption[] {
    const adoptions = [...this.#sightings].map(([marketId, { tokenIds, events }]): Adoption => {
      const [yesTokenId = UNKNOWN] = tokenIds;
      const [{ receivedTimeMs }] = events as [ClobEvent];
      return { market: adopted({ marketId, yesTokenId, noTokenId: UNKNOWN, receivedTimeMs }), events };
    });
    this.#sightings.clear();
    return adoptions;
  }

  /** @returns The market as soon as both its tokens have been seen, or one for so long that it stands alone; else null. */
  see(event: ClobEvent): Adoption | null {
    if (event.kind === 'new_market' || event.kind === 'market_resolved') return null;
    const sighting = this.#sightings.get(event.marketId) ?? { tokenIds: [], events: [] };
    if (this.#sightings.size >= UNKNOWN_MARKETS_MAX) this.#sightings.clear();
    this.#sightings.set(event.marketId, sighting);
    if (sighting.events.length < EVENTS_HELD_MAX) sighting.events.push(event);
    const seen = event.kind === 'book_change' ? event.changes.map(({ tokenId }) => tokenId) : [event.tokenId];
    for (const tokenId of seen) if (!sighting.tokenIds.includes(tokenId)) sighting.tokenIds.push(tokenId);
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
