const BOOK_FRAME = /"event_type":\s*"(?:book|price_change|last_trade_price|tick_size_change)"/;
const MARKET = /"market":\s*"([^"]{1,100})"/;

/**
 * The market that loses data when a frame of the market channel cannot be read; null when none does, or the frame
 * does not say. The frame may be no JSON at all, so it is searched, not parsed.
 */
export function marketOfLostFrame(text: string): string | null {
  return BOOK_FRAME.test(text) ? (MARKET.exec(text)?.[1] ?? null) : null;
}
