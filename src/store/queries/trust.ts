import { GAP_END_RECEIVED, GAP_START_RECEIVED } from './resume.ts';
import { timeParam } from './sql.ts';

const NEVER = `toDateTime64('2299-12-31', 3, 'UTC')`;

/** Of each gap of the market: start and end by `ts`, the two by receipt, and whether receipts are all that is known of it. */
const GAPS = `(
  SELECT groupArray((start_time, ifNull(end_time, ${NEVER}), ${GAP_START_RECEIVED}, ifNull(${GAP_END_RECEIVED}, ${NEVER}),
    isNull(start_received)))
  FROM gaps FINAL WHERE market_id = {market_id:String})`;

/**
 * Whether a row lies inside a gap. Rows of an earlier or a later time do not, whatever our clock said of them; among
 * those stamped like the rows at its ends the receipt decides. Gaps of earlier releases are known by receipts alone.
 */
const IS_INSIDE = `if(gap.5, t.received > gap.3 AND t.received < gap.4,
  (t.ts > gap.1 AND t.ts < gap.2)
    OR (t.ts >= gap.1 AND t.ts <= gap.2 AND t.received > gap.3 AND t.received < gap.4))`;

/** Rises with every gap of the market that is found or ends: then `TRUSTED` of rows stored long ago may have changed. */
export const TRUST_REVISION =
  'toUInt64(ifNull((SELECT max(seq) FROM gaps WHERE market_id = {market_id:String}), 0))';

/**
 * Whether a row of books or quotes is trusted, knowing what was found out since it was written: a loss is noticed
 * only after rows that came out of it were stored as good, and the gap then begins at the last proven row before them.
 * The rows at a gap's two ends are good ones. Parameter: `market_id`.
 */
export const TRUSTED = `(t.trusted AND NOT arrayExists(gap -> ${IS_INSIDE}, ${GAPS}))`;

/**
 * The same of the row in force at a time of the venue: within a gap the last good state says nothing any more of that
 * time. Parameters: `market_id`, `at_ms`.
 */
export const TRUSTED_AT = `(t.trusted AND NOT arrayExists(
  gap -> ${IS_INSIDE} OR (gap.1 < ${timeParam('at_ms')} AND ${timeParam('at_ms')} < gap.2), ${GAPS}))`;
