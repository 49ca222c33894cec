/**
 * Both outcomes bought together always pay 1. While a pair costs less, fees included, the profit is certain; within one
 * consistent book this never happens, because the venue mirrors the two tokens.
 */
import type { SideView } from '../../schema/records.ts';
import { COST_SCALE, type TakerFee } from '../fees.ts';
import { averagePairPrice, displayed, type FilledLevel } from '../fills/walk.ts';
import { sharesOf, TICKS_PER_USDC } from '../money.ts';
import {
  bestPricesOf,
  confidenceOf,
  isCrossed,
  type MarketState,
  readingOf,
  type Signal,
  spreadTicks,
  yesMidOf,
} from './signal.ts';

/** The pairs that are profitable to buy. */
interface PairWalk {
  /** Pairs, in units of 1/1,000,000 pair. */
  readonly size: number;
  /** USDC over the whole size: the fees before rounding, and the profit after them. */
  readonly fee: number;
  readonly profit: number;
  readonly yesLevels: readonly FilledLevel[];
  readonly noLevels: readonly FilledLevel[];
}

/**
 * Detects YES and NO for sale below 1 per pair, both taker fees included.
 * @returns Null if there is no profit, the book is not trusted, or the window is over.
 */
export function detectLogical(state: MarketState): Signal | null {
  const { trusted, yes, no, fee, model } = state;
  if (!trusted || model.secondsLeft <= 0 || !pairIsCheap(yes.asks, no.asks, fee)) return null;
  if (isCrossed(yes) || isCrossed(no)) return null;
  const walk = walkPairs(yes.asks, no.asks, fee);
  return walk.size === 0 ? null : pairSignal(state, walk);
}

/** Whether the two best asks alone make a profit: decides all but every billionth call. */
function pairIsCheap(yesAsks: SideView, noAsks: SideView, fee: TakerFee): boolean {
  if (yesAsks.count === 0 || noAsks.count === 0) return false;
  const [yesPrice, noPrice] = [yesAsks.prices[0] as number, noAsks.prices[0] as number];
  if (yesPrice + noPrice >= TICKS_PER_USDC) return false;
  return fee.shareCost(yesPrice) + fee.shareCost(noPrice) < COST_SCALE;
}

/**
 * Walks both asks together, cheapest first, while a pair costs less than 1. The cost of a share rises with its price
 * (for any fee rate below 1), so buying the cheapest pairs until one would lose is optimal.
 */
export function walkPairs(yesAsks: SideView, noAsks: SideView, fee: TakerFee): PairWalk {
  const sums = { size: 0, fee: 0, profit: 0 };
  let [yesAt, noAt] = [0, 0];
  let [yesLeft, noLeft] = [displayed(yesAsks, 0), displayed(noAsks, 0)];
  while (yesAt < yesAsks.count && noAt < noAsks.count) {
    const [yesPrice, noPrice] = [yesAsks.prices[yesAt] as number, noAsks.prices[noAt] as number];
    const margin = COST_SCALE - fee.shareCost(yesPrice) - fee.shareCost(noPrice);
    if (margin <= 0) break;
    const size = Math.min(yesLeft, noLeft);
    sums.size += size;
    sums.fee += sharesOf(size) * (fee.perShare(yesPrice) + fee.perShare(noPrice));
    sums.profit += sharesOf(size) * (margin / COST_SCALE);
    yesLeft -= size;
    noLeft -= size;
    if (yesLeft === 0) yesLeft = displayed(yesAsks, ++yesAt);
    if (noLeft === 0) noLeft = displayed(noAsks, ++noAt);
  }
  const { size, fee: fees, profit } = sums;
  const [yesLevels, noLevels] = [levelsTo(yesAsks, size), levelsTo(noAsks, size)];
  return { size, fee: fees, profit, yesLevels, noLevels };
}

function levelsTo(asks: SideView, size: number): FilledLevel[] {
  const levels: FilledLevel[] = [];
  for (let at = 0, left = size; left > 0; at++) {
    const taken = Math.min(left, displayed(asks, at));
    if (taken > 0) levels.push({ price: asks.prices[at] as number, size: taken });
    left -= taken;
  }
  return levels;
}

/** Each member is written out: object spread costs ten times as much, and an opportunity lasts over many states. */
function pairSignal(state: MarketState, walk: PairWalk): Signal {
  const { yes, no, priceAge, nowMs } = state;
  const pairs = sharesOf(walk.size);
  const legs = [
    { token: 'yes', levels: walk.yesLevels },
    { token: 'no', levels: walk.noLevels },
  ] as const;
  const heldMs = Math.min(priceAge.askHeldMs('yes', nowMs), priceAge.askHeldMs('no', nowMs));
  return {
    tier: 'logical',
    confidence: confidenceOf(heldMs),
    direction: 'BUY_BOTH',
    fillPrice: averagePairPrice(legs, walk.size),
    fillSpread: (spreadTicks(yes.bids, yes.asks) + spreadTicks(no.bids, no.asks)) / TICKS_PER_USDC,
    availableSize: pairs,
    estFeePerShare: walk.fee / pairs,
    edgePerShare: walk.profit / pairs,
    modelYesProb: state.model.yesProb ?? impliedYesProb(state),
    marketYesMid: yesMidOf(state),
    heldMs,
    legs,
    best: bestPricesOf(state),
    model: readingOf(state.model),
  };
}

/** The YES mid; without a bid for YES, NO's ask implies one, as in a single book. */
function impliedYesProb({ yes, no }: MarketState): number {
  const ask = yes.asks.prices[0] as number;
  const bid =
    yes.bids.count > 0 ? (yes.bids.prices[0] as number) : TICKS_PER_USDC - (no.asks.prices[0] as number);
  return (bid + ask) / (2 * TICKS_PER_USDC);
}
