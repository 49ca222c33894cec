import { describe, expect, test } from 'vitest';
import { recording, recordingsAbsent } from '../../../../test/support/fixtures.ts';
import { parseResolutionSource } from './resolutionSource.ts';

describe('parseResolutionSource', () => {
  test.each([
    ['https://data.chain.link/streams/btc-usd', { kind: 'chainlink', coin: 'BTC', twapSeconds: null }],
    ['https://data.chain.link/streams/hype-usd', { kind: 'chainlink', coin: 'HYPE', twapSeconds: null }],
    [
      'https://data.chain.link/streams/btc-usd-twap-60s-streams',
      { kind: 'chainlink', coin: 'BTC', twapSeconds: 60 },
    ],
    [
      'https://data.chain.link/streams/eth-usd-twap-30s-streams',
      { kind: 'chainlink', coin: 'ETH', twapSeconds: 30 },
    ],
    [
      'https://data.chain.link/streams/btc-usd-twap-300s-streams',
      { kind: 'chainlink', coin: 'BTC', twapSeconds: 300 },
    ],
    ['https://www.binance.com/en/trade/BTC_USDT', { kind: 'binance_spot', symbol: 'BTCUSDT' }],
    ['https://www.binance.com/en/trade/BTC_USDT?type=spot', { kind: 'binance_spot', symbol: 'BTCUSDT' }],
    ['https://www.binance.com/en/futures/HYPEUSDT', { kind: 'binance_futures', symbol: 'HYPEUSDT' }],
    ['https://www.binance.com/EN/Trade/btc_usdt', { kind: 'binance_spot', symbol: 'BTCUSDT' }],
    ['https://www.binance.com/EN/Futures/btcusdc', { kind: 'binance_futures', symbol: 'BTCUSDC' }],
    ['https://www.binance.com/zh-CN/trade/BTC_USDT', { kind: 'binance_spot', symbol: 'BTCUSDT' }],
    [' https://www.binance.com/trade/SOL_USDT ', { kind: 'binance_spot', symbol: 'SOLUSDT' }],
  ])('reads %s', (text, source) => {
    expect(parseResolutionSource(text)).toEqual(source);
  });

  test.each([
    'https://hltv.org',
    'defipulse.com',
    'https://data.chain.link/streams/btc-usd-twap-streams',
    'https://data.chain.link/streams/btc-usd-twap-0s-streams',
    'https://data.chain.link/streams/btc-usd-twap-301s-streams',
    'https://data.chain.link/streams/btc-usd-twap-9999s-streams',
    'https://data.chain.link/streams/btc-usd-twap-60s-streams-2',
    'https://evil.example/https://data.chain.link/streams/btc-usd',
    'https://www.binance.com/en/options/BTCUSDT',
    'https://www.coinbase.com/price/bitcoin',
  ])('draws no conclusion from %s', (text) => {
    expect(parseResolutionSource(text)).toEqual({ kind: 'unknown', text });
  });

  test.each([null, undefined, '', '  '])('returns null for %j', (text) => {
    expect(parseResolutionSource(text)).toBeNull();
  });

  test('keeps the start of a long text', () => {
    expect(parseResolutionSource('x'.repeat(5000))).toEqual({ kind: 'unknown', text: 'x'.repeat(200) });
  });
});

test.skipIf(recordingsAbsent).each([
  ['gamma_market_btc_updown_5m', { kind: 'chainlink', coin: 'BTC', twapSeconds: 60 }],
  ['gamma_market_with_feeschedule', { kind: 'chainlink', coin: 'BTC', twapSeconds: 60 }],
])('reads the source of the recorded %s (skipped where the recordings are absent)', (name, source) => {
  const raw = JSON.parse(recording(`polymarket/pulsearb/${name}.json`));
  expect(parseResolutionSource(raw.resolutionSource)).toEqual(source);
});
