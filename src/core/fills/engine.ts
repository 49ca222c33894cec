/**
 * One taker order against one book: the definition of a fill for backtests, sweeps, paper trading and the audit. Orders
 * are fill-and-kill: the order fills from the book in force within its limit, the rest is cancelled.
 */
import type { SideView } from '../../schema/records.ts';
import type { TakerFee } from '../fees.ts';
import { TICKS_PER_USDC } from '../money.ts';
import { averagePrice, buyForBudget, buyShares, displayed, type Fill, sellShares } from './walk.ts';

/** Exactly one of `size` and `budget` is given. */
export interface TakerOrder {
  readonly action: 'buy' | 'sell';
  /** The worst accepted price, in ticks. */
  readonly limitPrice: number;
  /** Whole units of 1/1,000,000 share. */
  readonly size: number | null;
  /** Of a purchase: maximum whole micro-USD spent on shares; the fee is added. */
  readonly budget: number | null;
}

/** Best prices of one token in ticks; NaN if a side is empty. */
export interface Best {
  readonly bid: number;
  readonly ask: number;
}

/** Best prices of both tokens in ticks; NaN if a side is empty. */
export interface BestPrices {
  readonly yesBid: number;
  readonly yesAsk: number;
  readonly noBid: number;
  readonly noAsk: number;
}

/** More than any order's size: a fill at the mid is not limited by size. */
const BOTTOMLESS = 1e15;

/**
 * Fills an order from the levels it meets; null: no fill.
 * @throws {RangeError} If the order has no amount.
 */
export function fillTaker(order: TakerOrder, side: SideView, fee: TakerFee): Fill | null {
  const { action, limitPrice, size, budget } = order;
  if (size !== null) return (action === 'sell' ? sellShares : buyShares)(side, { size, fee, limitPrice });
  if (action === 'sell' || budget === null) throw new RangeError('an order without an amount');
  return buyForBudget(side, { budget, fee, feeOnTop: true, limitPrice });
}

/** Why an order was not filled: no size was displayed, or all of it was beyond its limit. */
export function whyNothing(side: SideView): 'no_depth' | 'price' {
  for (let at = 0; at < side.count; at++) if (displayed(side, at) > 0) return 'price';
  return 'no_depth';
}

/** The terms of an order in ticks: its decision price, and how far from it and how high it may fill. */
interface LimitTerms {
  /** Best price at the decision. */
  readonly best: number;
  /** Infinite: no limit. */
  readonly maxSlippage: number;
  readonly maxFillPrice: number;
}

/** The worst price at which an order may fill, in ticks. */
export function limitOf(kind: TakerOrder['action'], { best, maxSlippage, maxFillPrice }: LimitTerms): number {
  return kind === 'buy' ? Math.min(maxFillPrice, best + maxSlippage) : Math.max(0, best - maxSlippage);
}

/**
 * The side that orders meet in the fill mode `mid`: one level of unlimited size, at the mid rounded to a tick against
 * the taker.
 * @returns Empty unless both sides are quoted and not crossed.
 */
export function midSide(kind: TakerOrder['action'], { bid, ask }: Best): SideView {
  const sum = bid + ask;
  const price = kind === 'buy' ? Math.ceil(sum / 2) : Math.floor(sum / 2);
  const quoted = bid <= ask && price > 0 && price < TICKS_PER_USDC;
  return {
    count: quoted ? 1 : 0,
    prices: Uint16Array.of(price),
    sizes: Float64Array.of(BOTTOMLESS),
  };
}

/** The delays of an order: the latency to the venue, then the venue's hold on orders that would trade at once. */
interface Delays {
  readonly latencyMs: number;
  readonly takerHoldMs: number;
}

/** When an order meets the book: it fills from the book in force then, not from the one it was placed on. */
export function dueTime(placedMs: number, { latencyMs, takerHoldMs }: Delays): number {
  return placedMs + latencyMs + takerHoldMs;
}

/** Average price minus the best price at the decision, USDC per share; positive is worse. @param best In ticks. */
export function slippageOf(kind: TakerOrder['action'], fill: Fill, best: number): number {
  const [filled, decided] = [averagePrice(fill), best / TICKS_PER_USDC];
  return kind === 'buy' ? filled - decided : decided - filled;
}
