import { type CursorScope, cutPage, decodeCursor } from '../http/cursor.ts';
import { knownMarket, type MarketLookup } from '../http/marketLookup.ts';
import { type Route, route } from '../http/route.ts';
import { checkRange } from '../http/rows.ts';
import * as parameter from '../schema/api/parameters.ts';
import { gapsShape } from '../schema/api/resources.ts';
import { countGapRecords, gapRecords } from './gapRecords.ts';

const GAP_ID_TIE = /^[\w.-]+$/;

export function gapsRoute(parts: MarketLookup): Route {
  return route({
    method: 'GET',
    path: '/v1/gaps',
    auth: 'key',
    access: { feature: 'market_data' },
    summary: 'Gaps: untrusted periods of a market’s recording that overlap the range',
    query: {
      market_id: parameter.marketId,
      start: parameter.start,
      end: parameter.end,
      limit: parameter.limit(100, 1000),
      cursor: parameter.cursor,
    },
    response: gapsShape,
    handle: async ({ query, history, signal }) => {
      const { market_id: marketId, start, end: endMs, limit } = query;
      checkRange(start, endMs);
      const scope: CursorScope = ['gaps', marketId, start, endMs];
      const place = decodeCursor(scope, query.cursor, GAP_ID_TIE);
      const startMs = history.range({ startMs: start, endMs }, { resumed: place !== null });
      const market = await knownMarket(parts, marketId, signal);
      const after = place && { startTimeMs: place.timeMs, gapId: place.tie };
      const request = { marketId, startMs, endMs, limit: limit + 1, after };
      const found = limit === 0 ? [] : await gapRecords(parts, request, signal);
      const { page: gaps, next } = cutPage(found, limit, {
        scope,
        placeOf: ({ start: from, gap_id: tie }) => ({ timeMs: Date.parse(from), tie }),
      });
      const count = limit === 0 ? await countGapRecords(parts, request, signal) : gaps.length;
      return { body: JSON.stringify({ market_id: market.marketId, count, gaps, next_cursor: next }) };
    },
  });
}
