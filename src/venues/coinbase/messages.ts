/**
 * Raw shapes of the Coinbase Exchange feed (Advanced Trade is a different host, with `events[]`):
 * ```json
 * {"type":"ticker","sequence":37475248783,"product_id":"BTC-USD","price":"61685.99","best_bid":"61685.98",
 *  "best_ask":"61685.99","side":"buy","time":"2026-07-24T16:43:38.321111Z","trade_id":370843401,"last_size":"0.01"}
 * {"type":"error","message":"Failed to subscribe","reason":"XYZ-USD is not a valid product"}
 * ```
 * Prices are in USD, not USDT: they differ from Binance by a few basis points.
 * @see https://docs.cdp.coinbase.com/exchange/websocket-feed/channels (read 2026-07)
 */
import { z } from 'zod';
import { knownKeys, type MessageKinds } from '../drift/knownKeys.ts';
import { isVenueTime } from '../venueTime.ts';

export const coinbaseTicker = z.object({
  type: z.literal('ticker'),
  product_id: z.string(),
  price: z.string().regex(/^\d{1,12}(\.\d{1,12})?$/),
  time: z.iso.datetime().refine((text) => isVenueTime(Date.parse(text))),
});

const TRADE = 'type sequence product_id price side time trade_id';

/** The messages that answer the subscription; `error` is refused before it is compared. */
export const COINBASE_KINDS = {
  ticker: knownKeys(
    coinbaseTicker,
    `sequence best_bid best_bid_size best_ask best_ask_size side trade_id last_size open_24h volume_24h low_24h high_24h
     volume_30d`,
  ),
  heartbeat: knownKeys('type', 'last_trade_id product_id sequence time'),
  subscriptions: knownKeys('type', 'channels'),
  match: knownKeys('type', `${TRADE} maker_order_id taker_order_id size`),
  last_match: knownKeys('type', `${TRADE} maker_order_id taker_order_id size`),
} satisfies MessageKinds;
