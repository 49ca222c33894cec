import type { StoreReader } from '../reader.ts';
import { BOOK_FORMAT, type BookRow, BookRowReader } from '../tables/bookRowReader.ts';
import { bookColumns, booksOf } from './books.ts';
import { storedTime, timeParam, where } from './sql.ts';
import { TRUSTED_AT } from './trust.ts';

/** Later than every row and every closed gap, and earlier than the end time that marks an open gap. */
const NOW_MS = Date.UTC(2299, 11, 30);

/**
 * The book in force at a time: the last at or before it, or the newest when `atMs` is null. It is trusted if it was
 * stored as trusted and no gap contains the time.
 * @returns Null before the first book.
 */
export async function findBook(
  store: StoreReader,
  { marketId, atMs }: { marketId: string; atMs: number | null },
  signal: AbortSignal,
): Promise<BookRow | null> {
  const { table, conditions, params } = booksOf(marketId);
  const rows = await store.stream(
    `SELECT ${bookColumns({ hasDepth: false, trusted: TRUSTED_AT })} FROM ${table} AS t
     ${where([...conditions, `t.ts <= ${timeParam('at_ms')}`])}
     ORDER BY t.ts DESC, t.seq DESC LIMIT 1`,
    { ...params, at_ms: storedTime(Math.floor(atMs ?? NOW_MS)) },
    { format: BOOK_FORMAT, short: true, signal },
  );
  const reader = new BookRowReader();
  let found: BookRow | null = null;
  for await (const bytes of rows as AsyncIterable<Buffer>) {
    reader.add(bytes);
    found = reader.next() ?? found;
  }
  return found;
}
