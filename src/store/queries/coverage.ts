import type { MarketBody } from '../../schema/api/resources.ts';
import type { StoreReader } from '../reader.ts';

/** A millionth of a daily window is a tenth of a second. */
const SHARE_STEPS = 1_000_000;

/**
 * When each market's first proven book was received. Those whose record does not say it are looked for among their
 * quotes; the epoch stands for none.
 */
const RECORDED_SINCE = `
  SELECT m.market_id AS market_id, ifNull(m.recorded_since, q.first) AS since
  FROM (
    SELECT market_id, recorded_since FROM markets FINAL WHERE market_id IN {market_ids:Array(String)}) AS m
  LEFT JOIN (
    SELECT market_id, min(received) AS first FROM quotes
    WHERE trusted AND market_id IN (
      SELECT market_id FROM markets FINAL
      WHERE market_id IN {market_ids:Array(String)} AND isNull(recorded_since))
    GROUP BY market_id) AS q ON m.market_id = q.market_id`;

/**
 * Share of each market's window, as far as it has passed, that lies in gaps or before anything of it was recorded;
 * markets that lost nothing are left out.
 */
const LOST_SHARES = `
  SELECT m.market_id AS market_id,
    intervalLengthSum(greatest(g.from_ms, m.start_ms), least(g.to_ms, m.end_ms)) / any(m.end_ms - m.start_ms) AS lost_share
  FROM (
    SELECT market_id, toUnixTimestamp64Milli(start_time) AS start_ms,
      least(toUnixTimestamp64Milli(end_time), toUnixTimestamp64Milli(now64(3))) AS end_ms
    FROM markets FINAL WHERE market_id IN {market_ids:Array(String)}) AS m
  INNER JOIN (
    SELECT market_id, toUnixTimestamp64Milli(start_time) AS from_ms,
      toUnixTimestamp64Milli(ifNull(end_time, now64(3))) AS to_ms
    FROM gaps FINAL WHERE market_id IN {market_ids:Array(String)}
    UNION ALL
    SELECT market_id, toInt64(0) AS from_ms, toUnixTimestamp64Milli(if(since = toDateTime64(0, 3), now64(3), since)) AS to_ms
    FROM (${RECORDED_SINCE})) AS g ON m.market_id = g.market_id
  WHERE g.from_ms < m.end_ms AND g.to_ms > m.start_ms AND m.start_ms < m.end_ms
  GROUP BY m.market_id`;

/** Reads what of these markets' windows is missing. */
export async function readLostShares(
  store: StoreReader,
  marketIds: readonly string[],
  options: { readonly signal: AbortSignal },
): Promise<Map<string, number>> {
  if (marketIds.length === 0) return new Map();
  const params = { market_ids: marketIds };
  const rows = await store.rows<{ market_id: string; lost_share: number }>(LOST_SHARES, params, options);
  return new Map(rows.map(({ market_id, lost_share }) => [market_id, lost_share]));
}

/** The market with the share of its window that was recorded and lies in no gap. */
export function withCoverage(market: MarketBody, lostShares: ReadonlyMap<string, number>): MarketBody {
  const share = 1 - (lostShares.get(market.market_id) ?? 0);
  const coverage = Math.min(1, Math.max(0, Math.round(share * SHARE_STEPS) / SHARE_STEPS));
  return { ...market, coverage };
}
