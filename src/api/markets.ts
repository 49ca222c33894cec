import { type CursorScope, cutPage, decodeCursor } from '../http/cursor.ts';
import { type HistoryWindow, SINCE_UNTIL } from '../http/history.ts';
import { notFound } from '../http/refusal.ts';
import { type Answer, type Route, route } from '../http/route.ts';
import { checkRange } from '../http/rows.ts';
import { datetime } from '../schema/api/datetime.ts';
import { optional } from '../schema/api/fields.ts';
import * as parameter from '../schema/api/parameters.ts';
import { type MarketBody, marketListShape, marketShape } from '../schema/api/resources.ts';
import { literal } from '../schema/api/types.ts';
import type { FollowedAssets, Ticker } from '../schema/market.ts';
import type { MarketFilter } from '../store/queries/markets.ts';
import { countMarketRecords, type MarketDependencies, marketRecord, marketRecords } from './marketRecords.ts';

const MARKET_ID_TIE = /^[\w.-]+$/;

const filtersOf = (tickers: readonly Ticker[]) => ({
  ticker: parameter.optionalTicker(tickers),
  event_type: parameter.optionalEventType,
  since: optional(datetime, 'Only markets whose window ends at or after this'),
  until: optional(datetime, 'Only markets whose window ends before this'),
  limit: parameter.limit(100, 1000),
  cursor: parameter.cursor,
});
const status = optional(literal(['open', 'closed', 'resolved']), 'Only markets in this state');

interface ListParameters {
  readonly ticker: string | null;
  readonly event_type: string | null;
  readonly since: number | null;
  readonly until: number | null;
  readonly limit: number;
  readonly cursor: string | null;
}

export function marketRoutes(parts: MarketDependencies & FollowedAssets): Route[] {
  const filters = filtersOf(parts.tickers);
  return [
    route({
      method: 'GET',
      path: '/v1/markets',
      auth: 'key',
      access: { feature: 'market_data' },
      summary: 'List markets, newest end first',
      query: { ...filters, status },
      response: marketListShape,
      handle: ({ query, history, signal }) =>
        answerList(parts, query, { status: query.status, history, signal }),
    }),
    route({
      method: 'GET',
      path: '/v1/markets/resolved',
      auth: 'key',
      access: { feature: 'market_data' },
      summary: 'List resolved markets, newest end first',
      query: filters,
      response: marketListShape,
      handle: ({ query, history, signal }) =>
        answerList(parts, query, { status: 'resolved', history, signal }),
    }),
    route({
      method: 'GET',
      path: '/v1/markets/{market_id}',
      auth: 'key',
      access: { feature: 'market_data' },
      summary: 'Get one market',
      pathFields: { market_id: parameter.marketId },
      response: marketShape,
      handle: async (request) => {
        const { market_id: marketId } = request.path;
        const market = MARKET_ID_TIE.test(marketId) ? await marketRecord(parts, marketId, request) : null;
        if (!market) throw notFound('Market not found');
        return { body: JSON.stringify(market) };
      },
    }),
  ];
}

async function answerList(
  parts: MarketDependencies,
  parameters: ListParameters,
  {
    status,
    history,
    signal,
  }: { status: MarketFilter['status']; history: HistoryWindow; signal: AbortSignal },
): Promise<Answer> {
  const { ticker, event_type: eventType, since, until: untilMs, limit, cursor } = parameters;
  checkRange(since, untilMs, SINCE_UNTIL);
  const scope: CursorScope = ['markets', ticker, eventType, status, since, untilMs];
  const place = decodeCursor(scope, cursor, MARKET_ID_TIE);
  const sinceMs = history.range(
    { startMs: since, endMs: untilMs },
    { names: SINCE_UNTIL, resumed: place !== null },
  );
  const filter = { ticker, eventType, status, sinceMs, untilMs };
  if (limit === 0) {
    const count = await countMarketRecords(parts, filter, signal);
    return { body: JSON.stringify({ markets: [], count, next_cursor: null }) };
  }
  const after = place && { endTimeMs: place.timeMs, marketId: place.tie };
  const found = await marketRecords(parts, { ...filter, limit: limit + 1, after }, signal);
  const { page: markets, next } = cutPage(found, limit, { scope, placeOf });
  return { body: JSON.stringify({ markets, count: markets.length, next_cursor: next }) };
}

function placeOf(market: MarketBody): { timeMs: number; tie: string } {
  return { timeMs: Date.parse(market.end_time), tie: market.market_id };
}
