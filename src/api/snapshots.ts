import type { HistoryWindow } from '../http/history.ts';
import { knownMarket } from '../http/marketLookup.ts';
import { notFound } from '../http/refusal.ts';
import { type Answer, type Route, route } from '../http/route.ts';
import { answerPrinted, pageRequest, type RowFormat } from '../http/rows.ts';
import { SnapshotBody } from '../http/snapshotBody.ts';
import { snapshotText } from '../print/snapshotText.ts';
import { datetime } from '../schema/api/datetime.ts';
import { optional, required } from '../schema/api/fields.ts';
import * as parameter from '../schema/api/parameters.ts';
import { orderbookShape, snapshotsShape } from '../schema/api/resources.ts';
import { integer } from '../schema/api/types.ts';
import { bookColumns, booksOf } from '../store/queries/books.ts';
import { BOOK_FORMAT } from '../store/tables/bookRowReader.ts';
import { type BookDependencies, newestBook, storedBook } from './bookInForce.ts';

const depth = optional(integer({ ge: 1, le: 1000 }), 'Levels per side; default: all');
const at = optional(datetime, 'Time of the snapshot; default: now');

/** Binary columns are a seventh of the size of text, and parsed once: see `snapshotText.ts`. */
const BINARY_BOOKS: RowFormat = {
  format: BOOK_FORMAT,
  // Rows this short are cheaper to read in larger blocks than the store's default.
  settings: { query_plan_optimize_lazy_materialization: 0, max_block_size: '2048' },
};

export function snapshotRoutes(parts: BookDependencies): Route[] {
  return [snapshotsRoute(parts), snapshotAtRoute(parts), orderbookRoute(parts)];
}

function snapshotsRoute(parts: BookDependencies): Route {
  return route({
    method: 'GET',
    path: '/v1/snapshots',
    auth: 'key',
    access: { feature: 'market_data' },
    summary: 'Order book snapshots of a market, one for every change',
    description: 'Levels are best first. Every change is included, without sampling. The body is streamed.',
    query: {
      market_id: parameter.marketId,
      start: parameter.start,
      end: parameter.end,
      limit: parameter.limit(10_000, 100_000),
      depth,
      interval_ms: parameter.interval,
      order: parameter.order,
      cursor: parameter.cursor,
    },
    response: snapshotsShape,
    cacheable: true,
    handle: async ({ query, history, signal, headOnly, conditions }) => {
      const asked = pageRequest(['snapshots', query.market_id], query, history);
      const source = booksOf(query.market_id);
      const market = await knownMarket(parts, query.market_id, signal);
      return answerPrinted(
        parts.store,
        {
          source,
          columns: bookColumns({ hasDepth: query.depth !== null }),
          ...(query.depth === null ? {} : { columnParams: { depth: query.depth } }),
          format: BINARY_BOOKS,
          print: () => new SnapshotBody(market.ticker),
          key: 'snapshots',
          head: ({ count }) => ({ market_id: market.marketId, count }),
        },
        { ...asked, raw: { signal, headOnly, conditions } },
      );
    },
  });
}

function snapshotAtRoute(parts: BookDependencies): Route {
  return route({
    method: 'GET',
    path: '/v1/snapshot-at/{ts}',
    auth: 'key',
    access: { feature: 'market_data' },
    summary: 'Get the order book snapshot in force at a time: the last one at or before it',
    description: 'A snapshot is untrusted if a newer one may not be stored yet.',
    pathFields: { ts: required(datetime, 'Time of the snapshot') },
    query: { market_id: parameter.marketId },
    response: orderbookShape,
    handle: ({ path, query, history, signal }) => {
      history.check(path.ts, 'ts');
      return answerBook(parts, { marketId: query.market_id, atMs: path.ts, history, signal });
    },
  });
}

function orderbookRoute(parts: BookDependencies): Route {
  return route({
    method: 'GET',
    path: '/v1/markets/{market_id}/orderbook',
    auth: 'key',
    access: { feature: 'market_data' },
    summary: 'Get the newest order book of a market, or the one in force at a time',
    description: 'A snapshot is untrusted if a newer one may not be stored yet.',
    pathFields: { market_id: parameter.marketId },
    query: { at },
    response: orderbookShape,
    handle: ({ path, query, history, signal }) => {
      history.check(query.at, 'at');
      return answerBook(parts, { marketId: path.market_id, atMs: query.at, history, signal });
    },
  });
}

async function answerBook(
  parts: BookDependencies,
  {
    marketId,
    atMs,
    history,
    signal,
  }: { marketId: string; atMs: number | null; history: HistoryWindow; signal: AbortSignal },
): Promise<Answer> {
  const market = await knownMarket(parts, marketId, signal);
  const moment = { marketId, atMs };
  const book = newestBook(parts, moment) ?? (await storedBook(parts, moment, signal));
  if (book === null) throw notFound('No snapshot at or before this time');
  // The last snapshot of a market stays in force after its end, so it may be older than the history window.
  history.check(book.timeMs, 'the snapshot in force');
  const text = snapshotText(book, market.ticker);
  return { body: `{"market_id":${JSON.stringify(market.marketId)},${text.slice(1)}` };
}
