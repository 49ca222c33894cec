/** How complete the recording of each series and day is. Every query is bounded in time and threads. */
import type { StoreReader } from '../reader.ts';
import { COVERAGE_TERMS, JOIN_COVERAGE } from './coverage.ts';
import { GAP_END_RECEIVED, GAP_START_RECEIVED } from './resume.ts';
import { timeParam } from './sql.ts';

/** Gives way to every other query, and is given up rather than slow. */
const BOUNDS = 'SETTINGS max_execution_time = 10, max_threads = 1, priority = 10';
/** Windows of a series and day whose lag is measured, and how much of the end of each. */
const LAG_WINDOWS = 4;
const LAG_SECONDS = 300;

/** A series on a UTC day: the windows that ended on it. */
export interface SeriesDay {
  readonly ticker: string;
  readonly eventType: string;
  /** As `yyyy-mm-dd`. */
  readonly day: string;
  readonly windows: number;
  /** Sum of the lengths of its windows. */
  readonly windowMs: number;
  /** From the first proven book of each window to its end. */
  readonly recordedMs: number;
  /** The part of it outside gaps. */
  readonly provenMs: number;
  readonly gaps: number;
  readonly longestGapMs: number;
}

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Days without a window are left out. */
export async function seriesDays(store: StoreReader, { fromMs, toMs }: Range): Promise<SeriesDay[]> {
  return await store.rows<SeriesDay>(
    `WITH page AS (
       SELECT t.* FROM markets AS t FINAL
       WHERE t.end_time >= ${timeParam('from_ms_at')} AND t.end_time < ${timeParam('to_ms_at')}),
     ${COVERAGE_TERMS},
     least(greatest(since_ms, from_ms), to_ms) AS seen_ms,
     arrayFilter(piece -> piece.1 < to_ms AND piece.2 > from_ms, in_gaps) AS gaps_inside
     SELECT t.ticker AS ticker, t.event_type AS eventType, toString(toDate(t.end_time, 'UTC')) AS day,
       toUInt32(count()) AS windows, toFloat64(sum(to_ms - from_ms)) AS windowMs,
       toFloat64(sum(to_ms - seen_ms)) AS recordedMs,
       toFloat64(sum(greatest(0, to_ms - from_ms - toInt64(lost_ms)))) AS provenMs,
       toUInt32(sum(length(gaps_inside))) AS gaps,
       toFloat64(max(arrayMax(arrayPushBack(
         arrayMap(piece -> least(piece.2, to_ms) - greatest(piece.1, from_ms), gaps_inside), 0)))) AS longestGapMs
     FROM page AS t ${JOIN_COVERAGE}
     WHERE from_ms < to_ms
     GROUP BY ticker, eventType, day ORDER BY ticker, eventType, day ${BOUNDS}`,
    { from_ms_at: fromMs, to_ms_at: toMs },
  );
}

/** The delay from the venue's time of a book change to its receipt, in a sample of a series and day. */
export interface SeriesLag {
  readonly ticker: string;
  readonly eventType: string;
  readonly day: string;
  readonly medianMs: number;
  readonly p99Ms: number;
}

/** Of the last five minutes of up to four windows of each series and day: so many rows are few for any day. */
export async function seriesLags(store: StoreReader, { fromMs, toMs }: Range): Promise<SeriesLag[]> {
  return await store.rows<SeriesLag>(
    `WITH sample AS (
       SELECT market_id, ticker, event_type, end_time FROM markets FINAL
       WHERE end_time >= ${timeParam('from_ms')} AND end_time < ${timeParam('to_ms')}
       ORDER BY cityHash64(market_id) LIMIT ${LAG_WINDOWS} BY ticker, event_type, toDate(end_time, 'UTC'))
     SELECT s.ticker AS ticker, s.event_type AS eventType, toString(toDate(s.end_time, 'UTC')) AS day,
       round(quantileDeterministic(0.5)(delay, q.seq)) AS medianMs, round(quantileDeterministic(0.99)(delay, q.seq)) AS p99Ms
     FROM (
       SELECT market_id, ts, seq, toFloat64(toUnixTimestamp64Milli(received) - toUnixTimestamp64Milli(ts)) AS delay
       FROM quotes WHERE market_id IN (SELECT market_id FROM sample) AND trusted
         AND ts >= ${timeParam('from_ms')} - toIntervalSecond(${LAG_SECONDS}) AND ts < ${timeParam('to_ms')}) AS q
     INNER JOIN sample AS s ON s.market_id = q.market_id
     WHERE q.ts >= s.end_time - toIntervalSecond(${LAG_SECONDS}) AND q.ts < s.end_time
     GROUP BY ticker, eventType, day ${BOUNDS}`,
    { from_ms: fromMs, to_ms: toMs },
  );
}

/** Gaps of one feed and cause that began in the same minute. */
export interface GapIncident {
  readonly feed: string;
  readonly cause: string;
  readonly startMs: number;
  /** Null while one of them is open. */
  readonly endMs: number | null;
  readonly markets: number;
}

/** The newest first, all by receive time: the venue's time of a quiet market's last row may be hours older. */
export async function gapIncidents(
  store: StoreReader,
  { fromMs, limit }: { fromMs: number; limit: number },
): Promise<GapIncident[]> {
  return await store.rows<GapIncident>(
    `SELECT feed, cause, toUnixTimestamp64Milli(min(${GAP_START_RECEIVED})) AS startMs,
       if(countIf(isNull(end_time)) > 0, NULL, toUnixTimestamp64Milli(max(assumeNotNull(${GAP_END_RECEIVED})))) AS endMs,
       toUInt32(uniqExact(market_id)) AS markets
     FROM gaps FINAL WHERE ${GAP_START_RECEIVED} >= ${timeParam('from_ms')}
     GROUP BY feed, cause, toStartOfMinute(${GAP_START_RECEIVED}) ORDER BY startMs DESC LIMIT {limit:UInt32} ${BOUNDS}`,
    { from_ms: fromMs, limit },
  );
}
