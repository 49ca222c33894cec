import type { Market, Ticker } from '../../schema/market.ts';

/** The spot market, or the USD-M futures market. */
export type CandleExchange = 'spot' | 'futures';

/** Followed before the deciding feed was stored; spot has always decided their hours and days. */
const SPOT_WITHOUT_FEED: ReadonlySet<Ticker> = new Set<Ticker>(['BTC', 'ETH', 'SOL']);

/**
 * The exchange whose candle decides a market, by its own listing. The asset alone does not decide it: HYPE is decided by
 * futures although it also has a spot market since 2026-09-24.
 * @returns Null if the listing names no candles of this asset.
 */
export function candleExchangeOf({
  ticker,
  decidingFeed,
}: Pick<Market, 'decidingFeed'> & { readonly ticker: Ticker }): CandleExchange | null {
  if (decidingFeed === null) return SPOT_WITHOUT_FEED.has(ticker) ? 'spot' : null;
  if (decidingFeed === 'binance_spot') return 'spot';
  return decidingFeed === 'binance_futures' ? 'futures' : null;
}
