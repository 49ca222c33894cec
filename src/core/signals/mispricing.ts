/** The model and the book disagree by more than the costs, with enough time left for the book to be wrong. */
import {
  isCrossed,
  type MarketState,
  probabilityOf,
  type Signal,
  singleSignal,
  spreadTicks,
  type Token,
} from './signal.ts';

/** USDC per share after the fee. */
const MODEL_EDGE_MIN = 0.04;
/** In ticks: a wider book has no usable price. */
const MODEL_SPREAD_MAX = 600;
/** In ticks, both inclusive: near 0 and 1 a small error in sigma is a large one in value. */
const MODEL_PRICE_MIN = 500;
const MODEL_PRICE_MAX = 8_500;
/** Nearer the end the book knows more than a price per second. */
export const MODEL_SECONDS_MIN = 180;

/** Detects a side for sale at `MODEL_EDGE_MIN` or more below its model value. */
export function detectMispricing(state: MarketState): Signal | null {
  const { trusted, model } = state;
  const { yesProb, secondsLeft } = model;
  if (!trusted || yesProb === null || secondsLeft < MODEL_SECONDS_MIN) return null;
  const token = mispricedToken(state, yesProb);
  if (token === null) return null;
  if (isCrossed(state.yes) || isCrossed(state.no)) return null;
  return singleSignal(state, { token, yesProb, tier: 'model' });
}

/**
 * The token for sale at `MODEL_EDGE_MIN` or more below its value, the one with the higher edge if both are; null if
 * none is.
 */
export function mispricedToken(
  state: Pick<MarketState, 'yes' | 'no' | 'fee'>,
  yesProb: number,
): Token | null {
  const yesEdge = edgeWithin(state, 'yes', yesProb);
  const noEdge = edgeWithin(state, 'no', yesProb);
  if (Math.max(yesEdge, noEdge) < MODEL_EDGE_MIN) return null;
  return yesEdge >= noEdge ? 'yes' : 'no';
}

/** The edge at the best ask; -Infinity outside the limits. */
function edgeWithin(state: Pick<MarketState, 'yes' | 'no' | 'fee'>, token: Token, yesProb: number): number {
  const { bids, asks } = state[token];
  if (asks.count === 0) return -Infinity;
  const price = asks.prices[0] as number;
  if (price < MODEL_PRICE_MIN || price > MODEL_PRICE_MAX) return -Infinity;
  if (spreadTicks(bids, asks) > MODEL_SPREAD_MAX) return -Infinity;
  return state.fee.edge(price, probabilityOf(token, yesProb));
}
