import { timeParam } from './sql.ts';

/** Start and end of each gap of the market. */
const GAPS = `(
  SELECT groupArray((start_time, ifNull(end_time, toDateTime64('2299-12-31', 3, 'UTC'))))
  FROM gaps FINAL WHERE market_id = {market_id:String})`;

/** Rises with every gap of the market that is found or ends: then `TRUSTED` of rows stored long ago may have changed. */
export const TRUST_REVISION =
  'toUInt64(ifNull((SELECT max(seq) FROM gaps WHERE market_id = {market_id:String}), 0))';

/**
 * Whether a row of books or quotes is trusted, knowing what was found out since it was written: a loss is noticed
 * only after rows that came out of it were stored as good, and the gap then begins at the last good receipt. The
 * rows at a gap's two ends are good ones. Parameter: `market_id`.
 */
export const TRUSTED = `(t.trusted AND NOT arrayExists(gap -> t.received > gap.1 AND t.received < gap.2, ${GAPS}))`;

/**
 * The same of the row in force at a time: within a gap the last good state says nothing any more of that time.
 * Parameters: `market_id`, `at_ms`.
 */
export const TRUSTED_AT = `(${TRUSTED} AND NOT arrayExists(
  gap -> t.received <= gap.1 AND gap.1 < ${timeParam('at_ms')} AND ${timeParam('at_ms')} < gap.2, ${GAPS}))`;
