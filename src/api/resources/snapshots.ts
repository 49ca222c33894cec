import { datetime } from '../../schema/api/datetime.ts';
import { optional, required } from '../../schema/api/fields.ts';
import * as parameter from '../../schema/api/parameters.ts';
import { orderbookShape, snapshotsShape } from '../../schema/api/resources.ts';
import { integer } from '../../schema/api/types.ts';
import { arrayLines, booksOf, PLAIN_BOOK, snapshotText, TEXT_LINES } from '../../store/queries/books.ts';
import type { PagePlan } from '../../store/queries/keyset.ts';
import { findBook } from '../../store/queries/orderbook.ts';
import { knownMarket } from '../marketLookup.ts';
import type { ApiParts } from '../parts.ts';
import { notFound } from '../refusal.ts';
import { type Answer, type Route, route } from '../route.ts';
import { answerRows, findRows, pageRequest } from '../rows.ts';

type Parts = Pick<ApiParts, 'store' | 'live'>;

const depth = optional(integer({ ge: 1, le: 1000 }), 'Levels a side; all when absent');
const interval = optional(
  integer({ ge: 1, le: 86_400_000 }),
  'Milliseconds; the last state of each such interval instead of every change',
);
const at = optional(datetime, 'The moment; now when absent');

/** A small chunk first, for an early first byte; then few large ones, since each costs a statement. */
const PLAN: PagePlan = { chunkRows: [400, 4800], allRows: PLAIN_BOOK };

export function snapshotRoutes(parts: Parts): Route[] {
  return [snapshotsRoute(parts), snapshotAtRoute(parts), orderbookRoute(parts)];
}

function snapshotsRoute(parts: Parts): Route {
  return route({
    method: 'GET',
    path: '/v1/snapshots',
    auth: 'key',
    summary: 'Order-book snapshots of a market, one for every change',
    description: 'Levels are best first. Nothing is sampled away. The body streams.',
    query: {
      market_id: parameter.marketId,
      start: parameter.start,
      end: parameter.end,
      limit: parameter.limit(10_000, 100_000),
      depth,
      interval_ms: interval,
      order: parameter.order,
      cursor: parameter.cursor,
    },
    response: snapshotsShape,
    cacheable: true,
    handle: async ({ query, signal, headOnly, conditions }) => {
      const { request, scope } = pageRequest(['snapshots', query.market_id], query);
      const source = booksOf(query.market_id);
      const market = await knownMarket(parts, query.market_id, signal);
      const found = await findRows(parts.store, source, request, { withTotal: false, signal, plan: PLAN });
      return answerRows(
        parts.store,
        {
          source,
          columns: ({ page, ends }) =>
            arrayLines(
              snapshotText({ hasDepth: query.depth !== null, plain: page.all }),
              ends,
              request.descending,
            ),
          columnParams: {
            underlying_ticker: JSON.stringify(market.ticker),
            ...(query.depth === null ? {} : { depth: query.depth }),
          },
          format: TEXT_LINES,
          key: 'snapshots',
          head: ({ count }) => ({ market_id: market.marketId, count }),
        },
        { found, request, scope, raw: { signal, headOnly, conditions } },
      );
    },
  });
}

function snapshotAtRoute(parts: Parts): Route {
  return route({
    method: 'GET',
    path: '/v1/snapshot-at/{ts}',
    auth: 'key',
    summary: 'The snapshot in force at a time: the last at or before it',
    pathFields: { ts: required(datetime, 'The moment') },
    query: { market_id: parameter.marketId },
    response: orderbookShape,
    handle: ({ path, query, signal }) =>
      answerBook(parts, { marketId: query.market_id, atMs: path.ts, signal }),
  });
}

function orderbookRoute(parts: Parts): Route {
  return route({
    method: 'GET',
    path: '/v1/markets/{market_id}/orderbook',
    auth: 'key',
    summary: 'The newest snapshot of a market, or the one in force at a time',
    pathFields: { market_id: parameter.marketId },
    query: { at },
    response: orderbookShape,
    handle: ({ path, query, signal }) =>
      answerBook(parts, { marketId: path.market_id, atMs: query.at, signal }),
  });
}

async function answerBook(
  parts: Parts,
  { marketId, atMs, signal }: { marketId: string; atMs: number | null; signal: AbortSignal },
): Promise<Answer> {
  const market = await knownMarket(parts, marketId, signal);
  const book = await findBook(parts.store, { marketId, ticker: market.ticker, atMs }, signal);
  if (book === null) throw notFound('No snapshot at or before this time');
  return { body: `{"market_id":${JSON.stringify(market.marketId)},${book.slice(1)}` };
}
