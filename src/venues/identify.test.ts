import { describe, expect, test } from 'vitest';
import { recording, recordingLines, recordingsAbsent } from '../../test/support/fixtures.ts';
import { type FrameOrigin, identifyFrame } from './identify.ts';

describe('identifyFrame', () => {
  const rows: [FrameOrigin, string][] = [
    ['polymarket.clob', 'PONG'],
    ['polymarket.clob', '[]'],
    ['polymarket.clob', '[{"event_type":"book"}]'],
    ['polymarket.clob', '[{"event_type":"book"},{"type":"hello"}]'],
    ['polymarket.clob', '{"event_type":"price_change","price_changes":[]}'],
    ['polymarket.rtds', '{"topic":"crypto_prices","type":"update","payload":{}}'],
    ['polymarket.rtds', '{"topic":"crypto_prices_twap_sixty","type":"update","payload":{}}'],
    ['polymarket.polybolt', '{"v":1,"channel":"price.crypto.twap","seq":3,"ts":1,"payload":{}}'],
    ['polymarket.polybolt', '{"op":"subscribed","channel":"price.crypto","rid":"1"}'],
    ['bybit.ws', '{"topic":"orderbook.50.BTCUSDT","type":"delta"}'],
    ['bybit.ws', '{"success":true,"ret_msg":"","op":"subscribe"}'],
    ['bybit.rest', '{"retCode":10006,"retMsg":"Too many visits!","result":{}}'],
    ['hyperliquid.rest', '{"coin":"BTC","time":1761786491067,"levels":[[],[]]}'],
    ['binance', '{"stream":"btcusdt@trade","data":{"e":"trade","s":"BTCUSDT"}}'],
    ['binance', '{"e":"aggTrade","s":"BTCUSDT"}'],
    ['binance', '{"u":5,"s":"BTCUSDT","b":"1","B":"1","a":"2","A":"1"}'],
    ['binance', '{"lastUpdateId":5,"bids":[],"asks":[]}'],
    ['coinbase', '{"type":"ticker","product_id":"BTC-USD"}'],
    ['coinbase', '{"type":"heartbeat","sequence":90,"product_id":"BTC-USD"}'],
    ['unknown', '{"topic":"weather","type":"update"}'],
    // It names no instrument, so no recording of it can be read.
    ['unknown', '{"code":"0","msg":"","data":[{"asks":[],"bids":[],"ts":"1629966436396","seqId":1}]}'],
    ['polymarket.clob', 'NO NEW ASSETS'],
    ['polymarket.clob', 'INVALID MESSAGE'],
    ['polymarket.clob', 'INVALID OPERATION'],
    ['bybit.ws', '{"topic":"publicTrade.BTCUSDT","type":"snapshot"}'],
    ['bybit.ws', '{"topic":"tickers.BTCUSDT","type":"delta"}'],
    ['binance', '{"e":"kline","s":"BTCUSDT"}'],
    ['binance', '{"e":"trade","s":"BTCUSDT","type":"ticker"}'],
    ...['match', 'last_match', 'subscriptions', 'subscribe', 'error'].map((type): [FrameOrigin, string] => [
      ...(['coinbase', `{"type":"${type}"}`] as const),
    ]),
    ['unknown', '{"e":"outage"}'],
    ['unknown', '{"e":"trade"}'],
    ['unknown', '{"e":"trade","s":7}'],
    ['unknown', '{"e":"mytrade","s":"BTCUSDT"}'],
    ['unknown', '{"e":"trades","s":"BTCUSDT"}'],
    ['unknown', '{"u":5.5,"s":"BTCUSDT","b":"1","B":"1","a":"2","A":"1"}'],
    ['unknown', '{"u":5,"s":"BTCUSDT","b":"1","B":"1","a":"2"}'],
    ['unknown', '{"lastUpdateId":5,"bids":{}}'],
    ['unknown', '{"bids":[]}'],
    ['unknown', '{"stream":"x","data":[{"e":"trade","s":"BTCUSDT"}]}'],
    ['unknown', '{"data":{"e":"trade","s":"BTCUSDT"}}'],
    ['unknown', '{"topic":"myorderbook.50.BTCUSDT"}'],
    ['unknown', '{"topic":"orderbook"}'],
    ['unknown', '{"topic":"all crypto_prices"}'],
    ['unknown', '{"channel":"the price.crypto"}'],
    ['unknown', '{"event_type":7}'],
    ['unknown', '{"retCode":"0","result":{}}'],
    ['unknown', '{"retCode":0}'],
    ['unknown', '{"op":1,"ret_msg":""}'],
    ['unknown', '{"coin":"BTC","levels":{}}'],
    ['unknown', '{"coin":1,"levels":[]}'],
    ['unknown', '{"type":"my ticker"}'],
    ['unknown', '{"type":"tickers"}'],
    ['unknown', '[[]]'],
    ['unknown', '{"type":"hello"}'],
    ['unknown', '{"op":"pong","rid":"ping"}'],
    ['unknown', '[1,2]'],
    ['unknown', 'null'],
    ['unknown', 'hello'],
    ['unknown', '{"event_type":'],
  ];
  test.each(rows)('%s: %s', (origin, text) => {
    expect(identifyFrame(text)).toBe(origin);
  });
});

describe.skipIf(recordingsAbsent)('recorded frames (skipped where the recordings are absent)', () => {
  const origins = (frames: readonly string[]) => [...new Set(frames.map(identifyFrame))];

  test('identifies one venue per recording', () => {
    const binance = (kind: string) =>
      recordingLines(`binance/hftbacktest-${kind}-btcusdt-2024-08-08/btcusdt_20240808.gz`)
        .filter((_line, index) => index % 10 === 0)
        .map((line) => line.slice(line.indexOf(' ') + 1));
    expect(origins(binance('spot'))).toEqual(['binance']);
    expect(origins(binance('usdm'))).toEqual(['binance']);
    for (const path of [
      'linear-orderbook50-2026-03-13/frames.jsonl',
      'gocryptotrader-spot-orderbook50-2024-11-08/frames.jsonl',
      'gocryptotrader-spot-orderbook50-2024-11-08/wsTicker.jsonl',
      'nautilus-xrpusdt-ob500-2024-12-01/2024-12-01_XRPUSDT_ob500.jsonl',
    ]) {
      expect(origins(recordingLines(`bybit/${path}`))).toEqual(['bybit.ws']);
    }
    expect(origins([recording('bybit/rest-samples/orderbook_linear_limit50_derived.json')])).toEqual([
      'bybit.rest',
    ]);
    expect(origins(recordingLines('polymarket/alimohammad1995-PolybotV2/frames.jsonl'))).toEqual([
      'polymarket.clob',
    ]);
    const quoted = (path: string, key: string) =>
      recordingLines(path).map((line) => JSON.parse(line)[key] as string);
    expect(origins(quoted('polymarket/single-frames/frames.jsonl', 'text'))).toEqual(['polymarket.clob']);
    expect(origins(quoted('polymarket/ww-shan-polyFIFA2026/crossed-fill.jsonl', 'frame'))).toEqual([
      'polymarket.clob',
    ]);
    // Errors and pongs name no channel.
    expect(origins(quoted('polymarket/polybolt-ts-sdk/frames.jsonl', 'text'))).toEqual([
      'unknown',
      'polymarket.polybolt',
    ]);
    const coinbase = recordingLines('coinbase/cryptofeed-ticker-2021-04-17/ticker_match.txt');
    expect(origins(coinbase.map((line) => line.slice(line.indexOf('{'))))).toEqual(['coinbase']);
  });
});
