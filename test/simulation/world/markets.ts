import { Random } from '../../../src/core/random.ts';
import type { Market } from '../../../src/schema/market.ts';
import { MARKET } from '../../support/wire.ts';
import { VenueMarket } from './venueMarket.ts';

/** When the world begins: within a five-minute window, shortly before its last two minutes. */
export const START_MS = Date.UTC(2026, 10, 20, 12, 3, 5);
const WINDOW_MS = Date.UTC(2026, 10, 20, 12);
/** A window that is nearly decided has a signal from two minutes before its end on. */
const ENDGAME_MS = 120_000;
/** It begins at a time of the run that differs from seed to seed. */
const ENDGAME_WITHIN_MS = 30_000;
const SHORT_WINDOW_MS = 40_000;

/** The price that decides, and how far the underlying is from it in the beginning. */
export const STRIKE = 97_000;

function marketOf(n: number, changes: Partial<Market>): Market {
  const digits = String(n);
  return {
    ...MARKET,
    marketId: `0x${digits.repeat(64)}`,
    yesTokenId: `1${digits}`.repeat(20),
    noTokenId: `2${digits}`.repeat(20),
    slug: `market-${n}`,
    strikePrice: STRIKE,
    strikeSource: 'official',
    strikeBasis: 'listing',
    strikeKnownTimeMs: WINDOW_MS,
    startTimeMs: WINDOW_MS,
    ...changes,
  };
}

/** In this order a scenario has them: a window in play, one that ends during the run, and a quiet one. */
export function venueMarkets(seed: number, count: number): VenueMarket[] {
  const endgameMs = new Random(`endgame ${seed}`).below(ENDGAME_WITHIN_MS);
  const listed = [
    { market: marketOf(1, { endTimeMs: START_MS + ENDGAME_MS + endgameMs }), pauseMs: 250, mid: 5_000 },
    {
      market: marketOf(2, { endTimeMs: START_MS + SHORT_WINDOW_MS, eventType: '15m' }),
      pauseMs: 350,
      mid: 4_500,
    },
    {
      market: marketOf(3, { ticker: 'ETH', eventType: '1h', endTimeMs: START_MS + 2_400_000 }),
      pauseMs: 2_500,
      mid: 5_500,
    },
  ];
  return listed.slice(0, count).map(({ market, pauseMs, mid }) => {
    const random = new Random(`market ${seed} ${market.marketId}`);
    const version = random.chance(0.3) ? 'v2' : 'v1';
    return new VenueMarket(market, { random, version, nowMs: START_MS, pauseMs, mid });
  });
}
