import type { StoreReader } from '../reader.ts';
import { HAS_MID, YES_MID } from './lists.ts';
import { contentOf, isoTime, rangeConditions, where } from './sql.ts';
import { TRUST_REVISION } from './trust.ts';

export interface CandleRequest {
  readonly marketId: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly timeframeMs: number;
  readonly limit: number;
}

/** The buckets of a page of candles, the first and last by start time; null when there are none. */
export interface CandlePage {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly more: boolean;
  /** The given revision when the buckets were found. */
  readonly revision: string;
}

interface Statement {
  query: string;
  params: Record<string, string | number>;
}

/**
 * Finds the earliest `limit` buckets of the range that have a candle. A bucket that contains only trades, before the
 * first two-sided mid, has no price and no candle.
 * @param options.revision SQL of a UInt64, as `candlesRevision`.
 */
export async function findCandles(
  store: StoreReader,
  request: CandleRequest,
  { revision, signal }: { revision: string; signal: AbortSignal },
): Promise<CandlePage | null> {
  const { query, params } = candles(request);
  const [row] = await store.rows<{ found: number; first_ms: string; last_ms: string; revision: string }>(
    `SELECT toUInt32(length(found_buckets)) AS found, toString(found_buckets[1]) AS first_ms,
       toString(found_buckets[least({limit:UInt32}, found)]) AS last_ms,
       toString(${revision}) AS revision
     FROM (SELECT arraySort(groupArray(bucket)) AS found_buckets FROM (
       SELECT bucket FROM (${query}) ORDER BY bucket LIMIT {limit:UInt32} + 1))`,
    { ...params, limit: request.limit },
    { signal },
  );
  if (!row || row.found === 0) return null;
  return {
    count: Math.min(row.found, request.limit),
    firstMs: Number(row.first_ms),
    lastMs: Number(row.last_ms),
    more: row.found > request.limit,
    revision: row.revision,
  };
}

export async function countCandles(
  store: StoreReader,
  request: CandleRequest,
  signal: AbortSignal,
): Promise<number> {
  const { query, params } = candles(request);
  const [row] = await store.rows<{ total: number }>(
    `SELECT toUInt32(count()) AS total FROM (${query})`,
    params,
    { signal },
  );
  return row?.total ?? 0;
}

/**
 * Differs between two times if the candles may have changed in between. Quotes before the range count too: the last mid
 * before it is carried into it. Parameters: those of the candles.
 */
export function candlesRevision(range: CandleRequest): string {
  const ofMarket = 't.market_id = {market_id:String}';
  const before = rangeConditions('t.ts', { startMs: null, endMs: range.endMs }).conditions;
  const quotes = contentOf('quotes', [ofMarket, 't.yes_changed', ...before]);
  const trades = contentOf('trades', [ofMarket, ...rangeConditions('t.ts', range).conditions]);
  return `cityHash64(${TRUST_REVISION}, ${quotes}, ${trades})`;
}

const CANDLE_COLUMNS = `
  ${isoTime("fromUnixTimestamp64Milli(bucket, 'UTC')")} AS ts, open, high, low, close, volume, trade_count`;

/**
 * The statement that reads the earliest `limit` candles and the next one. The engine computes all candles of the range
 * in any case; finding the page first would compute them twice.
 * @param keyColumns Columns after those of a candle, computed from its `bucket`, in Unix milliseconds.
 */
export function candlesWithNext(request: CandleRequest, keyColumns: string): Statement {
  const { query, params } = candles(request);
  return {
    query: `SELECT ${CANDLE_COLUMNS}, ${keyColumns} FROM (${query}) ORDER BY bucket LIMIT {limit:UInt32} + 1`,
    params: { ...params, limit: request.limit },
  };
}

/** The statement that reads a found page, oldest first. */
export function candleRows(request: CandleRequest, page: CandlePage): Statement {
  const { query, params } = candles(request);
  return {
    query: `SELECT ${CANDLE_COLUMNS}
      FROM (${query}) WHERE bucket >= {first_ms:Int64} AND bucket <= {last_ms:Int64} ORDER BY bucket`,
    params: { ...params, first_ms: page.firstMs, last_ms: page.lastMs },
  };
}

/**
 * Every candle of the range. Quotes give the prices, trades the volume; a bucket with only trades has the last mid
 * before it, which may be from before the range.
 */
function candles({ marketId, startMs, endMs, timeframeMs }: CandleRequest): Statement {
  const range = rangeConditions('t.ts', { startMs, endMs });
  const inRange = ['t.market_id = {market_id:String}', ...range.conditions];
  const mids = ['t.yes_changed', HAS_MID];
  const before = rangeConditions('t.ts', { startMs: null, endMs: startMs }).conditions.map((condition) =>
    condition.replace('range_end', 'range_start'),
  );
  const bucket = 'intDiv(toUnixTimestamp64Milli(t.ts), {timeframe_ms:Int64}) * {timeframe_ms:Int64}';
  const nothing = 'CAST(NULL AS Nullable(Float64))';
  const query = `
    SELECT bucket, ifNull(open0, carried) AS open, ifNull(high0, carried) AS high, ifNull(low0, carried) AS low,
      ifNull(close0, carried) AS close, volume, trade_count
    FROM (
      SELECT *, ifNull(
        anyLast(close0) OVER (ORDER BY bucket ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
        (SELECT max(tuple(t.ts, t.seq, toNullable(${YES_MID}))).3 FROM quotes AS t
         ${where(['t.market_id = {market_id:String}', ...before, ...mids])} HAVING count() > 0)
      ) AS carried
      FROM (
        SELECT bucket, max(open1) AS open0, max(high1) AS high0, max(low1) AS low0, max(close1) AS close0,
          sum(volume1) AS volume, sum(trades1) AS trade_count
        FROM (
          SELECT ${bucket} AS bucket, toNullable(argMin(${YES_MID}, (t.ts, t.seq))) AS open1,
            toNullable(max(${YES_MID})) AS high1, toNullable(min(${YES_MID})) AS low1,
            toNullable(argMax(${YES_MID}, (t.ts, t.seq))) AS close1, 0. AS volume1, toUInt64(0) AS trades1
          FROM quotes AS t ${where([...inRange, ...mids])} GROUP BY bucket
          UNION ALL
          SELECT ${bucket} AS bucket, ${nothing} AS open1, ${nothing} AS high1, ${nothing} AS low1,
            ${nothing} AS close1, sum(t.size) / 1000000 AS volume1, count() AS trades1
          FROM trades AS t ${where(inRange)} GROUP BY bucket
        ) GROUP BY bucket
      )
    ) WHERE close IS NOT NULL`;
  return { query, params: { ...range.params, market_id: marketId, timeframe_ms: timeframeMs } };
}
