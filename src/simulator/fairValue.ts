/** The value of a share of Up to makers who see the spot price a little late. */
import { probabilityUp } from '../core/pricing/probability.ts';
import type { Ticker } from '../schema/market.ts';
import type { SimulatedMarket } from './markets.ts';
import { type PriceBoard, TWAP_SECONDS } from './prices.ts';

/** Daily windows are decided by the one-minute candle that begins at their end. */
export const DAILY_CANDLE_MS = 60_000;
/** Age of the spot price for makers: with the wait for the next quote, book and spot are 0.3-0.4 s apart. */
const REACTION_MS = 100;

/** P(Up), 0..1, as of `nowMs`; the payout when the outcome is known. */
export function fairUp(
  { facts, fate }: SimulatedMarket,
  { prices, nowMs }: { prices: PriceBoard; nowMs: number },
): number {
  const { ticker, eventType, window } = facts;
  const { strike, payoutUp } = fate;
  if (payoutUp !== null) return payoutUp;
  const lengthSeconds = (window.endTimeMs - window.startTimeMs) / 1000;
  const untilStart = (window.startTimeMs - nowMs) / 1000;
  const sigma = prices.sigma(ticker);
  const spot = prices.lagged(ticker, REACTION_MS);
  if (untilStart >= TWAP_SECONDS) return 0.5;
  const isAveraged = eventType !== '1h' && eventType !== 'daily_up_down';
  if (untilStart > 0) {
    if (!isAveraged) return 0.5;
    // Part of the strike's average is known already; the rest is expected at the current price.
    const inside = meanSoFar(prices, ticker, untilStart);
    const expected = (inside * (TWAP_SECONDS - untilStart) + spot * untilStart) / TWAP_SECONDS;
    const averaged = { twapSeconds: TWAP_SECONDS, insideMean: 0 };
    return probabilityUp({ spot, strike: expected, secondsLeft: lengthSeconds, sigma, ...averaged });
  }
  const lateMs = eventType === 'daily_up_down' ? DAILY_CANDLE_MS : 0;
  const secondsLeft = Math.max(0, (window.endTimeMs + lateMs - nowMs) / 1000);
  const twapSeconds = isAveraged ? TWAP_SECONDS : 0;
  const insideMean = secondsLeft < twapSeconds ? meanSoFar(prices, ticker, secondsLeft) : 0;
  return probabilityUp({ spot, strike: strike ?? spot, secondsLeft, sigma, twapSeconds, insideMean });
}

/**
 * Mean over the elapsed part of a TWAP. The current second has no point yet, so the current price is used for it;
 * otherwise the value would jump twice a second.
 */
function meanSoFar(prices: PriceBoard, ticker: Ticker, secondsLeft: number): number {
  const points = TWAP_SECONDS - Math.ceil(secondsLeft);
  const running = Math.ceil(secondsLeft) - secondsLeft;
  const sum = points === 0 ? 0 : points * prices.meanOf(ticker, points);
  const seconds = points + running;
  return seconds === 0 ? prices.spot(ticker) : (sum + running * prices.lagged(ticker, REACTION_MS)) / seconds;
}
