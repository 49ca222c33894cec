import { VenueMessageError } from '../../runtime/errors.ts';
import { type PerpVenue, refusalOfStatus } from '../perpVenue.ts';
import { HYPERLIQUID_COINS, mapHyperliquidBook } from './mapper.ts';
import { HYPERLIQUID_KINDS } from './messages.ts';

/** Hyperliquid's own perpetuals. Its update id is the snapshot's `time`, because the venue numbers no books. */
export const hyperliquidPerp: PerpVenue = {
  name: 'hyperliquid',
  symbols: HYPERLIQUID_COINS,
  kinds: HYPERLIQUID_KINDS,
  spacingMs: 1_000 / 8,
  request: (coin) => ({ path: '/info', body: { type: 'l2Book', coin } }),
  map(answer, { ticker, ...times }) {
    const event = mapHyperliquidBook(answer, times);
    if (event.ticker === ticker) return event;
    throw new VenueMessageError(`hyperliquid: asked for ${ticker}, got a book of ${event.ticker}`);
  },
  refusalOf: refusalOfStatus,
};
