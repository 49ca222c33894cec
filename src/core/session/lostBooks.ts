import type { TapeMarket } from './tape.ts';

/** Retention removes the books of a whole day. A window that lost books that way has none for longer than this. */
const BOOKS_LATE_MS = 60_000;

/**
 * Whether the store has removed the books of a first part of a window. Every best price is that of a book, so a
 * recording that has only the prices of a time has lost its books.
 * @param provenMs Receive time of the first proven best prices. @param firstMs That of the first book.
 */
export function lacksBooks(
  { startTimeMs }: Pick<TapeMarket, 'startTimeMs'>,
  { provenMs, firstMs }: { provenMs: number; firstMs: number },
): boolean {
  return firstMs - Math.max(startTimeMs, provenMs) > BOOKS_LATE_MS;
}
