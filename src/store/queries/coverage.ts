import type { StoreReader } from '../reader.ts';

/**
 * How much of its window of a market was recorded, as pieces of SQL about a market `t`: what lies in its gaps or before
 * anything of it was recorded is lost. The epoch stands for "nothing was ever recorded".
 */

/** Gaps of each market as pairs of Unix milliseconds; one that is open lasts until now. */
const IN_GAPS = `groupArray((toUnixTimestamp64Milli(start_time), toUnixTimestamp64Milli(ifNull(end_time, now64(3)))))`;
/** When the first proven book was received, as its quotes tell it: for records that do not say so themselves. */
const FIRST_QUOTE = 'min(received)';

/** The terms of `COVERAGE`, for a WITH in which `in_gaps` and `first_quote` are known. */
export const COVERAGE_TERMS = `
  toUnixTimestamp64Milli(t.start_time) AS from_ms,
  least(toUnixTimestamp64Milli(t.end_time), toUnixTimestamp64Milli(now64(3))) AS to_ms,
  ifNull(t.recorded_since, first_quote) AS since,
  toUnixTimestamp64Milli(if(since = toDateTime64(0, 3), now64(3), since)) AS since_ms,
  arrayFilter(piece -> piece.1 < to_ms AND piece.2 > from_ms, arrayPushBack(in_gaps, (toInt64(0), since_ms))) AS lost,
  arrayReduce('intervalLengthSum',
    arrayMap(piece -> greatest(piece.1, from_ms), lost), arrayMap(piece -> least(piece.2, to_ms), lost)) AS lost_ms,
  if(from_ms < to_ms, 1 - lost_ms / (to_ms - from_ms), 1) AS kept`;

/** The share, in millionths: of a daily window one is a tenth of a second. */
export const COVERAGE = 'least(1., greatest(0., floor(kept * 1000000 + 0.5) / 1000000))';

/** Of the one market `market_id`. */
export const WITH_COVERAGE_OF_ONE = `WITH
  (SELECT ${IN_GAPS} FROM gaps FINAL WHERE market_id = {market_id:String}) AS in_gaps,
  (SELECT ${FIRST_QUOTE} FROM quotes WHERE trusted AND market_id IN (
    SELECT market_id FROM markets FINAL WHERE market_id = {market_id:String} AND isNull(recorded_since))) AS first_quote,
  ${COVERAGE_TERMS}`;

/** Of each market `t` of a query named `page`. */
export const JOIN_COVERAGE = `
  LEFT JOIN (
    SELECT market_id, ${IN_GAPS} AS in_gaps FROM gaps FINAL
    WHERE market_id IN (SELECT market_id FROM page) GROUP BY market_id) AS g ON g.market_id = t.market_id
  LEFT JOIN (
    SELECT market_id, ${FIRST_QUOTE} AS first_quote FROM quotes
    WHERE trusted AND market_id IN (SELECT market_id FROM page WHERE isNull(recorded_since))
    GROUP BY market_id) AS q ON q.market_id = t.market_id`;

/** Receipt of each market's first trusted quote, Unix milliseconds; markets without one are left out. */
export async function firstQuoteTimes(
  store: StoreReader,
  marketIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const rows = await store.rows<{ marketId: string; timeMs: number }>(
    `SELECT market_id AS marketId, toUnixTimestamp64Milli(${FIRST_QUOTE}) AS timeMs
     FROM quotes WHERE trusted AND market_id IN {market_ids:Array(String)} GROUP BY market_id`,
    { market_ids: marketIds },
    { signal },
  );
  return new Map(rows.map(({ marketId, timeMs }) => [marketId, timeMs]));
}
