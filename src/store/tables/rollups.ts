/**
 * Rollups that the engine keeps beside a table, as projections. They are in the table's own parts, so an insert writes
 * both or neither, even after a kill, and a merge keeps both. Parts older than a projection are read row by row:
 * slower, but correct.
 */

/**
 * The end of the minute that contains a quote; a quote exactly at a minute's end belongs to the minute that ends there.
 */
export const QUOTE_MINUTE = 'toStartOfMinute(ts + toIntervalMillisecond(59999))';

/** Mid steps per 1 USDC: a mid is the sum of bid and ask in ticks, so it stays a whole number. */
export const MID_STEPS = 20_000;

/**
 * The last two-sided, trusted YES mid of a group of quotes, in steps; null without one (`argMax` skips nulls). Time and
 * arrival number are combined into one number, because comparing pairs takes the engine twice the time.
 */
export const LAST_MID =
  'argMax(if(yes_changed AND trusted, yes_bid + yes_ask, NULL), bitShiftLeft(toUInt128(toUnixTimestamp64Milli(ts)), 64) + seq)';

interface Projection {
  readonly table: string;
  readonly name: string;
  readonly select: string;
  /** Number of the migration that adds it. */
  readonly added: number;
}

/** `minute_mids` has the last mid of each market and minute: a few rows for hundreds of table rows. */
export const PROJECTIONS: readonly Projection[] = [
  {
    table: 'quotes',
    name: 'minute_mids',
    select: `SELECT market_id, ${QUOTE_MINUTE} AS minute, ${LAST_MID} GROUP BY market_id, minute`,
    added: 2,
  },
];
