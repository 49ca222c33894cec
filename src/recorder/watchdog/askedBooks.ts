import { sameLevels } from '../../core/ladderSide.ts';
import type { BookSnapshotEvent } from '../../schema/events.ts';
import type { MarketBook } from '../../venues/polymarket/book/marketBook.ts';
import { TokenBook } from '../../venues/polymarket/book/tokenBook.ts';

/**
 * What the venue's answer to "what is in this book" says about ours.
 *
 * - `equal`: the same levels.
 * - `differs`: other levels, and not from before our last frame: ours lacks something, or it is on its way.
 * - `behind`: the answer is older than what we have. Answers can be cached, and their time says when the book last
 *   changed, not when it was read: such an answer says nothing.
 * - `unverified`: its hash does not fit its levels.
 * - `absent`: a token has no book, as after the settlement.
 */
export type Verdict = 'equal' | 'differs' | 'behind' | 'unverified' | 'absent';

/** @param answers Books of the market's tokens, at most one a token. */
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
    // Where no hash of the socket verifies either, the recipe is unknown and says nothing against the answer.
    if (book.recipeProven && !theirs.verify(context, lastTradePrice)) return 'unverified';
    const same = sameLevels(ours.bids, theirs.bids) && sameLevels(ours.asks, theirs.asks);
    if (!same) verdict = 'differs';
  }
  return verdict;
}
