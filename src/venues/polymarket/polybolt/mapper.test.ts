import { describe, expect, test } from 'vitest';
import { recordingLines, recordingsAbsent } from '../../../../test/support/fixtures.ts';
import { VenueMessageError } from '../../../runtime/errors.ts';
import { VenueDrift } from '../../../runtime/venueDrift.ts';
import { MessageWatch } from '../../drift/messageWatch.ts';
import { mapRtdsFrame } from '../rtds/mapper.ts';
import { mapPolyboltFrame } from './mapper.ts';
import { POLYBOLT_KINDS } from './messages.ts';

const AT = 1_788_886_177_000;
/** As captured on 2026-09-08. */
const TWAP_FRAME = `{"v":1,"channel":"price.crypto.twap","seq":3,"ts":${AT},"payload":{"full_accuracy_value":"78803.715261094101516288","symbol":"btcusd","timestamp":${AT},"value":78803.7152610941,"window_seconds":60}}`;
const payload = {
  ...{ full_accuracy_value: '78794.15450441', symbol: 'btcusd', timestamp: AT, value: 78794.15450441 },
  source: 'chainlink',
};
const frame = (channel: string, changes: Record<string, unknown> = {}, envelope: object = {}) =>
  JSON.stringify({ v: 1, channel, seq: 1, ts: AT, ...envelope, payload: { ...payload, ...changes } });
const spot = (changes: Record<string, unknown> = {}) => frame('price.crypto', changes);

describe('mapPolyboltFrame', () => {
  test('maps a spot point with its exact decimal', () => {
    expect(mapPolyboltFrame(spot(), 7)).toEqual([
      {
        ...{ kind: 'underlying', ticker: 'BTC', source: 'chainlink', price: 78794.15450441 },
        ...{ eventTimeMs: AT, receivedTimeMs: 7 },
      },
    ]);
  });

  test('maps an average to the same number as RTDS, whose text is an integer times 10^18', () => {
    const rtds = JSON.stringify({
      ...{ topic: 'crypto_prices_twap_sixty', type: 'update', timestamp: AT + 1400 },
      payload: {
        ...{ symbol: 'btc/usd', timestamp: AT, value: 78803.7152610941, window_s: 60 },
        full_accuracy_value: '78803715261094101516288',
      },
    });
    const events = mapPolyboltFrame(TWAP_FRAME, 7);
    expect(events).toEqual(mapRtdsFrame(rtds, 7));
    expect(events).toMatchObject([{ source: 'twap60', price: 78803.7152610941, eventTimeMs: AT }]);
  });

  test('a whole number stays a whole number', () => {
    expect(mapPolyboltFrame(spot({ full_accuracy_value: '79000', value: 79_000 }), 7)).toMatchObject([
      { price: 79_000 },
    ]);
  });

  test('maps the last two minutes in the answer to a subscription as history', () => {
    const data = [
      { timestamp: AT - 1000, value: 3300.5, full_accuracy_value: '3300.500000000000000001' },
      { timestamp: AT, value: 3301 },
    ];
    const snapshot = JSON.stringify({
      ...{ v: 1, channel: 'price.crypto.twap', seq: 1, ts: AT, snapshot: true },
      payload: { symbol: 'ethusd', source: 'chainlink', window_seconds: 60, data },
    });
    expect(mapPolyboltFrame(snapshot, 7)).toMatchObject([
      { ticker: 'ETH', source: 'twap60', price: 3300.5, eventTimeMs: AT - 1000, isHistory: true },
      { ticker: 'ETH', source: 'twap60', price: 3301, eventTimeMs: AT, isHistory: true },
    ]);
    expect(mapPolyboltFrame(snapshot.replace(/"data":\[.*\]/, '"data":[]'), 7)).toEqual([]);
  });

  test('a point, and no history, ends the silence of its topic', () => {
    const feed = 'polymarket.polybolt';
    const drift = new VenueDrift();
    const watch = new MessageWatch({ feed, kinds: POLYBOLT_KINDS, drift });
    drift.topics.subscribed(feed, ['price.crypto btcusd'], 0);
    const data = [{ timestamp: AT, value: 3300.5 }];
    mapPolyboltFrame(frame('price.crypto', { data }, { snapshot: true }), 300_000, watch);
    expect(drift.topics.silent(600_000)).toHaveLength(1);
    mapPolyboltFrame(spot(), 300_000, watch);
    expect(drift.topics.silent(899_999)).toEqual([]);
  });

  test.each([
    ['a spot price of Pyth, which decides nothing', spot({ source: 'pyth' })],
    ['a spot price without an origin', spot({ source: undefined })],
    ['an average of another origin', frame('price.crypto.twap', { source: 'pyth', window_seconds: 60 })],
    ['another symbol', spot({ symbol: 'adausd' })],
    ['another channel', frame('price.equity')],
    ['an acknowledgement', '{"op":"subscribed","channel":"price.crypto","rid":"1","provider":"chainlink"}'],
    ['an error', '{"op":"error","channel":"price.crypto","rid":"1","code":"bad_filter"}'],
    ['a pong', '{"op":"pong","rid":"ping"}'],
    ['an empty text', ''],
  ])('yields nothing for %s', (_shows, text) => {
    expect(mapPolyboltFrame(text, 7)).toEqual([]);
  });

  test.each([
    ['cut JSON', '{"channel":'],
    ['two prices that disagree', spot({ value: 78_795 })],
    [
      'an integer times 10^18, which is RTDS’s spelling',
      spot({ full_accuracy_value: '78794154504410000000000' }),
    ],
    ['an invalid exact value', spot({ full_accuracy_value: '7.8e4' })],
    ['a negative price', spot({ full_accuracy_value: undefined, value: -1 })],
    ['a price of zero', spot({ full_accuracy_value: undefined, value: 0 })],
    ['no time', spot({ timestamp: undefined })],
    ['a shorter average', frame('price.crypto.twap', { window_seconds: 30 })],
    ['a longer average', frame('price.crypto.twap', { window_seconds: 90 })],
    ['a snapshot without points', frame('price.crypto', {}, { snapshot: true })],
  ])('rejects %s', (_shows, text) => {
    expect(() => mapPolyboltFrame(text, 7)).toThrow(VenueMessageError);
  });
});

describe.skipIf(recordingsAbsent)('captured frames (skipped where the recordings are absent)', () => {
  test('map to the one average among them; the spot frames of 2026-09-08 name no origin', () => {
    const texts = recordingLines('polymarket/polybolt-ts-sdk/frames.jsonl').map(
      (line) => JSON.parse(line).text as string,
    );
    expect(texts).toContain(TWAP_FRAME);
    expect(texts.flatMap((text) => mapPolyboltFrame(text, 7))).toEqual(mapPolyboltFrame(TWAP_FRAME, 7));
  });
});
