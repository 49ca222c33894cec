/** Levels a side that a page shows. */
export const LEVELS = 6;

export interface Side {
  readonly price: number;
  readonly size: number;
}

/** The members of a snapshot of the stream that the board reads. */
export interface BookMessage {
  readonly market_id: string;
  readonly ts: string;
  readonly yes_bids: readonly Side[];
  readonly yes_asks: readonly Side[];
  readonly no_bids: readonly Side[];
  readonly no_asks: readonly Side[];
  readonly underlying_price: number | null;
  readonly underlying_ticker: string;
  readonly trusted: boolean;
}

/** Reads a snapshot; null if it is not one of the service. */
export function bookIn(text: string): BookMessage | null {
  try {
    const book = JSON.parse(text) as BookMessage;
    return isReadable(book) ? book : null;
  } catch {
    return null;
  }
}

/** Checks what would otherwise fail later, with the books of all markets. */
function isReadable(book: BookMessage): boolean {
  const { ts, underlying_price: price, yes_bids, yes_asks, no_bids, no_asks } = book;
  const isPriced = price === null || typeof price === 'number';
  return isPriced && Number.isFinite(Date.parse(ts)) && [yes_bids, yes_asks, no_bids, no_asks].every(isSide);
}

function isSide(levels: readonly Side[]): boolean {
  return levels
    .slice(0, LEVELS)
    .every(({ price, size }) => typeof price === 'number' && typeof size === 'number');
}
