import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { isSettled, validityOf } from '../http/caching.ts';
import { type CursorScope, decodeCursor, encodeCursor } from '../http/cursor.ts';
import { knownMarket, type MarketLookup } from '../http/marketLookup.ts';
import { type Route, route, streamedHead } from '../http/route.ts';
import { around, checkRange, OBJECT_ARRAY, OBJECT_LINES, wholeBody } from '../http/rows.ts';
import { rowsBody } from '../http/rowsBody.ts';
import { keyColumns, pageOfLines } from '../http/shortPages.ts';
import { isStreamed } from '../http/streamedAnswers.ts';
import { datetime } from '../schema/api/datetime.ts';
import { required } from '../schema/api/fields.ts';
import * as parameter from '../schema/api/parameters.ts';
import { CANDLE_TIMEFRAMES, type CandleTimeframe, candlesShape } from '../schema/api/resources.ts';
import { literal } from '../schema/api/types.ts';
import {
  type CandlePage,
  type CandleRequest,
  candleRows,
  candlesRevision,
  candlesWithNext,
  countCandles,
  findCandles,
} from '../store/queries/candles.ts';

const MINUTE_MS = 60_000;
const TIMEFRAME_MS: Record<CandleTimeframe, number> = {
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': 60 * MINUTE_MS,
  '4h': 240 * MINUTE_MS,
  '24h': 1440 * MINUTE_MS,
};
/** The start of a bucket identifies it completely. */
const NO_TIE = '-';

export function candlesRoute(parts: MarketLookup): Route {
  return route({
    method: 'GET',
    path: '/v1/candles',
    auth: 'key',
    access: { feature: 'market_data' },
    summary: 'Open, high, low, close of the YES mid and traded volume, in buckets aligned to UTC',
    description:
      'A bucket with trades but no two-sided mid uses the last known mid; a bucket with neither is omitted.',
    query: {
      market_id: parameter.marketId,
      timeframe: required(literal(CANDLE_TIMEFRAMES), 'Length of a candle'),
      start: required(datetime, 'Start of the range, inclusive'),
      end: required(datetime, 'End of the range, exclusive'),
      limit: parameter.limit(1000, 10_000),
      cursor: parameter.cursor,
    },
    response: candlesShape,
    cacheable: true,
    handle: async ({ query, history, signal, headOnly, conditions }) => {
      const { market_id: marketId, timeframe, start, end, limit } = query;
      checkRange(start, end);
      const scope: CursorScope = ['candles', marketId, timeframe, start, end];
      const timeframeMs = TIMEFRAME_MS[timeframe];
      const after = decodeCursor(scope, query.cursor, /^-$/);
      const allowed = history.range({ startMs: start, endMs: end }, { resumed: after !== null }) ?? start;
      const startMs = after ? Math.max(allowed, after.timeMs + timeframeMs) : allowed;
      const request = { marketId, startMs, endMs: Math.max(startMs, end), timeframeMs, limit };
      const market = await knownMarket(parts, marketId, signal);
      const settlesMs = allowed === start ? end : null;
      // Only for cacheable responses: it reads two columns of the range.
      const revision = isSettled(settlesMs, conditions) ? candlesRevision(request) : 'toUInt64(0)';
      const read = { revision, signal };
      const short = limit === 0 || isStreamed(limit) ? null : await shortCandles(parts, request, read);
      const page =
        short || limit === 0 ? (short?.page ?? null) : await findCandles(parts.store, request, read);
      const count = limit === 0 ? await countCandles(parts.store, request, signal) : (page?.count ?? 0);
      const next = page?.more ? encodeCursor(scope, { timeMs: page.lastMs, tie: NO_TIE }) : null;
      const wrap = around('candles', { market_id: market.marketId, timeframe, count }, { next_cursor: next });
      const validity = validityOf([count, page], { settlesMs, conditions });
      const headers = validity?.headers ?? {};
      if (validity?.notModified) return { status: 304, headers, body: '' };
      if (headOnly) return { headers, body: streamedHead() };
      if (short && page) return { headers, body: wholeBody(`${wrap.prefix}${short.rows}${wrap.suffix}`) };
      return { headers, body: await candlesBody(parts, { request, page, wrap, signal }) };
    },
  });
}

/** Reads a short page and its candles with one statement. */
async function shortCandles(
  { store }: Pick<MarketLookup, 'store'>,
  request: CandleRequest,
  { revision: current, signal }: { revision: string; signal: AbortSignal },
): Promise<{ page: CandlePage | null; rows: string }> {
  const key = keyColumns({ timeMs: 'bucket', seq: '0', revision: current });
  const { query, params } = candlesWithNext(request, key);
  const given = await text(await store.stream(query, params, { ...OBJECT_LINES, short: true, signal }));
  const { page, rows } = pageOfLines(given, { limit: request.limit, descending: false });
  if (page === null) return { page, rows };
  const { count, low, high, next, revision } = page;
  return {
    page: { count, firstMs: low.timeMs, lastMs: high.timeMs, more: next !== null, revision },
    rows,
  };
}

async function candlesBody(
  { store }: Pick<MarketLookup, 'store'>,
  {
    request,
    page,
    wrap,
    signal,
  }: {
    request: CandleRequest;
    page: CandlePage | null;
    wrap: { prefix: string; suffix: string };
    signal: AbortSignal;
  },
): Promise<string | Readable> {
  if (!page) return `${wrap.prefix}[]${wrap.suffix}`;
  const { query, params } = candleRows(request, page);
  const rows = await store.stream(query, params, {
    ...OBJECT_ARRAY,
    short: !isStreamed(request.limit),
    signal,
  });
  return rowsBody(rows, wrap);
}
