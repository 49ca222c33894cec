import {
  distanceToStrike,
  type Outlook,
  probabilityUp,
  sigmaPerSecond,
} from '../../../src/core/pricing/probability.ts';
import { SETTLEMENTS } from '../../../src/core/venueRulesTable.ts';
import type { LiveWindow } from '../api/schema.ts';
import type { TickerPrices } from './tickerPrices.ts';

/** What the price of a window depends on, beside the underlying. */
type PricedWindow = Pick<LiveWindow, 'start_time' | 'end_time' | 'market_type' | 'strike_price'>;

/** Length of the mean that decides a window, by the venue's rule at its opening; 0: a single price decides. */
function twapSecondsOf(market: PricedWindow): number {
  const startMs = Date.parse(market.start_time);
  const rule = SETTLEMENTS.findLast(
    ({ fromMs, eventTypes }) =>
      fromMs <= startMs && (eventTypes === undefined || eventTypes.some((one) => one === market.market_type)),
  );
  return rule?.is.kind === 'chainlink_twap' ? rule.is.lookbackSeconds : 0;
}

/** Distance of the price from the strike in standard deviations, and P(Up); null where an input is unknown. */
export function priceMarket(
  market: PricedWindow,
  prices: TickerPrices | undefined,
  nowMs: number,
): { distance: number | null; modelProbability: number | null } {
  const strike = market.strike_price;
  const sigmaAnnual = prices?.sigmaAnnual(nowMs) ?? null;
  const spot = prices?.price ?? null;
  if (strike === null || sigmaAnnual === null || spot === null || prices === undefined) {
    return { distance: null, modelProbability: null };
  }
  const endMs = Date.parse(market.end_time);
  const twapSeconds = twapSecondsOf(market);
  const averageFromMs = endMs - twapSeconds * 1000;
  const isAveraging = twapSeconds > 0 && nowMs > averageFromMs;
  const inside = isAveraging ? prices.seconds.mean({ fromMs: averageFromMs, toMs: nowMs }) : 0;
  if (inside === null) return { distance: null, modelProbability: null };
  const outlook: Outlook = {
    ...{ spot, strike, twapSeconds, insideMean: inside },
    secondsLeft: (endMs - nowMs) / 1000,
    sigma: sigmaPerSecond(sigmaAnnual),
  };
  return { distance: distanceToStrike(outlook), modelProbability: probabilityUp(outlook) };
}
