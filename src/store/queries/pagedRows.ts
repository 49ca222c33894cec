/**
 * A page and its rows by one statement. Finding the page first and asking for its rows then costs a second way to the
 * engine and a second plan: 9 ms of 20 until the first of 10,000 books.
 */
import {
  LAST_KEY,
  type Page,
  type PageRequest,
  pageKeys,
  pageOf,
  revisionOf,
  rowsBetween,
} from './keyset.ts';
import type { Source } from './sql.ts';

/** Key of a page at an index of its keys. Times are kept as the bits of a signed number, so that one array holds all. */
const keyAt = (index: string) => `toUInt64(keys[${index}].1), keys[${index}].2`;
/** The array of the statement: how many keys there are, the page's first and last key in its order, and the source's revision. */
const FOUND = 'page[1]';
const FIRST = { time: "fromUnixTimestamp64Milli(toInt64(page[2]), 'UTC')", seq: 'page[3]' };
const LAST = { time: "fromUnixTimestamp64Milli(toInt64(page[4]), 'UTC')", seq: 'page[5]' };

/**
 * The statement. Behind `columns` the first row has an array which `pageIn` makes a page of; all others have an empty one.
 * There is no row where there is no page.
 */
export function pagedRows(
  source: Source,
  request: PageRequest,
  columns: string,
): { query: string; params: Record<string, string | number> } {
  const keys = pageKeys(source, request);
  const [low, high] = request.descending ? [LAST, FIRST] : [FIRST, LAST];
  const isFirst = `t.ts = ${FIRST.time} AND t.seq = ${FIRST.seq}`;
  const withPage = `${columns}, if(${isFirst}, page, [])`;
  return {
    query: `
      WITH (SELECT [length(keys), ${keyAt('1')}, ${keyAt(LAST_KEY)}, ${revisionOf(source)}] FROM (${keys.query})) AS page
      ${rowsBetween({ ...source, conditions: [...source.conditions, `${FOUND} > 0`] }, request, { columns: withPage, low, high })}`,
    params: keys.params,
  };
}

/**
 * The page a statement of `pagedRows` found.
 * @param found The array behind its first row.
 */
export function pageIn(found: readonly bigint[], request: PageRequest): Page | null {
  const [count = 0n, ...keys] = found;
  const position = (at: number) => ({
    timeMs: Number(BigInt.asIntN(64, keys[at] as bigint)),
    seq: String(keys[at + 1]),
  });
  return pageOf(request, {
    found: Number(count),
    first: position(0),
    last: position(2),
    revision: String(keys[4]),
  });
}
