import type { StoreReader } from '../reader.ts';

/**
 * The recorded part of the windows of many markets, as SQL fragments for a market `t`; `recordedShare` computes that of
 * one. Time inside gaps and time before the first record count as lost. The epoch means "nothing was ever recorded".
 */

/** Gaps of each market as pairs of Unix milliseconds; an open gap lasts until now. */
const IN_GAPS = `groupArray((toUnixTimestamp64Milli(start_time), toUnixTimestamp64Milli(ifNull(end_time, now64(3)))))`;
/** When the first verified book was received, according to its quotes: for records that do not contain that time. */
const FIRST_QUOTE = 'min(received)';

/** The terms of a WITH clause for a query that joins `JOIN_COVERAGE`. */
export const COVERAGE_TERMS = `
  toUnixTimestamp64Milli(t.start_time) AS from_ms,
  least(toUnixTimestamp64Milli(t.end_time), toUnixTimestamp64Milli(now64(3))) AS to_ms,
  ifNull(t.recorded_since, first_quote) AS since,
  toUnixTimestamp64Milli(if(since = toDateTime64(0, 3), now64(3), since)) AS since_ms,
  arrayFilter(piece -> piece.1 < to_ms AND piece.2 > from_ms, arrayPushBack(in_gaps, (toInt64(0), since_ms))) AS lost,
  arrayReduce('intervalLengthSum',
    arrayMap(piece -> greatest(piece.1, from_ms), lost), arrayMap(piece -> least(piece.2, to_ms), lost)) AS lost_ms`;

/** For each market `t` of a query named `page`. */
export const JOIN_COVERAGE = `
  LEFT JOIN (
    SELECT market_id, ${IN_GAPS} AS in_gaps FROM gaps FINAL
    WHERE market_id IN (SELECT market_id FROM page) GROUP BY market_id) AS g ON g.market_id = t.market_id
  LEFT JOIN (
    SELECT market_id, ${FIRST_QUOTE} AS first_quote FROM quotes
    WHERE trusted AND market_id IN (SELECT market_id FROM page WHERE isNull(recorded_since))
    GROUP BY market_id) AS q ON q.market_id = t.market_id`;

/** Receive time of each market's first trusted quote, Unix milliseconds; markets without one are omitted. */
export async function firstQuoteTimes(
  store: StoreReader,
  marketIds: readonly string[],
  options: { readonly signal?: AbortSignal } = {},
): Promise<ReadonlyMap<string, number>> {
  const rows = await store.rows<{ marketId: string; timeMs: number }>(
    `SELECT market_id AS marketId, toUnixTimestamp64Milli(${FIRST_QUOTE}) AS timeMs
     FROM quotes WHERE trusted AND market_id IN {market_ids:Array(String)} GROUP BY market_id`,
    { market_ids: marketIds },
    options,
  );
  return new Map(rows.map(({ marketId, timeMs }) => [marketId, timeMs]));
}
