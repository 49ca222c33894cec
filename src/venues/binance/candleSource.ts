import type { Market, Ticker } from '../../schema/market.ts';
import { binanceSymbol } from './mapper.ts';

/** The spot market, or the USD-M futures market. */
export type CandleExchange = 'spot' | 'futures';

/**
 * `https://www.binance.com/en/trade/BTC_USDT` (spot) or `https://www.binance.com/en/futures/HYPEUSDT`: the only two
 * forms in 22,713 listings of hours from 2026-03-15 to 2026-07-27.
 */
const PAGE = /^https:\/\/www\.binance\.com\/en\/(trade|futures)\/([A-Z]+)_?USDT$/;
/** Followed before the source was stored; spot has always decided their hours and days. */
const SPOT_WITHOUT_SOURCE: ReadonlySet<Ticker> = new Set<Ticker>(['BTC', 'ETH', 'SOL']);

/**
 * The exchange whose candle decides a market, by its own listing. The asset alone does not decide it: HYPE is decided by
 * futures although it also has a spot market since 2026-09-24.
 * @returns Null if the listing names no page of this asset's candles.
 */
export function candleExchangeOf({
  ticker,
  resolutionSource,
}: Pick<Market, 'resolutionSource'> & { readonly ticker: Ticker }): CandleExchange | null {
  if (resolutionSource === null) return SPOT_WITHOUT_SOURCE.has(ticker) ? 'spot' : null;
  const [, kind, asset] = PAGE.exec(resolutionSource) ?? [];
  if (asset === undefined || `${asset}USDT` !== binanceSymbol(ticker)) return null;
  return kind === 'trade' ? 'spot' : 'futures';
}
