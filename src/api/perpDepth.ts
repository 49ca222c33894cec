import { type Route, route } from '../http/route.ts';
import { answerRows, OBJECT_ARRAY, pageRequest } from '../http/rows.ts';
import * as parameter from '../schema/api/parameters.ts';
import { perpDepthShape } from '../schema/api/resources.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { PERP_DEPTH_COLUMNS, perpDepthOf } from '../store/queries/lists.ts';
import type { StoreReader } from '../store/reader.ts';

export function perpDepthRoute({ store, tickers }: { store: StoreReader } & FollowedAssets): Route {
  return route({
    method: 'GET',
    path: '/v1/perp/depth',
    auth: 'key',
    access: { feature: 'market_data' },
    summary: 'Order book snapshots of a perpetual futures venue, best 50 levels per side',
    description:
      'One row per poll that brought a new `update_id`: the `u` of Bybit, `lastUpdateId` of Binance, `seqId` of OKX, `time` of Hyperliquid. Sizes are coins at every venue. Hyperliquid shows at most 20 levels per side.',
    query: {
      ticker: parameter.requiredTicker(tickers),
      start: parameter.start,
      end: parameter.end,
      limit: parameter.limit(200, 10_000),
      offset: parameter.offset,
      order: parameter.order,
      cursor: parameter.cursor,
      venue: parameter.perpVenue,
      interval_ms: parameter.interval,
    },
    response: perpDepthShape,
    cacheable: true,
    handle: async ({ query, history, signal, headOnly, conditions }) => {
      const { ticker, venue, limit, offset } = query;
      // Cursors from before the other venues name none.
      const scope = venue === 'bybit' ? ['perp_depth', ticker] : ['perp_depth', ticker, venue];
      const asked = pageRequest(scope, query, history);
      const source = perpDepthOf(ticker, venue);
      return answerRows(
        store,
        {
          source,
          columns: PERP_DEPTH_COLUMNS,
          format: OBJECT_ARRAY,
          key: 'snapshots',
          head: ({ total }) => ({ ticker, total, limit, offset }),
        },
        { ...asked, withTotal: true, raw: { signal, headOnly, conditions } },
      );
    },
  });
}
