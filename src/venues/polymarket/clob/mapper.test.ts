import { describe, expect, test } from 'vitest';
import { VenueMessageError } from '../../../runtime/errors.ts';
import { VenueDrift } from '../../../runtime/venueDrift.ts';
import { MessageWatch } from '../../drift/messageWatch.ts';
import { TIME_MS_MAX, TIME_MS_MIN } from '../../venueTime.ts';
import { CLOB_KINDS } from './knownKeys.ts';
import { mapClobFrame } from './mapper.ts';

const MARKET = '0x017791f201d5a788e0039e511fc1900e5f000000000000000000000000000000';
const TOKEN = '663574927012476832975694178961957910328055987427402067619466963999000625152';
const TIME_MS = 1791238858575;
/** The first frame of a V2 test market, recorded 2026-10-05; the venue ends it with a line break. */
const V2_FRAME = `[{"market":"${MARKET}","asset_id":"${TOKEN}","timestamp":"${TIME_MS}","hash":"fc3846cab0c35a0977b6e5f605a4e5ff0d0b2277","bids":[],"asks":[],"tick_size":"0.01","event_type":"book","last_trade_price":"","version":"v2"}]\n`;

const messages: Record<string, Record<string, unknown>> = {
  book: { asset_id: TOKEN, hash: 'ab', bids: [], asks: [] },
  price_change: {
    price_changes: [{ asset_id: TOKEN, price: '0.5', size: '1', side: 'BUY', hash: 'ab' }],
  },
  last_trade_price: { asset_id: TOKEN, price: '0.5', size: '1', side: 'BUY' },
  tick_size_change: { asset_id: TOKEN, new_tick_size: '0.001' },
  best_bid_ask: { asset_id: TOKEN, best_bid: '', best_ask: '' },
  market_resolved: { winning_asset_id: TOKEN, winning_outcome: 'Up' },
  new_market: { slug: 's', assets_ids: [], outcomes: [] },
};
const frameOf = (kind: string, changes: Record<string, unknown> = {}) =>
  JSON.stringify({
    market: MARKET,
    timestamp: String(TIME_MS),
    event_type: kind,
    ...messages[kind],
    ...changes,
  });

test.each([
  ['without tokens', { assets_ids: null }],
  ['with outcomes as text', { outcomes: '["Up","Down"]' }],
  ['without a slug', { slug: undefined }],
])(
  'a message about a new market %s costs no other message: nothing but its market is read',
  (_shows, changes) => {
    const frame = frameOf('new_market', changes);
    const listed = { kind: 'new_market', marketId: MARKET, receivedTimeMs: 7 };
    expect(mapClobFrame(frame, 7)).toEqual([listed]);
    expect(mapClobFrame(`[${frameOf('book')},${frame}]`, 7)).toMatchObject([
      { kind: 'book_snapshot' },
      listed,
    ]);
  },
);

test('of a list, the unknown message alone is set aside; the others are mapped', () => {
  const drift = new VenueDrift();
  const watch = new MessageWatch({ feed: 'polymarket.clob', kinds: CLOB_KINDS, drift });
  const unknown = '{"event_type":"fee_change","rate":"0.07"}';
  const events = mapClobFrame(`[${unknown},${frameOf('book')}]`, 7, watch);
  expect(events.map(({ kind }) => kind)).toEqual(['book_snapshot']);
  expect(drift.takeSetAside().map(({ kind, text }) => [kind, text])).toEqual([['fee_change', unknown]]);
});

describe('the protocol version of a message', () => {
  test('is read from a recorded V2 book, which is empty and whose market has not traded', () => {
    expect(mapClobFrame(V2_FRAME, 7)).toEqual([
      {
        kind: 'book_snapshot',
        marketId: MARKET,
        tokenId: TOKEN,
        eventTimeMs: TIME_MS,
        receivedTimeMs: 7,
        hash: 'fc3846cab0c35a0977b6e5f605a4e5ff0d0b2277',
        bids: { prices: [], sizes: [] },
        asks: { prices: [], sizes: [] },
        tickSize: '0.01',
        lastTradePrice: '',
        version: 'v2',
      },
    ]);
  });

  test.each(Object.keys(messages))('changes nothing else of %s', (kind) => {
    const stated = (version?: string) =>
      mapClobFrame(frameOf(kind, version === undefined ? {} : { version }), 7).map((event) => ({
        ...event,
        version: null,
      }));
    expect(stated()).toHaveLength(1);
    expect(stated('v2')).toEqual(stated());
    expect(stated('v1')).toEqual(stated());
  });

  test.each(Object.keys(messages).filter((kind) => kind !== 'new_market'))(
    'makes a %s unreadable if it is unknown',
    (kind) => {
      expect(mapClobFrame(frameOf(kind, { version: 'v3', price: 'soon' }), 7)).toEqual([
        { kind: 'unknown_version', marketId: MARKET, version: 'v3', receivedTimeMs: 7 },
      ]);
    },
  );

  test('does not matter in a message about a new market, which may be anybody’s', () => {
    expect(mapClobFrame(frameOf('new_market', { version: 'v3' }), 7)).toMatchObject([{ kind: 'new_market' }]);
  });

  test('that is unknown leaves the other messages of a frame readable', () => {
    const frame = `[${frameOf('book', { version: 'v9' })},${frameOf('book')}]`;
    expect(mapClobFrame(frame, 7)).toMatchObject([
      { kind: 'unknown_version', version: 'v9' },
      { kind: 'book_snapshot', version: null },
    ]);
  });
});

test.each([
  ['', '', null, null],
  ['0', '1', null, null],
  ['0.01', '0.99', 100, 9_900],
])('a best bid of "%s" and a best ask of "%s" are %j and %j', (best_bid, best_ask, bestBid, bestAsk) => {
  const quote = frameOf('best_bid_ask', { best_bid, best_ask });
  expect(mapClobFrame(quote, 7)).toMatchObject([{ bestBid, bestAsk }]);
  const change = { asset_id: TOKEN, price: '0.5', size: '1', side: 'BUY', best_bid, best_ask };
  expect(mapClobFrame(frameOf('price_change', { price_changes: [change] }), 7)).toMatchObject([
    { changes: [{ announcesBest: true, bestBid, bestAsk }] },
  ]);
});

test.each([
  ['seconds', '1791238858'],
  ['milliseconds before the year 2000', String(TIME_MS_MIN - 1)],
  ['milliseconds from the year 2100 on', String(TIME_MS_MAX)],
  ['microseconds', '1791238858575000'],
  ['a number', TIME_MS],
  ['no number', 'soon'],
])('a time in %s is refused', (_, timestamp) => {
  expect(() => mapClobFrame(frameOf('book', { timestamp }), 7)).toThrow(
    new VenueMessageError('timestamp is not Unix milliseconds in a string'),
  );
});

test.each([TIME_MS_MIN, TIME_MS_MAX - 1])('a time of %i is taken as it is', (eventTimeMs) => {
  const frame = frameOf('book', { timestamp: String(eventTimeMs) });
  expect(mapClobFrame(frame, 7)).toMatchObject([{ eventTimeMs, receivedTimeMs: 7 }]);
});

const CHANGE = { asset_id: TOKEN, price: '0.5', size: '1', side: 'BUY' };
const changed = (change: Record<string, unknown>) => ({ price_changes: [{ ...CHANGE, ...change }] });

test.each<[kind: string, changes: Record<string, unknown>, message: string]>([
  ['book', { market: '' }, 'market is not an id'],
  ['book', { asset_id: 7 }, 'asset_id is not an id'],
  ['book', { asset_id: '1'.repeat(101) }, 'asset_id is not an id'],
  ['book', { hash: undefined }, 'hash is not an id'],
  ['book', { bids: null }, 'bids is not a list of levels'],
  ['book', { asks: {} }, 'asks is not a list of levels'],
  ['book', { bids: ['0.5'] }, 'message is not an object'],
  ['book', { bids: [[]] }, 'message is not an object'],
  ['book', { bids: [{ price: '1.5', size: '1' }] }, 'price is not a price in [0, 1]'],
  ['book', { asks: [{ price: '0.5', size: '-1' }] }, 'size is not a non-negative decimal'],
  ['book', { tick_size: 0.01 }, 'an optional field is not text'],
  ['book', { last_trade_price: 0.5 }, 'an optional field is not text'],
  ['price_change', { price_changes: undefined }, 'price_changes is not an array'],
  ['price_change', { price_changes: [null] }, 'message is not an object'],
  ['price_change', changed({ asset_id: undefined }), 'asset_id is not an id'],
  ['price_change', changed({ price: 0.5 }), 'price is not a price in [0, 1]'],
  ['price_change', changed({ size: 1 }), 'size is not a non-negative decimal'],
  ['price_change', changed({ side: 'buy' }), 'side is neither BUY nor SELL'],
  ['price_change', changed({ best_bid: '2' }), 'best_bid is not a price in [0, 1]'],
  ['price_change', changed({ best_ask: '2' }), 'best_ask is not a price in [0, 1]'],
  ['price_change', { price_changes: undefined, changes: {} }, 'changes is not an array'],
  ['last_trade_price', { side: undefined }, 'side is neither BUY nor SELL'],
  ['last_trade_price', { price: undefined }, 'price is not a price in [0, 1]'],
  ['last_trade_price', { asset_id: undefined }, 'asset_id is not an id'],
  ['tick_size_change', { new_tick_size: 'small' }, 'new_tick_size is not a price in [0, 1]'],
  ['tick_size_change', { asset_id: undefined }, 'asset_id is not an id'],
  ['best_bid_ask', { asset_id: undefined }, 'asset_id is not an id'],
  ['market_resolved', { winning_asset_id: undefined }, 'winning_asset_id is not an id'],
  ['market_resolved', { winning_outcome: undefined }, 'winning_outcome is not an id'],
])('a %s with %j is refused: %s', (kind, changes, message) => {
  expect(() => mapClobFrame(frameOf(kind, changes), 7)).toThrow(new VenueMessageError(message));
});

test.each([
  ['{"event_type":', 'frame is neither JSON nor a known text'],
  ['["book"]', 'message is not an object'],
  ['7', 'message is not an object'],
  ['null', 'message is not an object'],
])('the frame %s is refused: %s', (frame, message) => {
  expect(() => mapClobFrame(frame, 7)).toThrow(new VenueMessageError(message));
});

test.each([
  'PONG',
  'NO NEW ASSETS',
  'INVALID MESSAGE',
  'INVALID OPERATION',
  '[]',
  '{"event_type":"auction"}',
])('the frame %s has no event', (frame) => {
  expect(mapClobFrame(frame, 7)).toEqual([]);
});

test('every field of a message is read', () => {
  const times = { eventTimeMs: TIME_MS, receivedTimeMs: 7 };
  const level = { price: '0.5', size: '1' };
  const mapped = (kind: string, changes: Record<string, unknown> = {}) =>
    mapClobFrame(frameOf(kind, changes), 7)[0];
  expect(
    mapped('book', { bids: [level], asks: [{ price: '0.51', size: '2' }], last_trade_price: '0.4' }),
  ).toEqual({
    ...{ kind: 'book_snapshot', marketId: MARKET, tokenId: TOKEN, ...times, hash: 'ab', tickSize: null },
    ...{ bids: { prices: [5_000], sizes: [1_000_000] }, asks: { prices: [5_100], sizes: [2_000_000] } },
    ...{ lastTradePrice: '0.4', version: null },
  });
  const quotes = { announcesBest: true, bestBid: 100, bestAsk: 9_900 };
  const best = { best_bid: '0.01', best_ask: '0.99' };
  expect(mapped('price_change', changed({ hash: 'cd', side: 'SELL', ...best }))).toEqual({
    ...{ kind: 'book_change', marketId: MARKET, ...times },
    changes: [{ tokenId: TOKEN, side: 'SELL', price: 5_000, size: 1_000_000, hash: 'cd', ...quotes }],
  });
  for (const half of [{ best_bid: '0.01' }, { best_ask: '0.99' }])
    expect(mapped('price_change', changed(half))).toMatchObject({ changes: [{ announcesBest: false }] });
  const earlier = {
    price_changes: undefined,
    asset_id: TOKEN,
    hash: 'ef',
    changes: [{ ...level, side: 'BUY' }],
  };
  expect(mapped('price_change', earlier)).toEqual({
    ...{ kind: 'book_change', marketId: MARKET, ...times },
    changes: [
      {
        ...{ tokenId: TOKEN, side: 'BUY', price: 5_000, size: 1_000_000, hash: 'ef' },
        ...{ announcesBest: false, bestBid: null, bestAsk: null },
      },
    ],
  });
  const both = { ...earlier, ...changed({ hash: 'cd', price: '0.6' }) };
  expect(mapped('price_change', both)).toMatchObject({ changes: [{ price: 6_000, hash: 'cd' }] });
  expect(mapped('last_trade_price', { transaction_hash: '0x1' })).toEqual({
    ...{ kind: 'trade', marketId: MARKET, tokenId: TOKEN, ...times, side: 'BUY' },
    ...{ price: 5_000, size: 1_000_000, transactionHash: '0x1' },
  });
  expect(mapped('tick_size_change')).toEqual({
    ...{ kind: 'tick_size_change', marketId: MARKET, tokenId: TOKEN, ...times, tickSize: '0.001' },
  });
  expect(mapped('best_bid_ask', best)).toEqual({
    ...{ kind: 'token_quote', marketId: MARKET, tokenId: TOKEN, ...times, bestBid: 100, bestAsk: 9_900 },
  });
  expect(mapped('market_resolved')).toEqual({
    ...{ kind: 'market_resolved', marketId: MARKET, ...times, winningTokenId: TOKEN, winningOutcome: 'Up' },
  });
});

test('an id has at most 100 characters', () => {
  const tokenId = '1'.repeat(100);
  expect(mapClobFrame(frameOf('book', { asset_id: tokenId }), 7)).toMatchObject([{ tokenId }]);
});

test('a condition id of 62 digits becomes the internal form', () => {
  const short = MARKET.slice(0, 64);
  expect(mapClobFrame(frameOf('book', { market: short }), 7)).toMatchObject([{ marketId: MARKET }]);
});
