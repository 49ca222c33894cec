import { normalMarketId } from '../schema/protocol.ts';

/** Quotes may be escaped: an unreadable line of a recording may hold the frame as text. */
const BOOK_FRAME = /"event_type\\?":\s*\\?"(?:book|price_change|last_trade_price|tick_size_change)\\?"/;
/** Fields of books, changes and trades only, for a frame that was cut off before its type. */
const BOOK_PART = /"(?:price_changes|bids|asks|transaction_hash)\\?":/;
const MARKET = /"market\\?":\s*\\?"([^"\\]{1,100})\\?"/;

/**
 * The market that loses data when a frame of the market channel cannot be read; null when none does or the frame
 * names none. The frame may be invalid JSON, so the text is searched instead of parsed.
 */
export function marketOfLostFrame(text: string): string | null {
  const isLoss = BOOK_FRAME.test(text) || BOOK_PART.test(text);
  const marketId = isLoss ? MARKET.exec(text)?.[1] : undefined;
  return marketId === undefined ? null : normalMarketId(marketId);
}
