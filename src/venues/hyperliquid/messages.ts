/**
 * Raw shape of Hyperliquid's order books.
 *
 * REST `POST /info {"type":"l2Book","coin":"BTC"}`:
 * ```json
 * {"coin":"BTC","time":1761786491067,"levels":[[{"px":"110427.0","sz":"4.11882","n":9}],
 *  [{"px":"110428.0","sz":"3.72573","n":7}]]}
 * ```
 * The sides have no names: the first is the bids, the second the asks, both best first, at most 20 levels each. Sizes
 * are coins. `time` is the snapshot's time; there is no sequence number. An unknown coin is answered with `null`.
 * A request has weight 2 of the 1,200 a minute that one address may use; 429 above it.
 * @see https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint#l2-book-snapshot and
 *   .../api/rate-limits-and-user-limits; sides, levels and `null` as in https://docs.chainstack.com/reference/hyperliquid-info-l2-book
 *   and https://nktkas.gitbook.io/hyperliquid-api/api/info/l2book (read 2026-11-23). The payload is a real answer of 2025-10-30,
 *   cut to the best levels (nautechsystems/nautilus_trader, cb2ebff5), with `n` from the documents.
 */
import { z } from 'zod';
import { knownKeys, type MessageKinds } from '../drift/knownKeys.ts';
import { venueTimeMs } from '../venueTime.ts';

const side = z.array(z.object({ px: z.string(), sz: z.string() }));

export const hyperliquidBook = z.object({
  coin: z.string(),
  time: venueTimeMs,
  levels: z.tuple([side, side]),
});
export type HyperliquidSide = z.infer<typeof side>;

/** The answer of the order-book request. */
export const HYPERLIQUID_KINDS = { orderbook: knownKeys(hyperliquidBook) } satisfies MessageKinds;
