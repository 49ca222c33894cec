/**
 * One taker order against one book: what backtests, sweeps, paper trading and the audit mean by a fill.
 * Orders are of the fill-and-kill kind: what the book in force gives within the limit, the rest is cancelled.
 */
import type { SideView } from '../../schema/records.ts';
import type { TakerFee } from '../fees.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Token } from '../signals/signal.ts';
import { averagePrice, buyForBudget, displayed, type Fill, sellShares } from './walk.ts';

/** Buys for an amount of money, or sells shares. */
export type TakerOrder =
  /** `budget`: whole micro-USD spent on shares at most; the fee comes on top. `limitPrice`: ticks. */
  | { readonly kind: 'buy'; readonly token: Token; readonly budget: number; readonly limitPrice: number }
  /** `size`: whole units of 1/1,000,000 share. */
  | { readonly kind: 'sell'; readonly token: Token; readonly size: number; readonly limitPrice: number };

/** Best prices of one token in ticks; NaN where a side is empty. */
export interface Best {
  readonly bid: number;
  readonly ask: number;
}

/** More than any order takes: at the mid, size is not asked for. */
const BOTTOMLESS = 1e15;

/** What an order gets from the levels it meets; null: nothing. */
export function fillTaker(order: TakerOrder, side: SideView, fee: TakerFee): Fill | null {
  const { limitPrice } = order;
  if (order.kind === 'sell') return sellShares(side, { size: order.size, fee, limitPrice });
  return buyForBudget(side, { budget: order.budget, fee, feeOnTop: true, limitPrice });
}

/** Why an order got nothing of the levels it met: nothing was shown, or all of it beyond its limit. */
export function whyNothing(side: SideView): 'no_depth' | 'price' {
  for (let at = 0; at < side.count; at++) if (displayed(side, at) > 0) return 'price';
  return 'no_depth';
}

/** What an order is placed at, in ticks: its decision price, and how far from it and how high it may fill. */
export interface LimitTerms {
  /** Best price at the decision. */
  readonly best: number;
  /** Infinite: any. */
  readonly maxSlippage: number;
  readonly maxFillPrice: number;
}

/** The worst price an order may fill at, in ticks. */
export function limitOf(kind: TakerOrder['kind'], { best, maxSlippage, maxFillPrice }: LimitTerms): number {
  return kind === 'buy' ? Math.min(maxFillPrice, best + maxSlippage) : Math.max(0, best - maxSlippage);
}

/**
 * The side an order meets where every order is dealt with at the mid, as much as it wants: one level, at the mid
 * rounded to a tick against the taker.
 * @returns Empty unless both sides are quoted and not crossed.
 */
export function midSide(kind: TakerOrder['kind'], { bid, ask }: Best): SideView {
  const sum = bid + ask;
  const price = kind === 'buy' ? Math.ceil(sum / 2) : Math.floor(sum / 2);
  const quoted = bid <= ask && price > 0 && price < TICKS_PER_USDC;
  return {
    count: quoted ? 1 : 0,
    prices: Uint16Array.of(price),
    sizes: Float64Array.of(BOTTOMLESS),
  };
}

/** What delays an order: the way to the venue, then the hold the venue puts on what would trade at once. */
export interface Delays {
  readonly latencyMs: number;
  readonly takerHoldMs: number;
}

/** When an order meets the book: the one in force then decides, not the one it was placed on. */
export function dueTime(placedMs: number, { latencyMs, takerHoldMs }: Delays): number {
  return placedMs + latencyMs + takerHoldMs;
}

/**
 * Average price against the best at the decision, USDC per share; positive is worse.
 * @param best In ticks.
 */
export function slippageOf(kind: TakerOrder['kind'], fill: Fill, best: number): number {
  const [filled, decided] = [averagePrice(fill), best / TICKS_PER_USDC];
  return kind === 'buy' ? filled - decided : decided - filled;
}
