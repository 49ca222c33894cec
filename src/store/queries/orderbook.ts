import type { StoreReader } from '../reader.ts';
import { booksOf, snapshotText } from './books.ts';
import { storedTime, timeParam, where } from './sql.ts';

/**
 * The book in force at a time: the last at or before it, or the newest when `atMs` is null.
 * @returns The snapshot as JSON text; null before the first.
 */
export async function findBook(
  store: StoreReader,
  { marketId, ticker, atMs }: { marketId: string; ticker: string; atMs: number | null },
  signal: AbortSignal,
): Promise<string | null> {
  const { table, conditions, params } = booksOf(marketId);
  const until = atMs === null ? [] : [`t.ts <= ${timeParam('at_ms')}`];
  const [row] = await store.rows<{ body: string }>(
    `SELECT ${snapshotText({ hasDepth: false, plain: false })} AS body FROM ${table} AS t ${where([...conditions, ...until])}
     ORDER BY t.ts DESC, t.seq DESC LIMIT 1`,
    {
      ...params,
      underlying_ticker: JSON.stringify(ticker),
      ...(atMs === null ? {} : { at_ms: storedTime(Math.floor(atMs)) }),
    },
    { signal },
  );
  return row?.body ?? null;
}
