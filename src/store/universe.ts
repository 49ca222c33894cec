/** The markets a backtest is asked for, and what of them is known to be missing. */
import type { TapeGap } from '../core/replay/tape.ts';
import type { Universe } from '../schema/backtest.ts';
import type { Market } from '../schema/market.ts';
import { MARKET_FIELDS } from './markets.ts';
import { rangeConditions, where } from './queries/sql.ts';
import type { StoreReader } from './reader.ts';

export interface UniverseRange {
  readonly universe: Universe;
  /** On the window's end: startMs <= end < endMs. */
  readonly startMs: number | null;
  readonly endMs: number;
  readonly limit: number;
}

/**
 * The newest markets of a series whose windows have ended in a range, oldest first: resolved or not, traded or not,
 * listed or not. Whoever leaves some out says which and why.
 */
export async function loadUniverse(reader: StoreReader, range: UniverseRange): Promise<Market[]> {
  const { universe, startMs, endMs, limit } = range;
  const { conditions, params } = rangeConditions('end_time', { startMs, endMs });
  conditions.push('ticker = {ticker:String}', 'event_type = {event_type:String}');
  const markets = await reader.rows<Market>(
    `SELECT ${MARKET_FIELDS} FROM markets FINAL ${where(conditions)}
     ORDER BY end_time DESC, market_id DESC LIMIT {limit:UInt32}`,
    { ...params, ...universe, limit },
  );
  return markets.reverse();
}

/**
 * Gaps of each market in order of time. When one came to be known is not kept: it counts as known just after it
 * began, so nothing is dealt in it.
 */
export async function loadTapeGaps(
  reader: StoreReader,
  marketIds: readonly string[],
): Promise<Map<string, TapeGap[]>> {
  if (marketIds.length === 0) return new Map();
  const rows = await reader.rows<{ marketId: string; startMs: number; endMs: number | null }>(
    `SELECT market_id AS marketId, toUnixTimestamp64Milli(start_time) AS startMs,
       if(isNull(end_time), NULL, toUnixTimestamp64Milli(assumeNotNull(end_time))) AS endMs
     FROM gaps FINAL WHERE market_id IN {market_ids:Array(String)} ORDER BY start_time, gap_id`,
    { market_ids: marketIds },
  );
  const gaps = new Map<string, TapeGap[]>();
  for (const { marketId, startMs, endMs } of rows) {
    const known = gaps.get(marketId);
    // What was received at its very start is the last that was good.
    const gap = { startMs, knownMs: startMs + 0.5, endMs };
    if (known) known.push(gap);
    else gaps.set(marketId, [gap]);
  }
  return gaps;
}
