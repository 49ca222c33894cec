import { knownMarket, type MarketLookup } from '../http/marketLookup.ts';
import { type Route, route } from '../http/route.ts';
import { answerRows, OBJECT_ARRAY, pageRequest } from '../http/rows.ts';
import { required } from '../schema/api/fields.ts';
import * as parameter from '../schema/api/parameters.ts';
import { tradesShape, underlyingShape } from '../schema/api/resources.ts';
import { literal } from '../schema/api/types.ts';
import { UNDERLYING_SOURCES } from '../schema/events.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { TRADE_COLUMNS, tradesOf, UNDERLYING_COLUMNS, underlyingOf } from '../store/queries/lists.ts';
import type { StoreReader } from '../store/reader.ts';

const paging = {
  start: parameter.start,
  end: parameter.end,
  limit: parameter.limit(1000, 10_000),
  order: parameter.order,
  cursor: parameter.cursor,
};

export function tradesRoute(parts: MarketLookup): Route {
  return route({
    method: 'GET',
    path: '/v1/trades',
    auth: 'key',
    access: { feature: 'market_data' },
    summary: 'Trades of a market; `side` is the taker’s side',
    query: { market_id: parameter.marketId, ...paging },
    response: tradesShape,
    cacheable: true,
    handle: async ({ query, history, signal, headOnly, conditions }) => {
      const asked = pageRequest(['trades', query.market_id], query, history);
      const source = tradesOf(query.market_id);
      const market = await knownMarket(parts, query.market_id, signal);
      return answerRows(
        parts.store,
        {
          source,
          columns: TRADE_COLUMNS,
          format: OBJECT_ARRAY,
          key: 'trades',
          head: ({ count }) => ({ market_id: market.marketId, count }),
        },
        { ...asked, raw: { signal, headOnly, conditions } },
      );
    },
  });
}

export function underlyingRoute({ store, tickers }: { store: StoreReader } & FollowedAssets): Route {
  return route({
    method: 'GET',
    path: '/v1/underlying',
    auth: 'key',
    access: { feature: 'market_data' },
    summary: 'Prices of the underlying asset from one source',
    query: {
      ticker: parameter.requiredTicker(tickers),
      source: required(literal(UNDERLYING_SOURCES), 'Price source'),
      ...paging,
      interval_ms: parameter.interval,
    },
    response: underlyingShape,
    cacheable: true,
    handle: async ({ query, history, signal, headOnly, conditions }) => {
      const { ticker, source: feed } = query;
      const asked = pageRequest(['underlying', ticker, feed], query, history);
      const source = underlyingOf(ticker, feed);
      return answerRows(
        store,
        {
          source,
          columns: UNDERLYING_COLUMNS,
          format: OBJECT_ARRAY,
          key: 'points',
          head: ({ count }) => ({ ticker, source: feed, count }),
        },
        { ...asked, raw: { signal, headOnly, conditions } },
      );
    },
  });
}
