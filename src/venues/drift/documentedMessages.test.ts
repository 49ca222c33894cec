import { expect, it } from 'vitest';
import { VenueDrift } from '../../runtime/venueDrift.ts';
import { RTDS_KINDS } from '../polymarket/rtds/messages.ts';
import { ALL_KINDS } from './allKinds.ts';
import { MessageWatch } from './messageWatch.ts';

const LEVEL = { price: 1, size: 1 };
const fields = (names: string, inside: Record<string, unknown> = {}) => ({
  ...Object.fromEntries(names.split(' ').map((name) => [name, 1])),
  ...inside,
});
const CLOB = 'market timestamp event_type';
const COINBASE_TRADE = 'type sequence product_id price side time trade_id maker_order_id taker_order_id size';
const RTDS_POINT = fields('timestamp value full_accuracy_value');
const POLYBOLT_SERIES = 'symbol source window_seconds';
const POLYBOLT_UPDATE = fields('v channel seq ts dropped', {
  payload: fields(`${POLYBOLT_SERIES} timestamp value full_accuracy_value`),
});
const POLYBOLT_SNAPSHOT = fields('v channel seq ts dropped snapshot', {
  payload: fields(POLYBOLT_SERIES, { data: [RTDS_POINT] }),
});

/** One message of each kind with all the fields that the venue documents or was seen to send. */
const DOCUMENTED: [feed: string, kind: string, message: unknown][] = [
  [
    'polymarket.clob',
    'book',
    {
      ...fields(`${CLOB} asset_id hash tick_size last_trade_price min_order_size neg_risk version`),
      ...{ bids: [LEVEL], asks: [LEVEL] },
    },
  ],
  [
    'polymarket.clob',
    'price_change',
    fields(CLOB, {
      price_changes: [fields('asset_id price size side hash best_bid best_ask')],
    }),
  ],
  [
    'polymarket.clob',
    'price_change',
    fields(`${CLOB} asset_id hash`, { changes: [fields('price size side')] }),
  ],
  [
    'polymarket.clob',
    'last_trade_price',
    fields(`${CLOB} asset_id price size side transaction_hash fee_rate_bps`),
  ],
  ['polymarket.clob', 'tick_size_change', fields(`${CLOB} asset_id new_tick_size old_tick_size`)],
  ['polymarket.clob', 'best_bid_ask', fields(`${CLOB} asset_id best_bid best_ask spread`)],
  [
    'polymarket.clob',
    'market_resolved',
    fields(`${CLOB} winning_asset_id winning_outcome id assets_ids event_message tags`),
  ],
  [
    'polymarket.clob',
    'new_market',
    {
      ...fields(
        `${CLOB} slug assets_ids outcomes id question description tags condition_id active clob_token_ids`,
      ),
      ...fields('sports_market_type line game_start_time order_price_min_tick_size group_item_title'),
      ...fields('taker_base_fee fees_enabled'),
      event_message: fields('id ticker slug title description'),
      fee_schedule: fields('exponent rate taker_only rebate_rate'),
    },
  ],
  ['polymarket.clob.rest', 'books', []],
  [
    'polymarket.clob.rest',
    'book',
    {
      ...fields('market asset_id timestamp hash tick_size last_trade_price min_order_size neg_risk version'),
      ...{ bids: [LEVEL], asks: [LEVEL] },
    },
  ],
  [
    'polymarket.clob.rest',
    'market',
    fields('condition_id closed seconds_delay rewards', {
      tokens: [fields('token_id outcome winner price')],
    }),
  ],
  [
    'polymarket.clob.rest',
    'clob-market',
    fields('c itode sd ao aot cbos mbf mos mts tbf v', {
      ...{ t: [fields('t o')], fd: fields('r e to'), r: fields('mi ma e moas') },
    }),
  ],
  ...Object.keys(RTDS_KINDS).map((kind): [string, string, unknown] => [
    'polymarket.rtds',
    kind,
    {
      ...fields('topic type timestamp'),
      payload: kind.endsWith(' update')
        ? fields('symbol window_s timestamp value full_accuracy_value')
        : fields('symbol window_s', { data: [RTDS_POINT] }),
    },
  ]),
  ['polymarket.polybolt', 'price.crypto update', POLYBOLT_UPDATE],
  ['polymarket.polybolt', 'price.crypto.twap update', POLYBOLT_UPDATE],
  ['polymarket.polybolt', 'price.crypto snapshot', POLYBOLT_SNAPSHOT],
  ['polymarket.polybolt', 'price.crypto.twap snapshot', POLYBOLT_SNAPSHOT],
  [
    'polymarket.data',
    'resolutions',
    fields('pagination', {
      data: [
        fields(
          'condition_id status payouts resolved_at was_disputed market_type resolution_source reporter price',
        ),
      ],
    }),
  ],
  [
    'polymarket.crypto_price',
    'open price',
    fields('openPrice closePrice timestamp completed incomplete cached'),
  ],
  ['polymarket.gamma', 'page', fields('events next_cursor')],
  [
    'polymarket.gamma',
    'event',
    fields('id slug version', {
      eventMetadata: fields('priceToBeat finalPrice'),
      markets: [
        fields('conditionId version', {
          feeSchedule: fields('rate exponent takerOnly rebateRate'),
          cryptoMarketConfig: fields('twapEnabled twapLookbackSeconds id asset duration'),
        }),
      ],
    }),
  ],
  [
    'polymarket.gamma',
    'market',
    fields('conditionId yAxisValue', {
      feeSchedule: fields('rate exponent takerOnly rebateRate'),
      events: [fields('id volume24hr', { eventMetadata: fields('priceToBeat finalPrice') })],
    }),
  ],
  ['binance.rest', 'klines', [[1]]],
  [
    'bybit.rest',
    'orderbook',
    fields('retCode retMsg retExtInfo time', { result: fields('s b a ts u seq cts') }),
  ],
  ['binance.perp', 'orderbook', fields('lastUpdateId E T bids asks')],
  ['okx.perp', 'orderbook', fields('code msg', { data: [fields('asks bids ts seqId')] })],
  ['hyperliquid.perp', 'orderbook', fields('coin time levels')],
  ['binance', 'trade', fields('e E s t p q T m M')],
  ['binance', 'aggTrade', fields('e E s a p q f l T m M')],
  [
    'coinbase',
    'ticker',
    {
      ...fields(
        'type sequence product_id price best_bid best_bid_size best_ask best_ask_size side time trade_id',
      ),
      ...fields('last_size open_24h volume_24h low_24h high_24h volume_30d'),
    },
  ],
  ['coinbase', 'heartbeat', fields('type last_trade_id product_id sequence time')],
  ['coinbase', 'subscriptions', fields('type channels')],
  ['coinbase', 'match', fields(COINBASE_TRADE)],
  ['coinbase', 'last_match', fields(COINBASE_TRADE)],
];

function findingsOf(feed: string, kind: string, message: unknown) {
  const drift = new VenueDrift();
  new MessageWatch({ feed, kinds: ALL_KINDS[feed] ?? {}, drift }).message(kind, message, null, 1);
  return drift.findings().map(({ category, key }) => `${category} ${key}`);
}

it.each(DOCUMENTED)('a documented message of %s, %s, has no unknown field', (feed, kind, message) => {
  expect(findingsOf(feed, kind, message)).toEqual([]);
  expect(findingsOf(feed, kind, { invented: 1 })).toEqual(['unknown_field invented']);
});

it('every kind of every feed is documented', () => {
  const kinds = Object.entries(ALL_KINDS).flatMap(([feed, all]) =>
    Object.keys(all).map((kind) => `${feed} ${kind}`),
  );
  const documented = new Set(DOCUMENTED.map(([feed, kind]) => `${feed} ${kind}`));
  // The audit asks for the same books as the REST feed.
  const audited = (name: string) => name.startsWith('polymarket.clob.audit ');
  expect(kinds.filter((name) => !documented.has(name) && !audited(name))).toEqual([]);
});
