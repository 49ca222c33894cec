import { multiplyDecimals } from '../../core/money.ts';
import { VenueMessageError } from '../../runtime/errors.ts';
import { TICKERS, type Ticker } from '../../schema/market.ts';
import { bestLevels, type DepthLevel } from '../depthLadder.ts';
import { parseShape } from '../json.ts';
import { PerpRefusedError, type PerpVenue, refusalOfStatus } from '../perpVenue.ts';
import { OKX_KINDS, OKX_SWAPS, okxBook, okxEnvelope, RATE_LIMIT_CODES } from './messages.ts';

const SYMBOLS = Object.fromEntries(
  TICKERS.map((ticker) => [ticker, OKX_SWAPS[ticker]?.instrument ?? null]),
) as Record<Ticker, string | null>;

/** OKX linear swaps. Its update id is `seqId`; sizes are converted from contracts to coins. */
export const okxPerp: PerpVenue = {
  name: 'okx',
  symbols: SYMBOLS,
  kinds: OKX_KINDS,
  spacingMs: 1_000 / 16,
  request: (symbol) => ({ path: `/api/v5/market/books?instId=${symbol}&sz=50` }),
  map(answer, asked) {
    const { code, msg, data = [] } = parseShape(okxEnvelope, answer, 'okx answer');
    if (code !== '0') {
      const refusal = RATE_LIMIT_CODES.has(code) ? 'rate_limited' : 'refused';
      throw new PerpRefusedError(`okx: code ${code}: ${msg}`, refusal);
    }
    const book = parseShape(okxBook, data[0], 'okx order book');
    const contractCoins = OKX_SWAPS[asked.ticker]?.contractCoins;
    if (contractCoins === undefined) throw new VenueMessageError(`okx: a book of ${asked.ticker}`);
    return {
      kind: 'perp_depth',
      venue: 'okx',
      updateId: book.seqId,
      eventTimeMs: Number(book.ts),
      engineTimeMs: null,
      ...asked,
      bids: inCoins('bids', book.bids, contractCoins),
      asks: inCoins('asks', book.asks, contractCoins),
    };
  },
  refusalOf: refusalOfStatus,
};

function inCoins(
  side: 'bids' | 'asks',
  contracts: readonly (readonly [string, string, ...unknown[]])[],
  contractCoins: string,
): readonly DepthLevel[] {
  const levels = bestLevels(
    side,
    contracts.map(([price, size]) => [price, size] as const),
  );
  return levels.map(([price, size]) => [price, multiplyDecimals(size, contractCoins)] as const);
}
