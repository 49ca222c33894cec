import { expect, test } from 'vitest';
import { decidingFeedOf } from './decidingFeed.ts';

const SPOT = 'https://data.chain.link/streams/btc-usd';
const TWAP_60 = 'https://data.chain.link/streams/btc-usd-twap-60s-streams';
const TWAP_30 = 'https://data.chain.link/streams/btc-usd-twap-30s-streams';
const TRADE = 'https://www.binance.com/en/trade/BTC_USDT';
const FUTURES = 'https://www.binance.com/en/futures/BTCUSDT';

test.each([
  ['the stream’s price', '5m', SPOT, null, 'chainlink_spot', null],
  ['its average', '5m', TWAP_60, null, 'chainlink_twap', 60],
  ['an average of another length', '5m', TWAP_30, null, 'chainlink_twap', 30],
  [
    'a config with an average',
    '15m',
    null,
    { twapEnabled: true, twapLookbackSeconds: 60 },
    'chainlink_twap',
    60,
  ],
  [
    'a config over an older text',
    '5m',
    SPOT,
    { twapEnabled: true, twapLookbackSeconds: 60 },
    'chainlink_twap',
    60,
  ],
  [
    'a config’s length over that of the text',
    '5m',
    TWAP_60,
    { twapLookbackSeconds: 30 },
    'chainlink_twap',
    30,
  ],
  ['a config without average', '5m', TWAP_60, { twapEnabled: false }, 'chainlink_spot', 60],
  ['a length alone', '5m', null, { twapLookbackSeconds: 60 }, null, 60],
  ['Binance’s candle', '1h', TRADE, null, 'binance_spot', null],
  ['a futures candle', '1h', FUTURES, null, 'binance_futures', null],
  ['a candle, whatever the config', '1h', TRADE, { twapEnabled: false }, 'binance_spot', null],
  ['a stream for an hour', '1h', TWAP_60, null, 'chainlink_twap', 60],
  ['a config alone for an hour', '1h', null, { twapEnabled: false }, null, null],
  ['another coin’s stream', '5m', 'https://data.chain.link/streams/eth-usd', null, null, null],
  ['another coin’s candle', '1h', 'https://www.binance.com/en/trade/ETH_USDT', null, 'unknown', null],
  [
    'another coin’s candle for 5 minutes',
    '5m',
    'https://www.binance.com/en/trade/ETH_USDT',
    null,
    null,
    null,
  ],
  ['another currency’s candle', '1h', 'https://www.binance.com/en/trade/BTC_USDC', null, 'unknown', null],
  [
    'another coin’s stream for an hour',
    '1h',
    'https://data.chain.link/streams/eth-usd',
    null,
    'unknown',
    null,
  ],
  ['another text for an hour', '1h', 'https://example.com', null, 'unknown', null],
  ['no text for an hour', '1h', null, null, null, null],
  ['another text', '5m', 'https://example.com', null, null, null],
  ['nothing', '5m', undefined, undefined, null, null],
  ['odd types', '5m', 7, { twapEnabled: 'yes' }, null, null],
] as const)('reads %s', (_, eventType, resolutionSource, cryptoMarketConfig, decidingFeed, seconds) => {
  const read = decidingFeedOf({ resolutionSource, cryptoMarketConfig }, { ticker: 'BTC', eventType });
  expect(read).toEqual({ decidingFeed, twapLookbackSeconds: seconds });
});
