import { VenueMessageError } from '../../runtime/errors.ts';
import type { PerpVenue } from '../perpVenue.ts';
import { BYBIT_SYMBOLS, mapBybitAnswer } from './mapper.ts';
import { BYBIT_KINDS } from './messages.ts';

/** Bybit V5 linear. Its update id is `u`. */
export const bybitPerp: PerpVenue = {
  name: 'bybit',
  symbols: BYBIT_SYMBOLS,
  kinds: BYBIT_KINDS,
  /** The venue allows 120 requests a second from one address (read 2026-07-24). */
  spacingMs: 1_000 / 96,
  request: (symbol) => ({
    path: `/v5/market/orderbook?category=linear&symbol=${symbol}&limit=50`,
  }),
  map(answer, { ticker, ...times }) {
    const event = mapBybitAnswer(answer, times);
    if (event.ticker === ticker) return event;
    throw new VenueMessageError(`bybit: asked for ${ticker}, got a book of ${event.ticker}`);
  },
  refusalOf({ status, excerpt }) {
    if (/access too frequent/i.test(excerpt)) return 'banned';
    if (status === 429 || /"retCode"\s*:\s*(10006|10018)\b/.test(excerpt)) return 'rate_limited';
    return 'refused';
  },
};
