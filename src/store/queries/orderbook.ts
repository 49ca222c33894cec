import { BOOK_FORMAT, type BookRow, BookRows } from '../bookRows.ts';
import type { StoreReader } from '../reader.ts';
import { bookColumns, booksOf } from './books.ts';
import { storedTime, timeParam, where } from './sql.ts';

/**
 * The book in force at a time: the last at or before it, or the newest when `atMs` is null.
 * @returns Null before the first.
 */
export async function findBook(
  store: StoreReader,
  { marketId, atMs }: { marketId: string; atMs: number | null },
  signal: AbortSignal,
): Promise<BookRow | null> {
  const { table, conditions, params } = booksOf(marketId);
  const until = atMs === null ? [] : [`t.ts <= ${timeParam('at_ms')}`];
  const rows = await store.stream(
    `SELECT ${bookColumns({ hasDepth: false })} FROM ${table} AS t ${where([...conditions, ...until])}
     ORDER BY t.ts DESC, t.seq DESC LIMIT 1`,
    { ...params, ...(atMs === null ? {} : { at_ms: storedTime(Math.floor(atMs)) }) },
    { format: BOOK_FORMAT, signal },
  );
  const reader = new BookRows();
  let found: BookRow | null = null;
  for await (const bytes of rows as AsyncIterable<Buffer>) {
    reader.add(bytes);
    found = reader.next() ?? found;
  }
  return found;
}
