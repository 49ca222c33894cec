/** Quotes may be escaped: a line of a recording that holds the frame as text can be as unreadable as the frame. */
const BOOK_FRAME = /"event_type\\?":\s*\\?"(?:book|price_change|last_trade_price|tick_size_change)\\?"/;
/** What only books, changes and trades hold, for a frame that was cut off before it named its type. */
const BOOK_PART = /"(?:price_changes|bids|asks|transaction_hash)\\?":/;
const MARKET = /"market\\?":\s*\\?"([^"\\]{1,100})\\?"/;

/**
 * The market that loses data when a frame of the market channel cannot be read; null when none does, or the frame
 * does not say. The frame may be no JSON at all, so it is searched, not parsed.
 */
export function marketOfLostFrame(text: string): string | null {
  const isLoss = BOOK_FRAME.test(text) || BOOK_PART.test(text);
  return isLoss ? (MARKET.exec(text)?.[1] ?? null) : null;
}
