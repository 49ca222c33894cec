import { describe, expect, it } from 'vitest';
import { recording, recordingLines, recordingsAbsent } from '../../../test/support/fixtures.ts';
import { type DriftFinding, VenueDrift } from '../../runtime/venueDrift.ts';
import { PERP_VENUES } from '../../schema/events.ts';
import { mapBinanceFrame } from '../binance/mapper.ts';
import { mapCoinbaseFrame } from '../coinbase/mapper.ts';
import { PERP_FEEDS } from '../perpVenue.ts';
import { PERP_VENUE_BY_NAME } from '../perpVenues.ts';
import { mapClobFrame } from '../polymarket/clob/mapper.ts';
import { mapRtdsFrame } from '../polymarket/rtds/mapper.ts';
import { ALL_KINDS, isKnownNow } from './allKinds.ts';
import { MessageWatch } from './messageWatch.ts';

const T0 = 1_795_176_010_000;

function watching(feed: string) {
  const drift = new VenueDrift();
  const watch = new MessageWatch({ feed, kinds: ALL_KINDS[feed] ?? {}, drift, checkPeriodMs: 0 });
  const found = () => drift.findings().map(({ kind, key }) => `${kind} ${key}`);
  return { drift, watch, found };
}

it('compares every message of a list with the known fields', () => {
  const { watch, found } = watching('polymarket.clob');
  const book = {
    event_type: 'book',
    market: '0xab',
    timestamp: '1766481546487',
    hash: 'ab',
    bids: [],
    asks: [],
  };
  const list = [
    { ...book, asset_id: '1', fee: 1 },
    { ...book, asset_id: '2', cap: 2 },
  ];
  mapClobFrame(JSON.stringify(list), T0, watch);
  expect(found()).toEqual(['book fee', 'book cap']);
});

it.each([
  ['gamma', 'event', { eventMetadata: { priceToBeat: 1, by: 2 } }, 'eventMetadata.by'],
  ['gamma', 'event', { markets: [{ feeSchedule: { rate: 0.07, cap: 5 } }] }, 'markets[].feeSchedule.cap'],
  [
    'gamma',
    'event',
    { markets: [{ cryptoMarketConfig: { id: 1, by: 2 } }] },
    'markets[].cryptoMarketConfig.by',
  ],
  ['gamma', 'market', { feeSchedule: { exponent: 1, cap: 5 } }, 'feeSchedule.cap'],
  ['gamma', 'market', { events: [{ eventMetadata: { finalPrice: 1, by: 2 } }] }, 'events[].eventMetadata.by'],
  ['okx', 'orderbook', { code: '0', data: [{ seqId: 1, prevSeqId: 0 }] }, 'data[].prevSeqId'],
  ['bybit', 'orderbook', { retCode: 0, result: { seq: 1, depth: 2 } }, 'result.depth'],
])('compares the objects inside a message of %s: %s %o', (venue, kind, message, path) => {
  const feeds = { gamma: 'polymarket.gamma', okx: PERP_FEEDS.okx, bybit: PERP_FEEDS.bybit };
  const { watch, found } = watching(feeds[venue as keyof typeof feeds]);
  watch.message(kind, message, null, T0);
  expect(found()).toEqual([`${kind} ${path}`]);
});

it.each(PERP_VENUES)('knows the messages of %s under the name of its feed', (name) => {
  expect(ALL_KINDS[PERP_FEEDS[name]]).toBe(PERP_VENUE_BY_NAME[name].kinds);
});

describe('isKnownNow', () => {
  const finding = (rest: Partial<DriftFinding>): DriftFinding => ({
    ...{ category: 'unknown_field', feed: 'polymarket.clob', kind: 'book', key: 'depth' },
    ...{ firstSeenMs: T0, lastSeenMs: T0, count: 1, sample: null },
    ...rest,
  });
  it.each([
    ['a field that is still unknown', {}, false],
    ['a field that is known by now', { key: 'version' }, true],
    ['a field of a book that is audited', { feed: 'polymarket.clob.audit', key: 'neg_risk' }, true],
    ['a field of a list', { kind: 'price_change', key: 'price_changes[].best_bid' }, true],
    ['a kind that is still unknown', { category: 'unknown_message', kind: 'message', key: 'depth' }, false],
    ['a kind that is known by now', { category: 'unknown_message', kind: 'message', key: 'book' }, true],
    ['a name of every object', { category: 'unknown_message', kind: 'message', key: 'toString' }, false],
    ['a feed of another version', { feed: 'gone', key: 'version' }, false],
    ['another category', { category: 'hash_recipe', key: 'version' }, false],
  ] as const)('%s: %o -> %s', (_shows, rest, isKnown) => {
    expect(isKnownNow(finding(rest))).toBe(isKnown);
  });
});

describe.skipIf(recordingsAbsent)('recorded messages (skipped where the recordings are absent)', () => {
  it('of the market channel have only known kinds and fields', () => {
    const { watch, found } = watching('polymarket.clob');
    const singles = recordingLines('polymarket/single-frames/frames.jsonl');
    const recorded = recordingLines('polymarket/alimohammad1995-PolybotV2/frames.jsonl');
    const texts = [
      ...singles.map((line) => String(JSON.parse(line).text)),
      ...recorded.map((line) => String(JSON.parse(line).frame ?? line)),
      ...['best_bid_ask', 'book', 'last_trade', 'new_market', 'price_change', 'resolved', 'tick_size'].map(
        (name) => recording(`polymarket/nautilus_trader/rust_ws_market_${name}_msg.json`),
      ),
    ];
    for (const text of texts) {
      try {
        mapClobFrame(text, T0, watch);
      } catch {
        // Documentation samples without a hash are refused; their fields count.
      }
    }
    expect(found()).toEqual([]);
  });

  it('of 2026-07-24 and later, from the listing, have only known fields', () => {
    const { watch, found } = watching('polymarket.gamma');
    for (const line of recordingLines('polymarket/ligengxin96-2026-07-24/BTC-5m-markets-2026-07-24.jsonl.gz'))
      watch.message('market', JSON.parse(line).raw, null, T0);
    for (const event of JSON.parse(recording('polymarket/nautilus_trader/rust_gamma_event.json')))
      watch.message('event', event, null, T0);
    watch.message(
      'market',
      JSON.parse(recording('polymarket/nautilus_trader/rust_gamma_market.json')),
      null,
      T0,
    );
    expect(found()).toEqual([]);
  });

  it('from the REST interfaces have only known fields', () => {
    const clob = watching('polymarket.clob.rest');
    const market = recording('polymarket/nautilus_trader/rust_clob_market_closed_binary_accepting_true.json');
    clob.watch.message('market', JSON.parse(market), null, T0);
    const compact = recording('polymarket/pulsearb/clob_market_compact.json');
    clob.watch.message('clob-market', JSON.parse(compact), null, T0);
    expect(clob.found()).toEqual([]);
    const bybit = watching('bybit.rest');
    for (const name of ['limit50_derived', 'limit5_2024-04-01'])
      bybit.watch.message(
        'orderbook',
        JSON.parse(recording(`bybit/rest-samples/orderbook_linear_${name}.json`)),
        null,
        T0,
      );
    expect(bybit.found()).toEqual([]);
  });

  it('of the price streams have only known kinds and fields', () => {
    const rtds = watching('polymarket.rtds');
    for (const name of ['subscribe', 'update'])
      mapRtdsFrame(
        recording(`polymarket/nautilus_trader/rust_rtds_crypto_prices_${name}.json`),
        T0,
        rtds.watch,
      );
    expect(rtds.found()).toEqual([]);
    const binance = watching('binance');
    for (const line of recordingLines('binance/hftbacktest-spot-btcusdt-2024-08-08/btcusdt_20240808.gz')) {
      const frame = line.slice(line.indexOf('{'));
      if (frame.includes('"e":"trade"')) mapBinanceFrame(frame, T0, binance.watch);
    }
    expect(binance.found()).toEqual([]);
    const coinbase = watching('coinbase');
    for (const line of recordingLines('coinbase/cryptofeed-ticker-2021-04-17/ticker_match.txt')) {
      const [, frame] = /^\d+\.\d+: (\{.*"type":"(?:ticker|subscriptions)".*)$/.exec(line) ?? [];
      if (frame !== undefined) mapCoinbaseFrame(frame, T0, coinbase.watch);
    }
    expect(coinbase.found()).toEqual([]);
  });
});

it('a V2 book of 2026-10-05 has only known fields', () => {
  const { watch, found } = watching('polymarket.clob');
  const book = {
    ...{ market: '0x0177', asset_id: '6635', timestamp: '1791238858575', hash: 'fc38', bids: [], asks: [] },
    ...{ tick_size: '0.01', event_type: 'book', last_trade_price: '', version: 'v2' },
  };
  mapClobFrame(JSON.stringify([book]), T0, watch);
  expect(found()).toEqual([]);
});
