/**
 * Raw shapes of Binance market streams, bare (`/ws/<stream>`) or wrapped (`/stream?streams=`):
 * ```json
 * {"stream":"btcusdt@trade","data":{"e":"trade","E":1723161255343,"s":"BTCUSDT","t":3735683259,
 *  "p":"61837.63000000","q":"0.02000000","T":1723161255342,"m":true,"M":true}}
 * {"e":"aggTrade","E":123456789,"s":"BTCUSDT","a":5933014,"p":"0.001","q":"100","f":100,"l":105,"T":123456785,"m":true}
 * {"e":"depthUpdate","E":1723161255208,"s":"BTCUSDT","U":50093239189,"u":50093239202,"b":[["61737.63","0.00"]],"a":[]}
 * {"e":"depthUpdate","E":1723161256299,"T":1723161256298,"s":"BTCUSDT","U":5123107832006,"u":5123107837557,
 *  "pu":5123107831937,"b":[["58710.20","0.014"]],"a":[]}
 * {"lastUpdateId":1027024,"E":1723161255100,"T":1723161255099,"bids":[["4.00","431.0"]],"asks":[["4.02","12.0"]]}
 * ```
 * `m` true: the buyer was the maker, so the taker sold. `E` is the time of sending, `T` the time of the event.
 * `pu` (previous `u`) and the times of a REST snapshot exist for futures only. Size 0 deletes a level.
 * @see https://github.com/binance/binance-spot-api-docs (web-socket-streams.md, read 2026-07)
 */
import { z } from 'zod';
import { knownKeys, type MessageKinds } from '../drift/knownKeys.ts';
import { venueTimeMs } from '../venueTime.ts';

const level = z.tuple([z.string(), z.string()]);
const id = z.number().int().nonnegative();

export const binanceTrade = z.object({
  e: z.enum(['trade', 'aggTrade']),
  s: z.string(),
  p: z.string().regex(/^\d{1,12}(\.\d{1,12})?$/),
  T: venueTimeMs,
});

export const binanceDepthUpdate = z.object({
  e: z.literal('depthUpdate'),
  E: venueTimeMs,
  T: venueTimeMs.optional(),
  s: z.string(),
  U: id,
  u: id,
  pu: id.optional(),
  b: z.array(level),
  a: z.array(level),
});
export type BinanceDepthUpdate = z.infer<typeof binanceDepthUpdate>;

export const binanceDepthSnapshot = z.object({
  lastUpdateId: id,
  E: venueTimeMs.optional(),
  T: venueTimeMs.optional(),
  bids: z.array(level),
  asks: z.array(level),
});
export type BinanceDepthSnapshot = z.infer<typeof binanceDepthSnapshot>;

/** The messages of the spot streams of trades; `M` has no documented meaning. */
export const BINANCE_KINDS = {
  trade: knownKeys(binanceTrade, 'E t q m M'),
  aggTrade: knownKeys(binanceTrade, 'E a q f l m M'),
} satisfies MessageKinds;

/** The answer of the futures' order-book request. */
export const BINANCE_PERP_KINDS = { orderbook: knownKeys(binanceDepthSnapshot) } satisfies MessageKinds;
