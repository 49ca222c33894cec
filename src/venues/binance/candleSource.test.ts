import { expect, test } from 'vitest';
import type { DecidingFeed, Ticker } from '../../schema/market.ts';
import { candleExchangeOf } from './candleSource.ts';

test.each<[string, Ticker, DecidingFeed | null, 'spot' | 'futures' | null]>([
  ['a spot page', 'BTC', 'binance_spot', 'spot'],
  ['a spot page of HYPE: the asset alone does not decide', 'HYPE', 'binance_spot', 'spot'],
  ['a futures page', 'HYPE', 'binance_futures', 'futures'],
  ['a futures page of an asset that had spot before', 'BTC', 'binance_futures', 'futures'],
  ['a page that is not known', 'BTC', 'unknown', null],
  ['a stream of averages', 'BTC', 'chainlink_twap', null],
  ['none, stored before it was read', 'SOL', null, 'spot'],
  ['none, of an asset followed since', 'XRP', null, null],
  ['none, of HYPE', 'HYPE', null, null],
])('%s', (_shows, ticker, decidingFeed, exchange) => {
  expect(candleExchangeOf({ ticker, decidingFeed })).toBe(exchange);
});
