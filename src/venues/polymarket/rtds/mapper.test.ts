import { describe, expect, test } from 'vitest';
import { recording, recordingLines, recordingsAbsent } from '../../../../test/support/fixtures.ts';
import { VenueMessageError } from '../../../runtime/errors.ts';
import { VenueDrift } from '../../../runtime/venueDrift.ts';
import { MessageWatch } from '../../drift/messageWatch.ts';
import { mapRtdsFrame } from './mapper.ts';
import { RTDS_KINDS } from './messages.ts';

const payload = {
  symbol: 'btc/usd',
  timestamp: 1784851201000,
  value: 65051.92,
  full_accuracy_value: '65051920000000000000000',
};
const update = (topic: string, changes: Record<string, unknown> = {}) =>
  JSON.stringify({ topic, type: 'update', timestamp: 1784851202231, payload: { ...payload, ...changes } });

describe('mapRtdsFrame', () => {
  test('maps a Chainlink point: an integer times 10^18', () => {
    expect(mapRtdsFrame(update('crypto_prices_chainlink'), 7)).toEqual([
      {
        kind: 'underlying',
        ticker: 'BTC',
        source: 'chainlink',
        price: 65051.92,
        eventTimeMs: 1784851201000,
        receivedTimeMs: 7,
      },
    ]);
  });

  test.each([
    ['an integer', { full_accuracy_value: '65051920000000000000000', window_s: 60 }],
    ['a decimal', { full_accuracy_value: '65051.920000000000000000' }],
    ['the rounded number alone', { full_accuracy_value: undefined }],
  ])('maps a TWAP point: %s', (_shows, changes) => {
    const [event] = mapRtdsFrame(update('crypto_prices_twap_sixty', changes), 7);
    expect(event).toMatchObject({ source: 'twap60', price: 65051.92 });
  });

  test('keeps the magnitude of a price below one', () => {
    const changes = { symbol: 'sol/usd', value: 0.0512, full_accuracy_value: '51200000000000000' };
    expect(mapRtdsFrame(update('crypto_prices_chainlink', changes), 7)[0]).toMatchObject({
      ticker: 'SOL',
      price: 0.0512,
    });
  });

  test('maps the recent points in the answer to a subscription as history', () => {
    const frame = JSON.stringify({
      topic: 'crypto_prices_chainlink',
      type: 'subscribe',
      payload: {
        symbol: 'eth/usd',
        data: [
          { timestamp: 1_784_851_201_000, value: 3300.5 },
          { timestamp: 1_784_851_202_000, value: 3301 },
        ],
      },
    });
    expect(mapRtdsFrame(frame, 7)).toMatchObject([
      { ticker: 'ETH', price: 3300.5, eventTimeMs: 1_784_851_201_000, isHistory: true },
      { ticker: 'ETH', price: 3301, eventTimeMs: 1_784_851_202_000, isHistory: true },
    ]);
  });

  test('a point, and no history, ends the silence of its topic', () => {
    const feed = 'polymarket.rtds';
    const drift = new VenueDrift();
    const watch = new MessageWatch({ feed, kinds: RTDS_KINDS, drift });
    const topic = 'crypto_prices_chainlink';
    drift.topics.subscribed(feed, [`${topic} btc/usd`], 0);
    const point = { timestamp: 1_784_851_201_000, value: 65051.92 };
    const history = { topic, type: 'subscribe', payload: { symbol: 'btc/usd', data: [point] } };
    mapRtdsFrame(JSON.stringify(history), 300_000, watch);
    expect(drift.topics.silent(600_000)).toHaveLength(1);
    mapRtdsFrame(update(topic), 300_000, watch);
    expect(drift.topics.silent(899_999)).toEqual([]);
  });

  test.each([
    ['the relay of Binance', update('crypto_prices', { symbol: 'btcusdt', full_accuracy_value: '65051.92' })],
    ['another average', update('crypto_prices_twap_thirty')],
    ['another symbol', update('crypto_prices_chainlink', { symbol: 'ada/usd' })],
    ['another type', '{"topic":"crypto_prices_chainlink","type":"unsubscribe"}'],
    ['PONG', 'PONG'],
    ['an empty text', ''],
  ])('yields nothing for %s', (_shows, frame) => {
    expect(mapRtdsFrame(frame, 7)).toEqual([]);
  });

  test.each([
    ['cut JSON', '{"topic":', /^no JSON: \{"topic":$/],
    ['two prices that disagree', update('crypto_prices_chainlink', { value: 65052 }), /./],
    ['an invalid exact value', update('crypto_prices_chainlink', { full_accuracy_value: '6.5e22' }), /./],
    ['a negative price', update('crypto_prices_chainlink', { value: -1 }), /^rtds update: payload\.value /],
    [
      'no time',
      update('crypto_prices_chainlink', { timestamp: undefined }),
      /^rtds update: payload\.timestamp /,
    ],
    [
      'a subscription without points',
      '{"topic":"crypto_prices_chainlink","type":"subscribe","payload":{"symbol":"btc/usd"}}',
      /^rtds subscribe: payload\.data /,
    ],
    ...[30, 90].map((window_s): [string, string, RegExp] => [
      `an average of ${window_s} s`,
      update('crypto_prices_twap_sixty', { window_s }),
      new RegExp(`^rtds: crypto_prices_twap_sixty with a window of ${window_s} s$`),
    ]),
  ])('rejects %s', (_shows, frame, message) => {
    expect(() => mapRtdsFrame(frame, 7)).toThrow(VenueMessageError);
    expect(() => mapRtdsFrame(frame, 7)).toThrow(message);
  });
});

describe.skipIf(recordingsAbsent)('recorded points (skipped where the recordings are absent)', () => {
  test('maps all 78,515 points of 2026-07-24 to the price of their rounded number', () => {
    const rows = recordingLines('polymarket/ligengxin96-2026-07-24/BTCUSD-prices-2026-07-24.csv.gz').slice(1);
    const wrong: string[] = [];
    for (const row of rows) {
      const [timestamp, value, text] = row.split(',');
      const changes = { timestamp: Number(timestamp), value: Number(value), full_accuracy_value: text };
      const [event] = mapRtdsFrame(update('crypto_prices_chainlink', changes), 1);
      if (event?.price !== Number(value) || event.eventTimeMs !== Number(timestamp)) wrong.push(row);
    }
    expect(wrong).toEqual([]);
    expect(rows).toHaveLength(78_515);
  });

  test.each(['subscribe', 'update'])('ignores the real crypto_prices %s', (name) => {
    expect(
      mapRtdsFrame(recording(`polymarket/nautilus_trader/rust_rtds_crypto_prices_${name}.json`), 1),
    ).toEqual([]);
  });
});
