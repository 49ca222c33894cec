import { expect, test } from 'vitest';
import type { Ticker } from '../../schema/market.ts';
import { candleExchangeOf } from './candleSource.ts';

const TRADE = 'https://www.binance.com/en/trade/';
const FUTURES = 'https://www.binance.com/en/futures/';

test.each<[string, Ticker, string | null, 'spot' | 'futures' | null]>([
  ['a spot page', 'BTC', `${TRADE}BTC_USDT`, 'spot'],
  ['a spot page of HYPE: the asset alone does not decide', 'HYPE', `${TRADE}HYPE_USDT`, 'spot'],
  ['a futures page', 'HYPE', `${FUTURES}HYPEUSDT`, 'futures'],
  ['a futures page of an asset that had spot before', 'BTC', `${FUTURES}BTCUSDT`, 'futures'],
  ['the page of another asset', 'XRP', `${TRADE}BTC_USDT`, null],
  ['another exchange', 'BTC', 'https://www.coinbase.com/price/bitcoin', null],
  ['a page of another host', 'BTC', 'https://www.binance.com.example.com/en/trade/BTC_USDT', null],
  ['a stream of averages', 'BTC', 'https://data.chain.link/streams/btc-usd-twap-60s-streams', null],
  ['none, stored before it was read', 'SOL', null, 'spot'],
  ['none, of an asset followed since', 'XRP', null, null],
  ['none, of HYPE', 'HYPE', null, null],
])('%s', (_shows, ticker, resolutionSource, exchange) => {
  expect(candleExchangeOf({ ticker, resolutionSource })).toBe(exchange);
});
