import { REMOVAL_CAUSES, REMOVAL_FEED, removalFeed } from '../../schema/gap.ts';
import { GAP_END_RECEIVED, GAP_START_RECEIVED } from './resume.ts';
import { timeParam } from './sql.ts';

const NEVER = `toDateTime64('2299-12-31', 3, 'UTC')`;

/** The tables whose rows have a trust. */
type TrustedTable = 'books' | 'quotes';

/**
 * For each gap of the market: start and end by `ts`, both by receive time, and whether only receive times are known. A
 * removal or thinning of rows is a gap of their table alone: best prices stay proven where only the books are gone.
 */
const gapsOf = (table: TrustedTable, and = '') => `(
  SELECT groupArray((start_time, ifNull(end_time, ${NEVER}), ${GAP_START_RECEIVED}, ifNull(${GAP_END_RECEIVED}, ${NEVER}),
    isNull(start_received)))
  FROM gaps FINAL WHERE market_id = {market_id:String}
    AND (cause NOT IN (${REMOVAL_CAUSES.map((cause) => `'${cause}'`).join(', ')}) OR NOT startsWith(feed, '${REMOVAL_FEED}')
      OR feed = '${removalFeed(table)}')${and})`;

/**
 * Whether a row is inside a gap. Rows with a `ts` outside the gap are not, whatever their receive time; for rows with
 * the `ts` of the gap's ends the receive time decides. Gaps of earlier releases have only receive times.
 */
const IS_INSIDE = `if(gap.5, t.received > gap.3 AND t.received < gap.4,
  (t.ts > gap.1 AND t.ts < gap.2)
    OR (t.ts >= gap.1 AND t.ts <= gap.2 AND t.received > gap.3 AND t.received < gap.4))`;

/** Rises with every gap of the market that is detected or closed: then `TRUSTED` of old rows may have changed. */
export const TRUST_REVISION =
  'toUInt64(ifNull((SELECT max(seq) FROM gaps WHERE market_id = {market_id:String}), 0))';

/**
 * Whether a row of books or quotes is trusted, including gaps detected after it was written. A loss is noticed only
 * after some rows inside it were stored as good; the gap then begins at the last verified row before them. The rows at
 * a gap's two ends are good. Parameter: `market_id`.
 */
export const TRUSTED = ofTables((table) => trustedOutside(gapsOf(table)));

/** Gaps found up to an arrival number; gaps of earlier releases do not have the number of their detection. */
const gapsThen = (table: TrustedTable) => gapsOf(table, ' AND ifNull(known_seq, 0) <= {state_seq:UInt64}');

/** The same by the gaps that were found up to an arrival number. Parameters: `market_id`, `state_seq`. */
export const TRUSTED_THEN = ofTables((table) => trustedOutside(gapsThen(table)));

/**
 * Differs between two times where `TRUSTED_THEN` of rows up to a last one may have changed: a gap that ends after all of
 * them may end, or still be open. Parameters: `market_id`, `state_seq`.
 * @param last Expressions of the newest `ts` and the newest receive time of the rows.
 */
export function trustRevisionThen(table: TrustedTable, last: { ts: string; received: string }): string {
  const isLater = `gap.2 > ${last.ts} AND gap.4 > ${last.received}`;
  return `cityHash64(arraySort(arrayMap(gap -> (gap.1, gap.3, gap.5, if(${isLater}, (${NEVER}, ${NEVER}), (gap.2, gap.4))), ${gapsThen(table)})))`;
}

function ofTables(of: (table: TrustedTable) => string): Readonly<Record<TrustedTable, string>> {
  return { books: of('books'), quotes: of('quotes') };
}

function trustedOutside(gaps: string): string {
  return `(t.trusted AND NOT arrayExists(gap -> ${IS_INSIDE}, ${gaps}))`;
}

/**
 * The same for the book in force at a venue time: within a gap the last good state no longer applies to that time.
 * Parameters: `market_id`, `at_ms`.
 */
export const TRUSTED_AT = `(t.trusted AND NOT arrayExists(
  gap -> ${IS_INSIDE} OR (gap.1 < ${timeParam('at_ms')} AND ${timeParam('at_ms')} < gap.2), ${gapsOf('books')}))`;
