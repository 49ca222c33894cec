/**
 * Whether a row of books or quotes is trusted, knowing what was found out since it was written: a loss is noticed
 * only after rows that came out of it were stored as good, and the gap then begins at the last good receipt. The
 * rows at a gap's two ends are good ones. Parameter: `market_id`.
 */
export const TRUSTED = `(t.trusted AND NOT arrayExists(gap -> t.received > gap.1 AND t.received < gap.2, (
  SELECT groupArray((start_time, ifNull(end_time, toDateTime64('2299-12-31', 3, 'UTC'))))
  FROM gaps FINAL WHERE market_id = {market_id:String})))`;
