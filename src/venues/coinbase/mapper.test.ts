import { describe, expect, test } from 'vitest';
import { recording, recordingLines, recordingsAbsent } from '../../../test/support/fixtures.ts';
import { MALFORMED_DECIMALS } from '../../../test/support/malformedDecimals.ts';
import { VenueMessageError } from '../../runtime/errors.ts';
import { VenueDrift } from '../../runtime/venueDrift.ts';
import { MessageWatch } from '../drift/messageWatch.ts';
import { mapCoinbaseFrame } from './mapper.ts';
import { COINBASE_KINDS } from './messages.ts';

const ticker = {
  type: 'ticker',
  sequence: 1,
  product_id: 'ETH-USD',
  price: '3300.12',
  best_bid: '3300.11',
  time: '2026-07-24T16:43:38.321111Z',
};

describe('mapCoinbaseFrame', () => {
  test('maps a ticker to a price', () => {
    expect(mapCoinbaseFrame(JSON.stringify(ticker), 7)).toEqual([
      {
        kind: 'underlying',
        ticker: 'ETH',
        source: 'coinbase_spot',
        price: 3300.12,
        eventTimeMs: Date.parse('2026-07-24T16:43:38.321Z'),
        receivedTimeMs: 7,
      },
    ]);
  });

  test.each([
    ['a heartbeat', { type: 'heartbeat', sequence: 90, product_id: 'BTC-USD' }],
    ['the subscriptions', { type: 'subscriptions', channels: [] }],
    ['a match', { ...ticker, type: 'match' }],
    ['another product', { ...ticker, product_id: 'ETH-EUR' }],
    ['a price of zero', { ...ticker, price: '0' }],
    ['an Advanced Trade frame', { channel: 'ticker', events: [] }],
    ['null', null],
  ])('yields no price for %s', (_shows, message) => {
    expect(mapCoinbaseFrame(JSON.stringify(message), 7)).toEqual([]);
  });

  test.each([
    ['no JSON', 'oops', /^no JSON: oops$/],
    [
      'an error',
      '{"type":"error","message":"Failed to subscribe"}',
      /^coinbase error: \{"type":"error","message":"Failed to subscribe"\}$/,
    ],
    ['no price', JSON.stringify({ ...ticker, price: undefined }), /^coinbase ticker: price /],
    ['no time', JSON.stringify({ ...ticker, time: 'now' }), /^coinbase ticker: time /],
    [
      'a time without its zone',
      JSON.stringify({ ...ticker, time: '2026-07-24T16:43:38' }),
      /^coinbase ticker: time /,
    ],
    [
      'a time of 1999',
      JSON.stringify({ ...ticker, time: '1999-12-31T23:59:59Z' }),
      /^coinbase ticker: time /,
    ],
  ])('rejects a frame with %s', (_shows, frame, message) => {
    expect(() => mapCoinbaseFrame(frame, 7)).toThrow(VenueMessageError);
    expect(() => mapCoinbaseFrame(frame, 7)).toThrow(message);
  });

  test('notes an unknown field of a ticker, and an unknown kind of message', () => {
    const drift = new VenueDrift();
    const watch = new MessageWatch({ feed: 'coinbase', kinds: COINBASE_KINDS, drift });
    expect(mapCoinbaseFrame(JSON.stringify({ ...ticker, tier: 1 }), 7, watch)).toHaveLength(1);
    expect(mapCoinbaseFrame('{"type":"auction"}', 8, watch)).toEqual([]);
    expect(drift.findings().map(({ category, kind, key }) => [category, kind, key])).toEqual([
      ['unknown_field', 'ticker', 'tier'],
      ['unknown_message', 'message', 'auction'],
    ]);
  });

  test.each(MALFORMED_DECIMALS)('rejects the price “%s”', (price) => {
    expect(() => mapCoinbaseFrame(JSON.stringify({ ...ticker, price }), 7)).toThrow(
      /^coinbase ticker: price /,
    );
  });

  test.each(['61685', '61685.99'])('reads the price %s', (price) => {
    expect(mapCoinbaseFrame(JSON.stringify({ ...ticker, price }), 7)).toMatchObject([
      { price: Number(price) },
    ]);
  });

  test('repeats at most 200 characters of an error', () => {
    const frame = JSON.stringify({ type: 'error', message: 'x'.repeat(300) });
    expect(() => mapCoinbaseFrame(frame, 7)).toThrow(
      new VenueMessageError(`coinbase error: ${frame.slice(0, 200)}`),
    );
  });
});

describe.skipIf(recordingsAbsent)('recorded frames (skipped where the recordings are absent)', () => {
  test('maps tickers of 2021 in today’s shape, renamed to our product', () => {
    let mapped = 0;
    let others = 0;
    for (const line of recordingLines('coinbase/cryptofeed-ticker-2021-04-17/ticker_match.txt')) {
      const frame = line
        .slice(line.indexOf('{'))
        .replace(/"product_id":"[A-Z]+-[A-Z]+"/, '"product_id":"SOL-USD"');
      const events = mapCoinbaseFrame(frame, 1);
      if (!frame.includes('"type":"ticker"')) {
        expect(events).toEqual([]);
        others++;
        continue;
      }
      const raw = JSON.parse(frame);
      expect(events).toMatchObject([
        { ticker: 'SOL', price: Number(raw.price), eventTimeMs: Date.parse(raw.time) },
      ]);
      mapped++;
    }
    expect(mapped).toBeGreaterThan(0);
    expect(others).toBeGreaterThan(0);
  });

  test('yields nothing for the other host’s frames', () => {
    expect(mapCoinbaseFrame(recording('coinbase/nautilus_trader-samples/ws_ticker.json'), 1)).toEqual([]);
  });
});
