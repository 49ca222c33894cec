/** A market whose two tokens are briefly quoted apart, so that both together cost less than they pay. */

import type { Random } from '../core/random.ts';
import { type Ladder, NO_ASK, PRICE_TEXT, sizeText } from './ladder.ts';
import { CENT } from './shape.ts';

/** Down's sides as wire JSON. */
export interface PartedDown {
  readonly bids: string;
  readonly asks: string;
}

/** Down with one ask below all others, and without the bids it would cross. */
export function partedDown(ladder: Ladder, { ask, size }: { ask: number; size: number }): PartedDown {
  const { bids, asks } = ladder.json(false);
  const below = JSON.parse(bids).filter(
    (bid: { price: string }) => Math.round(Number(bid.price) * NO_ASK) < ask,
  );
  const offers = JSON.parse(asks).filter(
    (one: { price: string }) => Math.round(Number(one.price) * NO_ASK) > ask,
  );
  // Worst first, in the venue's order of asks.
  offers.push({ price: PRICE_TEXT[ask], size: sizeText(size) });
  return { bids: JSON.stringify(below), asks: JSON.stringify(offers) };
}

/** Discount of a pair to 1 before fees, in cents; fees take about 3.5 of them at prices near one half. */
const DISCOUNT_CENTS = { low: 4, high: 7 };
const MID_MIN = 150;
/** Shares offered, in hundredths. */
const OFFER = { low: 500, high: 20_000 };

/** An ask of Down that makes the pair cheap; null when the book has no room for one. */
export function cheapOffer(ladder: Ladder, random: Random): { ask: number; size: number } | null {
  const { bestAsk, bestBid, isTwoSided } = ladder;
  const mid = (bestAsk + bestBid) / 2;
  if (!isTwoSided || mid < MID_MIN || mid > NO_ASK - MID_MIN) return null;
  const discount = CENT * Math.round(random.uniform(DISCOUNT_CENTS.low, DISCOUNT_CENTS.high));
  const ask = Math.floor((NO_ASK - bestAsk - discount) / CENT) * CENT;
  const size = Math.round(random.uniform(OFFER.low, OFFER.high));
  return ask < CENT ? null : { ask, size };
}
