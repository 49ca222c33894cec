import { VenueMessageError } from '../../runtime/errors.ts';
import type { PerpDepthEvent } from '../../schema/events.ts';
import { bestLevels } from '../depthLadder.ts';
import { parseShape } from '../json.ts';
import { type AnswerTimes, PerpRefusedError } from '../perpVenue.ts';
import { namesBy, tickerNamed } from '../symbols.ts';
import { type HyperliquidSide, hyperliquidBook } from './messages.ts';

export const HYPERLIQUID_COINS = namesBy((ticker) => ticker);

/**
 * Maps an `l2Book` answer (parsed JSON). The venue numbers no books, so the snapshot's time is the update id.
 * @throws {PerpRefusedError} When the answer is `null`: the venue does not list the coin.
 * @throws {VenueMessageError} When the shape is wrong, the coin is not one of ours, or the sides are in the wrong order.
 */
export function mapHyperliquidBook(raw: unknown, times: AnswerTimes): PerpDepthEvent {
  if (raw === null) throw new PerpRefusedError('hyperliquid: null instead of a book', 'refused');
  const { coin, time, levels } = parseShape(hyperliquidBook, raw, 'hyperliquid l2Book');
  const ticker = tickerNamed(HYPERLIQUID_COINS, coin);
  if (!ticker) throw new VenueMessageError(`hyperliquid: a book of ${coin.slice(0, 40)}`);
  const bids = bestLevels('bids', pairs(levels[0]));
  const asks = bestLevels('asks', pairs(levels[1]));
  const [bid, ask] = [bids[0]?.[0], asks[0]?.[0]];
  // Only the position tells bids from asks; swapped sides look like a crossed book.
  if (bid !== undefined && ask !== undefined && Number(bid) > Number(ask)) {
    throw new VenueMessageError(`hyperliquid: ${coin} is crossed, bid ${bid} above ask ${ask}`);
  }
  return {
    kind: 'perp_depth',
    venue: 'hyperliquid',
    ticker,
    updateId: time,
    eventTimeMs: time,
    engineTimeMs: null,
    ...times,
    bids,
    asks,
  };
}

function pairs(side: HyperliquidSide): [string, string][] {
  return side.map(({ px, sz }) => [px, sz]);
}
