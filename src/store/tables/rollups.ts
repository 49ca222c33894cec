/**
 * What the engine keeps summed up beside a table, as projections: they live inside the table's own parts, so an
 * insert writes both or neither, whatever kills it, and a merge keeps both. Parts from before a projection was
 * declared are read row by row: slower, never wrong.
 */

/** The end of the minute a quote lies in; a quote exactly at a minute's end belongs to the minute that ends there. */
export const QUOTE_MINUTE = 'toStartOfMinute(ts + toIntervalMillisecond(59999))';

/** Steps of a mid in 1 USDC: a mid is the sum of bid and ask in ticks, so it stays a whole number. */
export const MID_STEPS = 20_000;

/**
 * The last two-sided, trusted YES mid of a group of quotes, in steps; null where there is none (`argMax` passes over
 * nulls). Time and arrival order as one number, because comparing pairs costs the engine twice the time.
 */
export const LAST_MID =
  'argMax(if(yes_changed AND trusted, yes_bid + yes_ask, NULL), bitShiftLeft(toUInt128(toUnixTimestamp64Milli(ts)), 64) + seq)';

export interface Projection {
  readonly table: string;
  readonly name: string;
  readonly select: string;
}

/** `minute_mids` has the last mid of each market and minute: a few rows where the table has hundreds. */
export const PROJECTIONS: readonly Projection[] = [
  {
    table: 'quotes',
    name: 'minute_mids',
    select: `SELECT market_id, ${QUOTE_MINUTE} AS minute, ${LAST_MID} GROUP BY market_id, minute`,
  },
];
