import { knownMarket, type MarketLookup } from '../http/marketLookup.ts';
import { type Route, route } from '../http/route.ts';
import { answerRows, OBJECT_ARRAY, pageRequest, sourceOf } from '../http/rows.ts';
import * as parameter from '../schema/api/parameters.ts';
import { timeseriesShape } from '../schema/api/resources.ts';
import { TIMESERIES_COLUMNS, yesQuotesOf } from '../store/queries/lists.ts';

export function timeseriesRoute(parts: MarketLookup): Route {
  return route({
    method: 'GET',
    path: '/v1/markets/{market_id}/timeseries',
    auth: 'key',
    access: { feature: 'market_data' },
    summary: 'YES mid and spread, one point for each change of a YES best price or of its trust',
    description: '`mid_yes` and `spread_yes` are null while the YES book is one-sided or untrusted.',
    pathFields: { market_id: parameter.marketId },
    query: {
      start: parameter.start,
      end: parameter.end,
      limit: parameter.limit(100, 10_000),
      offset: parameter.offset,
      order: parameter.order,
      cursor: parameter.cursor,
    },
    response: timeseriesShape,
    cacheable: true,
    handle: async ({ path, query, history, signal, headOnly, conditions }) => {
      const { limit, offset } = query;
      const asked = pageRequest(['timeseries', path.market_id], query, history);
      const source = sourceOf(yesQuotesOf(path.market_id), asked, conditions);
      const market = await knownMarket(parts, path.market_id, signal);
      return answerRows(
        parts.store,
        {
          source,
          columns: TIMESERIES_COLUMNS,
          format: OBJECT_ARRAY,
          key: 'snapshots',
          head: () => ({ market: { market_id: market.marketId, market_type: market.eventType } }),
          tail: ({ total }) => ({ total, limit, offset }),
        },
        { ...asked, withTotal: true, raw: { signal, headOnly, conditions } },
      );
    },
  });
}
