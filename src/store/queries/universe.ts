/** The markets of a backtest, and their known gaps. */
import type { TapeGap } from '../../core/session/tape.ts';
import { type BacktestUniverse, seriesSetOf } from '../../schema/backtest.ts';
import { isGapOf } from '../../schema/gap.ts';
import type { Market } from '../../schema/market.ts';
import type { StoreReader } from '../reader.ts';
import { MARKET_FIELDS } from './markets.ts';
import { GAP_END_RECEIVED, GAP_START_RECEIVED } from './resume.ts';
import { maybeMs, rangeConditions, where } from './sql.ts';

interface UniverseRange {
  readonly universe: BacktestUniverse;
  /** Filters by the window's end: startMs <= end < endMs. */
  readonly startMs: number | null;
  readonly endMs: number;
  readonly limit: number;
}

/**
 * The newest markets of one or more series whose windows ended in a range, oldest first: resolved or not, traded or not, listed
 * or not. A caller that excludes some reports which and why.
 */
export async function loadUniverse(reader: StoreReader, range: UniverseRange): Promise<Market[]> {
  const { universe, startMs, endMs, limit } = range;
  const { conditions, params } = rangeConditions('end_time', { startMs, endMs });
  const { tickers, event_types } = seriesSetOf(universe);
  conditions.push('ticker IN {tickers:Array(String)}', 'event_type IN {event_types:Array(String)}');
  const markets = await reader.rows<Market>(
    `SELECT ${MARKET_FIELDS} FROM markets FINAL ${where(conditions)}
     ORDER BY end_time DESC, market_id DESC LIMIT {limit:UInt32}`,
    { ...params, tickers, event_types, limit },
  );
  return markets.reverse();
}

/** A text that another recording does not have, even one of the same markets: its oldest arrival number. */
export async function recordingName(reader: StoreReader): Promise<string> {
  const [oldest] = await reader.rows<{ seq: number }>('SELECT min(seq) AS seq FROM markets FINAL');
  return String(oldest?.seq ?? 0);
}

/**
 * Gaps of each market in time order by receive time, the clock of replays. Rows of earlier releases do not contain the
 * detection time: such a gap counts as detected just after it began.
 */
export async function loadTapeGaps(
  reader: StoreReader,
  marketIds: readonly string[],
): Promise<Map<string, TapeGap[]>> {
  if (marketIds.length === 0) return new Map();
  const rows = await reader.rows<GapRow>(
    `SELECT market_id AS marketId, toUnixTimestamp64Milli(${GAP_START_RECEIVED}) AS startMs, seq,
       ${maybeMs(GAP_END_RECEIVED, 'endMs')}, ${maybeMs('known_time', 'knownMs')}, known_seq AS knownSeq, cause, feed
     FROM gaps FINAL WHERE market_id IN {market_ids:Array(String)} ORDER BY startMs, gap_id`,
    { market_ids: marketIds },
  );
  const gaps = new Map<string, TapeGap[]>();
  for (const row of rows) {
    const known = gaps.get(row.marketId);
    if (known) known.push(tapeGapOf(row));
    else gaps.set(row.marketId, [tapeGapOf(row)]);
  }
  return gaps;
}

interface GapRow {
  readonly marketId: string;
  readonly startMs: number;
  readonly endMs: number | null;
  readonly knownMs: number | null;
  readonly knownSeq: number | null;
  /** `seq` of the gap's end where it has one: the newest row contains it. */
  readonly seq: number;
  readonly cause: string;
  readonly feed: string;
}

/** What a tape reads of a market. */
const TAPE_TABLES = ['books', 'quotes', 'trades'] as const;

function tapeGapOf({ startMs, endMs, knownMs, knownSeq, seq, ...gap }: GapRow): TapeGap {
  const tables = TAPE_TABLES.filter((table) => isGapOf(table, gap));
  const of = tables.length === 1 ? { of: tables[0] as (typeof TAPE_TABLES)[number] } : {};
  // A row received exactly at its start is the last good one.
  if (knownMs === null || knownSeq === null) return { startMs, knownMs: startMs + 0.5, endMs, ...of };
  return { startMs, knownMs, endMs, knownSeq, ...(endMs === null ? {} : { endSeq: seq }), ...of };
}
