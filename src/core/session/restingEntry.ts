import type { Execution } from '../../schema/strategy.ts';
import type { OrderTerms } from '../desk/order.ts';
import { TICKS_PER_USDC } from '../money.ts';
import type { Token } from '../signals/signal.ts';

/** What a purchase that rests is decided from; prices in ticks. */
interface EntryDecision {
  readonly token: Token;
  readonly bid: number;
  readonly ask: number;
  readonly tickSize: number;
  readonly maxFillPrice: number;
  /** Whole micro-USD. */
  readonly budget: number;
}

/**
 * A post-only purchase at the best bid plus the offset, rounded down to a tick. It never reaches the best ask of the
 * decision: then it is one tick below.
 * @returns Null if there is no bid, or no tick from which to buy.
 */
export function restingPurchase(
  { offset }: Execution,
  { token, bid, ask, tickSize, maxFillPrice, budget }: EntryDecision,
): OrderTerms | null {
  const most = Math.min(maxFillPrice, Number.isNaN(ask) ? TICKS_PER_USDC - tickSize : ask - tickSize);
  const wanted = Math.min(most, bid + Math.round(offset * TICKS_PER_USDC));
  const limitPrice = Math.floor(wanted / tickSize) * tickSize;
  if (!(limitPrice > 0)) return null;
  const size = Math.floor((budget * TICKS_PER_USDC) / limitPrice);
  return {
    ...{ token, action: 'buy', limitPrice, size, budget: null },
    ...{ timeInForce: 'gtc', expiresMs: null, postOnly: true },
  };
}
