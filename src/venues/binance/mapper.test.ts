import { describe, expect, test } from 'vitest';
import { recording, recordingLines, recordingsAbsent } from '../../../test/support/fixtures.ts';
import { MALFORMED_DECIMALS } from '../../../test/support/malformedDecimals.ts';
import { VenueMessageError } from '../../runtime/errors.ts';
import { mapBinanceFrame } from './mapper.ts';

const trade = {
  e: 'trade',
  E: 1723161255343,
  s: 'BTCUSDT',
  t: 1,
  p: '61837.63000000',
  q: '0.02',
  T: 1723161255342,
};

describe('mapBinanceFrame', () => {
  test.each([
    ['wrapped', JSON.stringify({ stream: 'btcusdt@trade', data: trade })],
    ['bare', JSON.stringify(trade)],
    ['aggregated', JSON.stringify({ ...trade, e: 'aggTrade', a: 5, f: 1, l: 2 })],
  ])('maps a trade, %s', (_shows, frame) => {
    expect(mapBinanceFrame(frame, 7)).toEqual([
      {
        kind: 'underlying',
        ticker: 'BTC',
        source: 'binance_spot',
        price: 61837.63,
        eventTimeMs: 1723161255342,
        receivedTimeMs: 7,
      },
    ]);
  });

  test.each([
    ['a subscription’s answer', { result: null, id: 1 }],
    ['a book ticker', { u: 1, s: 'BTCUSDT', b: '1', B: '1', a: '2', A: '1' }],
    ['a depth update', { e: 'depthUpdate', s: 'BTCUSDT' }],
    ['another symbol', { ...trade, s: 'BTCUSDC' }],
    ['a price of zero', { ...trade, p: '0.00' }],
    ['null', null],
  ])('yields no price for %s', (_shows, message) => {
    expect(mapBinanceFrame(JSON.stringify(message), 7)).toEqual([]);
  });

  test.each([
    ['no JSON', 'oops', /^no JSON: oops$/],
    ['no price', JSON.stringify({ ...trade, p: undefined }), /^binance trade: p /],
    ['no time', JSON.stringify({ ...trade, T: null }), /^binance trade: T /],
    ['a time in microseconds', JSON.stringify({ ...trade, T: trade.T * 1_000 }), /^binance trade: T /],
    ['a time in seconds', JSON.stringify({ ...trade, T: Math.floor(trade.T / 1_000) }), /^binance trade: T /],
    ['an error', '{"error":{"code":2}}', /^binance error: \{"error":\{"code":2\}\}$/],
  ])('rejects a frame with %s', (_shows, frame, message) => {
    expect(() => mapBinanceFrame(frame, 7)).toThrow(VenueMessageError);
    expect(() => mapBinanceFrame(frame, 7)).toThrow(message);
  });

  test.each(MALFORMED_DECIMALS)('rejects the price “%s”', (p) => {
    expect(() => mapBinanceFrame(JSON.stringify({ ...trade, p }), 7)).toThrow(/^binance trade: p /);
  });

  test('reads a price without decimals', () => {
    expect(mapBinanceFrame(JSON.stringify({ ...trade, p: '61837' }), 7)).toMatchObject([{ price: 61837 }]);
  });

  test('repeats at most 200 characters of an error', () => {
    const frame = JSON.stringify({ error: 'x'.repeat(300) });
    expect(() => mapBinanceFrame(frame, 7)).toThrow(
      new VenueMessageError(`binance error: ${frame.slice(0, 200)}`),
    );
  });
});

describe.skipIf(recordingsAbsent)('recorded trades (skipped where the recordings are absent)', () => {
  test('maps every trade of the spot stream of 2024-08-08 and nothing else', () => {
    let trades = 0;
    const wrong: string[] = [];
    for (const line of recordingLines('binance/hftbacktest-spot-btcusdt-2024-08-08/btcusdt_20240808.gz')) {
      const frame = line.slice(line.indexOf(' ') + 1);
      const events = mapBinanceFrame(frame, 1);
      const price = frame.includes('"e":"trade"') ? /"p":"([\d.]+)"/.exec(frame)?.[1] : undefined;
      if (price !== undefined) trades++;
      if (events.length > 1 || events[0]?.price !== (price && Number(price))) wrong.push(frame);
    }
    expect(wrong).toEqual([]);
    expect(trades).toBe(9757);
  });

  test('yields nothing for sample frames of other kinds', () => {
    const samples = 'binance/nautilus_trader-samples/futures_market_data_json';
    for (const kind of [
      'book_ticker_stream',
      'depth_update_stream',
      'kline_stream_open',
      'kline_stream_closed',
    ]) {
      expect(mapBinanceFrame(recording(`${samples}_${kind}.json`), 1)).toEqual([]);
    }
    const aggregated = { ...JSON.parse(recording(`${samples}_agg_trade_stream.json`)), T: trade.T };
    expect(mapBinanceFrame(JSON.stringify(aggregated), 1)).toHaveLength(1);
  });
});
