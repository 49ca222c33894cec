/**
 * Shortly before the end a short window may be as good as decided while its winning side is still for sale below its
 * payout.
 */
import type { MarketEventType } from '../../schema/market.ts';
import { normalCdf } from '../pricing/normal.ts';
import {
  isCrossed,
  type MarketState,
  probabilityOf,
  type Signal,
  singleSignal,
  type Token,
} from './signal.ts';

const ENDGAME_EVENT_TYPES: readonly MarketEventType[] = ['5m', '15m'];
/** Seconds before the end, both inclusive: later, no order arrives in time. */
const ENDGAME_SECONDS_MAX = 120;
const ENDGAME_SECONDS_MIN = 25;
const ENDGAME_CERTAINTY_MIN = 0.95;
/** In ticks: above this, one loss costs more than sixty wins bring. */
const ENDGAME_ASK_MAX = 9_850;
/** One source may be frozen or wrong: at least this many must have the price on the winning side. */
const ENDGAME_SOURCES_MIN = 2;

/**
 * Detects a winning side for sale below its value. Certainty comes only from the distance to the strike, never from a
 * trend; at the ask there must be a profit after the fee.
 */
export function detectEndgame(state: MarketState): Signal | null {
  const { trusted, model, eventType, fee } = state;
  if (!trusted || model.secondsLeft < ENDGAME_SECONDS_MIN || model.secondsLeft > ENDGAME_SECONDS_MAX)
    return null;
  if (!ENDGAME_EVENT_TYPES.includes(eventType)) return null;
  const { distance, yesProb, strike } = model;
  if (distance === null || yesProb === null || strike === null) return null;
  if (normalCdf(Math.abs(distance)) < ENDGAME_CERTAINTY_MIN) return null;
  const token: Token = distance >= 0 ? 'yes' : 'no';
  const { asks } = state[token];
  if (asks.count === 0 || (asks.prices[0] as number) > ENDGAME_ASK_MAX) return null;
  if (fee.edge(asks.prices[0] as number, probabilityOf(token, yesProb)) <= 0) return null;
  if (sourcesOn(token, state.sourcePrices, strike) < ENDGAME_SOURCES_MIN) return null;
  if (isCrossed(state.yes) || isCrossed(state.no)) return null;
  return singleSignal(state, { token, yesProb, tier: 'endgame' });
}

/** The number of sources with a price at which `token` wins; a tie is Up. */
function sourcesOn(token: Token, prices: readonly number[], strike: number): number {
  let count = 0;
  for (const price of prices) if (price >= strike === (token === 'yes')) count++;
  return count;
}
