import { VenueMessageError } from '../../runtime/errors.ts';
import type { UnderlyingEvent } from '../../schema/events.ts';
import type { Ticker } from '../../schema/market.ts';
import type { MessageWatch } from '../drift/messageWatch.ts';
import { parseJson, parseShape } from '../json.ts';
import { tickerNamed, type VenueNames } from '../symbols.ts';
import { coinbaseTicker } from './messages.ts';

/** One unknown product refuses the whole subscription, and nobody has seen BNB-USD live: announced 2025-10-15. */
const PRODUCTS: VenueNames = {
  BTC: 'BTC-USD',
  ETH: 'ETH-USD',
  SOL: 'SOL-USD',
  XRP: 'XRP-USD',
  DOGE: 'DOGE-USD',
  BNB: null,
  HYPE: 'HYPE-USD',
  ZEC: 'ZEC-USD',
};

/** Null where the exchange has no product. */
export function coinbaseProduct(ticker: Ticker): string | null {
  return PRODUCTS[ticker];
}

/**
 * Maps one text frame: a ticker message becomes a price; other messages are ignored.
 * @throws {VenueMessageError} When a ticker does not match the protocol, or the frame reports an error.
 */
export function mapCoinbaseFrame(
  frame: string,
  receivedTimeMs: number,
  watch: MessageWatch | null = null,
): readonly UnderlyingEvent[] {
  const message = parseJson(frame) as { type?: unknown } | null;
  if (message?.type === 'error') throw new VenueMessageError(`coinbase error: ${frame.slice(0, 200)}`);
  watch?.message(message?.type, message, frame, receivedTimeMs);
  if (message?.type !== 'ticker') return [];
  const raw = parseShape(coinbaseTicker, message, 'coinbase ticker');
  watch?.heard(raw.product_id, receivedTimeMs);
  const ticker = tickerNamed(PRODUCTS, raw.product_id);
  const price = Number(raw.price);
  if (!ticker || price === 0) return [];
  const eventTimeMs = Date.parse(raw.time);
  return [{ kind: 'underlying', ticker, source: 'coinbase_spot', price, eventTimeMs, receivedTimeMs }];
}
