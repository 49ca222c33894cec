import { sameLevels } from '../../core/ladderSide.ts';
import type { BookSnapshotEvent } from '../../schema/events.ts';
import type { MarketBook } from '../../venues/polymarket/book/marketBook.ts';
import { TokenBook } from '../../venues/polymarket/book/tokenBook.ts';

/**
 * The result of comparing our book with the venue's answer to a request for it.
 *
 * - `equal`: the same levels.
 * - `differs`: different levels, no older than our last frame: our book lacks data, or the data is in flight.
 * - `behind`: the answer is older than our book. Answers can be cached, and their time is that of the book's last
 *   change, not of the read, so such an answer proves nothing.
 * - `unverified`: the hash does not match the levels.
 * - `absent`: a token has no book, as after the settlement.
 */
export type Verdict = 'equal' | 'differs' | 'behind' | 'unverified' | 'absent';

/** @param answers Books of the market's tokens, at most one per token. */
export function judgeAnswer(book: MarketBook, answers: readonly BookSnapshotEvent[]): Verdict {
  let verdict: Verdict = 'equal';
  for (const ours of [book.yes, book.no]) {
    const answer = answers.find(({ tokenId }) => tokenId === ours.tokenId);
    if (answer === undefined) return 'absent';
    if (answer.eventTimeMs < ours.timeMs) return 'behind';
    const theirs = new TokenBook(ours.tokenId);
    theirs.applySnapshot(answer);
    const context = { ...book.context, tickSize: answer.tickSize ?? book.context.tickSize };
    const lastTradePrice = answer.lastTradePrice ?? context.lastTradePrice;
    // If no hash of the socket verifies either, the recipe is unknown and says nothing against the answer.
    if (book.recipeProven && !theirs.verify(context, lastTradePrice)) return 'unverified';
    const same = sameLevels(ours.bids, theirs.bids) && sameLevels(ours.asks, theirs.asks);
    if (!same) verdict = 'differs';
  }
  return verdict;
}
