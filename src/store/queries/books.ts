import type { StoreReader } from '../reader.ts';
import { BOOK_FORMAT, type BookRow, BookRowReader } from '../tables/bookRowReader.ts';
import { type Source, storedTime, timeParam, where } from './sql.ts';
import { TRUST_REVISION, TRUSTED, TRUSTED_AT } from './trust.ts';

/** Later than every row and every closed gap, and earlier than the end time that marks an open gap. */
const NOW_MS = Date.UTC(2299, 11, 30);

export function booksOf(marketId: string): Source {
  return {
    table: 'books',
    conditions: ['t.market_id = {market_id:String}'],
    params: { market_id: marketId },
    revision: TRUST_REVISION,
  };
}

const LADDERS = ['px', 'sz', 'szw'].flatMap((suffix) =>
  ['yes_bid', 'yes_ask', 'no_bid', 'no_ask'].map((side) => `t.${side}_${suffix}`),
);

/**
 * The columns that `BookRowReader` reads, in its order and for the format `BOOK_FORMAT`. Parameters: `market_id`, and where
 * `hasDepth` is set `depth`, the levels per side. `time`, `trusted` and `underlying` may be any expressions of those
 * columns' types, for readers that need other values.
 */
export function bookColumns({
  hasDepth,
  time = 't.ts',
  trusted = TRUSTED.books,
  underlying = 't.underlying',
}: {
  hasDepth: boolean;
  time?: string;
  trusted?: string;
  underlying?: string;
}): string {
  const ladders = LADDERS.map((column) => (hasDepth ? `arraySlice(${column}, 1, {depth:UInt32})` : column));
  return [time, trusted, 't.mirrored', underlying, 't.wide', ...ladders].join(', ');
}

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
