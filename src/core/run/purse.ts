/** The money of a run, in whole micro-USD: its ledger, reserved and locked amounts, and caps of exposure. */

import type { OrderTerms, Refusal } from '../desk/order.ts';
import { MICRO_PER_USDC, type TakerFee } from '../fees.ts';
import { Ledger } from '../ledger.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { RunTerms } from './terms.ts';

/** More than the rounding of the fees and costs of all levels of one order. */
const ROUNDING_MICRO = 1_000;

/** What an order adds to, before it: cost of positions and reserved money. */
export interface Exposure {
  readonly market: number;
  readonly ticker: number;
  readonly total: number;
}

export class Purse {
  readonly ledger: Ledger;
  readonly #isLimited: boolean;
  readonly #caps: Exposure;
  readonly #redemptionDelayMs: number;
  /** Money of purchases that are in flight or rest. */
  reserved = 0;
  /** Payouts that are not cash yet. */
  locked = 0;
  /** By their time, soonest first. */
  readonly #redemptions: { readonly dueMs: number; readonly amount: number }[] = [];

  constructor({ cashUsd, exposure, redemptionDelayMs }: RunTerms) {
    this.ledger = new Ledger(cashUsd === null ? 0 : microOf(cashUsd));
    this.#isLimited = cashUsd !== null;
    const cap = (usd: number | null) => (usd === null ? Number.POSITIVE_INFINITY : microOf(usd));
    const { perMarketUsd, perTickerUsd, totalUsd } = exposure;
    this.#caps = { market: cap(perMarketUsd), ticker: cap(perTickerUsd), total: cap(totalUsd) };
    this.#redemptionDelayMs = redemptionDelayMs;
  }

  /** Neither reserved nor locked. Of an unlimited purse it starts at 0 and may be negative. */
  get cash(): number {
    return this.ledger.cash - this.reserved - this.locked;
  }

  get isLimited(): boolean {
    return this.#isLimited;
  }

  /** Why a purchase that reserves so much is refused; null: it is not. */
  refusalOf(amount: number, exposure: Exposure): Refusal | null {
    if (this.#isLimited && amount > this.cash) return 'no_cash';
    const { market, ticker, total } = this.#caps;
    const isWithin =
      exposure.market + amount <= market &&
      exposure.ticker + amount <= ticker &&
      exposure.total + amount <= total;
    return isWithin ? null : 'exposure_cap';
  }

  /** Keeps a payout until it is redeemed. */
  lock(amount: number, resolvedMs: number): void {
    if (amount === 0) return;
    this.locked += amount;
    const dueMs = resolvedMs + this.#redemptionDelayMs;
    const later = this.#redemptions.findIndex((other) => other.dueMs > dueMs);
    this.#redemptions.splice(later < 0 ? this.#redemptions.length : later, 0, { dueMs, amount });
  }

  /** Makes payouts cash that are redeemed by a time. @returns Whether there were any. */
  redeem(nowMs: number): boolean {
    let redeemed = false;
    for (
      let next = this.#redemptions[0];
      next !== undefined && next.dueMs <= nowMs;
      next = this.#redemptions[0]
    ) {
      this.#redemptions.shift();
      this.locked -= next.amount;
      redeemed = true;
    }
    return redeemed;
  }
}

/**
 * The most that the open part of a purchase can cost, with the fee.
 * @param size Units still open; @param budget Micro-USD still open.
 */
export function reserveOf(
  terms: OrderTerms,
  open: { readonly size: number | null; readonly budget: number | null },
  fee: TakerFee,
): number {
  const { action, limitPrice, postOnly } = terms;
  if (action === 'sell') return 0;
  if (open.budget !== null) {
    // Fewer shares are bought at higher prices: rate x principal is more than the fee at any price.
    return Math.ceil(open.budget * (1 + fee.rule.rate)) + ROUNDING_MICRO;
  }
  const size = open.size ?? 0;
  if (size === 0) return 0;
  const principal = (size * limitPrice) / TICKS_PER_USDC;
  // Price and fee together rise with the price.
  const feeMax = postOnly ? 0 : size * fee.perShare(limitPrice);
  return Math.ceil(principal + feeMax) + ROUNDING_MICRO;
}

function microOf(usd: number): number {
  return Math.round(usd * MICRO_PER_USDC);
}
