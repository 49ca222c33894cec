/**
 * Books of the USD-M futures over REST, `GET /fapi/v1/depth?symbol=BTCUSDT&limit=50`:
 * ```json
 * {"lastUpdateId":5123107852948,"E":1723161256501,"T":1723161256493,"bids":[["61800.20","2.909"]],
 *  "asks":[["61800.30","1.2"]]}
 * ```
 * `E` is the time of sending, `T` the matching engine's. Sizes are coins. The answer does not name its symbol.
 * Limit 50 has weight 2 of the 2,400 a minute that one address may use; 429 asks to wait, 418 is a ban of 2 minutes to
 * 3 days, both with `Retry-After`.
 * @see https://developers.binance.com/docs/derivatives/usds-margined-futures/market-data/rest-api/Order-Book (read 2026-11-23)
 */
import { VenueMessageError } from '../../runtime/errors.ts';
import { bestLevels } from '../depthLadder.ts';
import { parseShape } from '../json.ts';
import { type PerpVenue, refusalOfStatus } from '../perpVenue.ts';
import { namesBy } from '../symbols.ts';
import { BINANCE_PERP_KINDS, binanceDepthSnapshot } from './messages.ts';

/** Futures symbols; those of the spot market may differ. */
const SYMBOLS = namesBy((ticker) => `${ticker}USDT`);
const BANNED_STATUS = 418;

/** Binance USD-M futures. Its update id is `lastUpdateId`. */
export const binancePerp: PerpVenue = {
  name: 'binance',
  symbols: SYMBOLS,
  kinds: BINANCE_PERP_KINDS,
  spacingMs: 1_000 / 16,
  request: (symbol) => ({ path: `/fapi/v1/depth?symbol=${symbol}&limit=50` }),
  map(answer, asked) {
    const book = parseShape(binanceDepthSnapshot, answer, 'binance depth');
    const { lastUpdateId, E: sentTimeMs, T: engineTimeMs = null, bids, asks } = book;
    // Only a spot snapshot has no time.
    if (sentTimeMs === undefined) throw new VenueMessageError('binance depth: no time E');
    return {
      kind: 'perp_depth',
      venue: 'binance',
      updateId: lastUpdateId,
      eventTimeMs: sentTimeMs,
      engineTimeMs,
      ...asked,
      bids: bestLevels('bids', bids),
      asks: bestLevels('asks', asks),
    };
  },
  refusalOf: (error) => (error.status === BANNED_STATUS ? 'banned' : refusalOfStatus(error)),
};
