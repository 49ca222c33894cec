/**
 * Raw shapes of Bybit V5 linear order books.
 *
 * REST `GET /v5/market/orderbook?category=linear&symbol=BTCUSDT&limit=50`:
 * ```json
 * {"retCode":0,"retMsg":"OK","result":{"s":"BTCUSDT","b":[["71423.80","0.557"]],"a":[["71423.90","4.669"]],
 *  "ts":1773386409389,"u":10132540,"seq":546137962055,"cts":1773386409385},"retExtInfo":{},"time":1773386409392}
 * ```
 * WebSocket `orderbook.50.BTCUSDT`, key order differs between spot and linear:
 * ```json
 * {"topic":"orderbook.50.BTCUSDT","type":"delta","ts":1773386409407,"data":{"s":"BTCUSDT","b":[["71413.60","0"]],
 *  "a":[],"u":10132541,"seq":546137962186},"cts":1773386409404}
 * ```
 * `ts` is the time at which the system made the answer, `cts` the matching engine's (absent in answers of early 2024);
 * `u` counts updates of the book and restarts at 1 with the service. Size "0" deletes a level.
 * @see https://bybit-exchange.github.io/docs/v5/market/orderbook (read 2026-07-24)
 */
import { z } from 'zod';
import { knownKeys, type MessageKinds } from '../drift/knownKeys.ts';
import { venueTimeMs } from '../venueTime.ts';

const level = z.tuple([z.string(), z.string()]);
const id = z.number().int().nonnegative();

export const bybitEnvelope = z.object({ retCode: z.number().int(), retMsg: z.string(), result: z.unknown() });

export const bybitOrderbook = z.object({
  s: z.string(),
  b: z.array(level),
  a: z.array(level),
  ts: venueTimeMs,
  u: id,
  cts: venueTimeMs.optional(),
});

export const bybitStreamFrame = z.object({
  topic: z.string().startsWith('orderbook.'),
  type: z.enum(['snapshot', 'delta']),
  ts: venueTimeMs,
  cts: venueTimeMs.optional(),
  data: z.object({ s: z.string(), b: z.array(level), a: z.array(level), u: id }),
});

/** Bybit's codes for "too many requests" (10006 by rate, 10018 by address). */
export const RATE_LIMIT_CODES: ReadonlySet<number> = new Set([10006, 10018]);

/** The answer of the order-book request. */
export const BYBIT_KINDS = {
  orderbook: knownKeys('retCode retMsg', 'retExtInfo time', { result: knownKeys(bybitOrderbook, 'seq') }),
} satisfies MessageKinds;
