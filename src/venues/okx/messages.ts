/**
 * Raw shapes of OKX V5 order books.
 *
 * REST `GET /api/v5/market/books?instId=BTC-USDT-SWAP&sz=50`:
 * ```json
 * {"code":"0","msg":"","data":[{"asks":[["41006.8","60.5","0","1"]],"bids":[["41006.3","30","0","2"]],
 *  "ts":"1629966436396","seqId":3235851742}]}
 * ```
 * A level is price, size, a deprecated field that is always "0", and the number of orders. The size of a derivative is
 * a number of CONTRACTS. `ts` is the time at which the book was made, `seqId` its number. The answer does not name its
 * instrument. Several services answer, each with its own cache, so an answer may be older than the one before it.
 * The limit is 40 requests in 2 s per address; above it code 50011, with HTTP 429 or 200.
 * @see https://www.okx.com/docs-v5/en/#order-book-trading-market-data-get-order-book (copy of 2026-06-15, read 2026-11-23)
 */
import { z } from 'zod';
import type { Ticker } from '../../schema/market.ts';
import { knownKeys, type MessageKinds } from '../drift/knownKeys.ts';
import { isVenueTime } from '../venueTime.ts';

const level = z.tuple([z.string(), z.string()]).rest(z.unknown());

export const okxEnvelope = z.object({
  code: z.string(),
  msg: z.string(),
  data: z.array(z.unknown()).optional(),
});

export const okxBook = z.object({
  asks: z.array(level),
  bids: z.array(level),
  ts: z
    .string()
    .regex(/^[1-9]\d{12}$/)
    .refine((text) => isVenueTime(Number(text))),
  seqId: z.number().int().nonnegative(),
});

/** OKX's codes for "too many requests" and "systems are busy". */
export const RATE_LIMIT_CODES: ReadonlySet<string> = new Set(['50011', '50013', '50040']);

/** A swap and the coins in one of its contracts (`ctVal` of the instrument, in `ctValCcy`; `ctMult` is 1). */
interface OkxSwap {
  readonly instrument: string;
  readonly contractCoins: string;
}

/**
 * Linear swaps against USDT; null where the venue lists none, or the size of its contract is not proven.
 * @see https://www.okx.com/docs-v5/en/#public-data-rest-api-get-instruments: answers of
 *   `/api/v5/public/instruments?instType=SWAP` stored by nautechsystems/nautilus_trader (BTC, ETH; 3d0c60e0) and
 *   valarxu/ema-atr-trade (BTC, ETH, SOL), read 2026-11-23
 */
export const OKX_SWAPS: Readonly<Record<Ticker, OkxSwap | null>> = {
  BTC: { instrument: 'BTC-USDT-SWAP', contractCoins: '0.01' },
  ETH: { instrument: 'ETH-USDT-SWAP', contractCoins: '0.1' },
  SOL: { instrument: 'SOL-USDT-SWAP', contractCoins: '1' },
  // No answer with the size of these contracts is known.
  XRP: null,
  DOGE: null,
  BNB: null,
  HYPE: null,
  ZEC: null,
};

/** The answer of the order-book request. */
export const OKX_KINDS = {
  orderbook: knownKeys(okxEnvelope, '', { data: knownKeys(okxBook) }),
} satisfies MessageKinds;
