import type { Market } from '../../api/schema.ts';
import { assetPrice, percent } from '../../ui/format.ts';

const NOT_BEGUN = 'not begun';

/** The window begins later than `nowMs`, which is by the service's clock. */
function isAhead({ start_time }: Pick<Market, 'start_time'>, nowMs: number): boolean {
  return Date.parse(start_time) > nowMs;
}

/** The state of a market without an outcome. */
export function stateText(market: Pick<Market, 'start_time' | 'status'>, nowMs: number): string {
  if (market.status === 'resolved') return '50-50';
  return market.status === 'open' && isAhead(market, nowMs) ? NOT_BEGUN : market.status;
}

/** The share of the window that was recorded and proven; a window that has not begun has none yet. */
export function coverageText(market: Pick<Market, 'start_time' | 'coverage'>, nowMs: number): string {
  return isAhead(market, nowMs) ? NOT_BEGUN : percent(market.coverage);
}

/** The strike, or in words why there is none: it is the price at the start of the window. */
export function strikeText(market: Pick<Market, 'start_time' | 'strike_price'>, nowMs: number): string {
  if (market.strike_price !== null) return assetPrice(market.strike_price);
  return isAhead(market, nowMs) ? NOT_BEGUN : 'not known';
}

/** The price at the end of the window, or in words why there is none. */
export function closeText(market: Pick<Market, 'end_time' | 'close_price'>, nowMs: number): string {
  if (market.close_price !== null) return assetPrice(market.close_price);
  return Date.parse(market.end_time) > nowMs ? 'not ended' : 'not known';
}
