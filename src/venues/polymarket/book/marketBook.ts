import { isMirror, mirrorOf } from '../../../core/ladderSide.ts';
import type {
  BookChangeEvent,
  BookSnapshotEvent,
  LevelChange,
  Levels,
  TokenTradeEvent,
} from '../../../schema/events.ts';
import { HashCheck } from './hashCheck.ts';
import { tradePriceText } from './lastTradeGuesser.ts';
import { RecentChangeLog } from './recentChangeLog.ts';
import { type HashContext, TokenBook } from './tokenBook.ts';

/** How long an action with an unverified hash waits for more frames. */
export const ACTION_QUIET_MS = 20;

/** Each change names both tokens of a market. If only one is named for this long (venue time), the other is frozen. */
export const LOPSIDED_MS = 500;

/** Why an action ended: its hash verified, the next action began, no frame followed, or the feed was lost. */
type ActionEnd = 'verified' | 'superseded' | 'quiet' | 'disconnected';

/** A frame that one connection lost may be this much older, in venue time, than the state that contains it. */
export const LATE_FRAME_MS = 1_000;

/**
 * The frames of an action: level changes, a whole book of a token, a late frame, one that came too late (states that
 * should have been published lie between it and this one), or the rest of the last action.
 */
type ActionForm = 'changes' | 'book' | 'late' | 'overdue' | 'rest';

export interface FinishedAction {
  readonly end: ActionEnd;
  readonly form: ActionForm;
  /** Venue time, made monotonic per market. */
  readonly eventTimeMs: number;
  /** Receive time of the action's last frame. */
  readonly receivedTimeMs: number;
  /** The levels of either token changed since the last finished action. */
  readonly changed: boolean;
  /** It includes a book sent on subscription or answered over REST, as opposed to one that follows a trade. */
  readonly isFirstBook: boolean;
  readonly trusted: boolean;
}

/** The outcome of applying an event; a `late` one set only levels that nothing newer had set. */
export type Applied = 'applied' | 'late' | 'stale' | 'before_snapshot' | 'unknown_token';

/**
 * Both books of one market, built from venue actions.
 *
 * The venue splits one action of its engine over several frames. Each announces the hash and best prices of
 * the state AFTER the whole action (recorded 2026-09-11). So frames are applied on arrival, but the state is
 * published only when the hashes verify, when a frame of another action arrives, or after `ACTION_QUIET_MS`.
 */
export class MarketBook {
  readonly marketId: string;
  readonly yes: TokenBook;
  readonly no: TokenBook;
  readonly context: HashContext;
  /** Receive time of the newest frame of the waiting action; null when no action waits. */
  waitingSinceMs: number | null = null;
  /** State of the last finished action. */
  trusted = false;
  /** Venue time of the last finished action; never decreases. */
  eventTimeMs = 0;
  #openTimeMs = 0;
  #changed = false;
  #tokensInAction = 0;
  /** The only token that the last actions named, as a bit (0: they named both), and the venue time since when. */
  #aloneToken = 0;
  #aloneSinceMs = 0;
  #form: ActionForm = 'changes';
  /** The last action, if it ended unproven because no frame followed: the rest of its frames may still come. */
  #halfAction: { readonly timeMs: number; readonly tokens: number } | null = null;
  /** The changes since the book was last proven. */
  readonly recent = new RecentChangeLog();
  readonly #check: HashCheck;
  #isFirstBook = false;
  #tradeTimeMs = 0;
  readonly #onFinished: (book: MarketBook, action: FinishedAction) => void;

  constructor(
    ids: { marketId: string; yesTokenId: string; noTokenId: string; tickSize: string },
    onFinished: (book: MarketBook, action: FinishedAction) => void,
    options: { checkHashes: boolean } = { checkHashes: true },
  ) {
    this.marketId = ids.marketId;
    this.yes = new TokenBook(ids.yesTokenId);
    this.no = new TokenBook(ids.noTokenId);
    this.context = {
      marketId: ids.marketId,
      tickSize: ids.tickSize,
      lastTradePrice: '',
      minOrderSize: '5',
      negRisk: false,
      version: null,
    };
    this.#check = new HashCheck(this, options.checkHashes);
    this.#onFinished = onFinished;
  }

  /** Hashes prove this market's books; while false, only announced best prices do. */
  get recipeProven(): boolean {
    return this.#check.recipeProven;
  }

  /** The hashes of several whole books in a row did not verify. */
  get recipeRefuted(): boolean {
    return this.#check.recipeRefuted;
  }

  /** Only one token's book has ever arrived. */
  get isOneSided(): boolean {
    const { yes, no } = this;
    if (yes.known === no.known) return false;
    const { bids, asks } = yes.known ? no : yes;
    return bids.count === 0 && asks.count === 0;
  }

  /** Whether changes named only one token for `LOPSIDED_MS`: the other is frozen, even if its last hash verified. */
  get isLopsided(): boolean {
    return this.#aloneToken !== 0 && this.#openTimeMs - this.#aloneSinceMs >= LOPSIDED_MS;
  }

  /** NO is the exact mirror of YES, because the venue keeps one book. */
  get mirrored(): boolean {
    return isMirror(this.yes.bids, this.no.asks) && isMirror(this.yes.asks, this.no.bids);
  }

  applySnapshot(event: BookSnapshotEvent): Applied {
    const token = this.#token(event.tokenId);
    if (token === null) return 'unknown_token';
    token.frames++;
    if (token.known && event.eventTimeMs < token.timeMs) return 'stale';
    // Before the book that completes the market, there is no state worth publishing.
    if (this.#belongsToAnother(event.eventTimeMs, token, event.hash)) this.#finish('superseded', token.known);
    this.#openTimeMs = event.eventTimeMs;
    if (event.tickSize !== null) this.context.tickSize = event.tickSize;
    if (event.lastTradePrice !== null) this.context.lastTradePrice = event.lastTradePrice;
    if (event.version !== null) this.context.version = event.version;
    this.#noteToken(token);
    if (this.#form === 'changes') this.#form = 'book';
    // Books that follow trades do not carry the last trade price.
    if (event.lastTradePrice !== null) this.#isFirstBook = true;
    this.#noteTradeCandidates(token);
    if (token.applySnapshot(event)) this.#changed = true;
    this.#noteTradeCandidates(token);
    if (event.lastTradePrice !== null) this.#check.judgeSnapshot(token, event.lastTradePrice);
    this.#afterFrame(event.receivedTimeMs);
    return 'applied';
  }

  applyChanges(event: BookChangeEvent): Applied {
    const { changes, eventTimeMs, receivedTimeMs } = event;
    let [late, ofUnknown] = [false, 0];
    for (const { tokenId } of changes) {
      const token = this.#token(tokenId);
      if (token === null) return 'unknown_token';
      token.frames++;
      if (!token.known) ofUnknown++;
      else if (eventTimeMs < token.timeMs) late = true;
    }
    if (ofUnknown > 0) {
      const known = changes.filter(({ tokenId }) => this.#token(tokenId)?.known);
      return known.length === 0 ? 'before_snapshot' : this.applyChanges({ ...event, changes: known });
    }
    if (late) return this.#applyLate(event);
    // All changes of a frame belong to one action: end the action they supersede before applying any of them.
    if (this.waitingSinceMs !== null) this.#supersede(changes, eventTimeMs);
    if (this.#isRest(event)) this.#form = 'rest';
    this.#openTimeMs = eventTimeMs;
    for (const change of changes) {
      const token = this.#token(change.tokenId) as TokenBook;
      this.#noteToken(token);
      if (token.applyChange(change, eventTimeMs)) this.#changed = true;
      this.recent.note(token === this.yes ? 0 : 1, change.side, change.price, eventTimeMs);
      this.#check.guesses.note(change.price);
    }
    if (changes.length > 0) this.#afterFrame(receivedTimeMs);
    return 'applied';
  }

  /**
   * A trade enters the hash of both tokens' books. Its message may arrive before the change it caused, after it, or
   * after a later trade's. So an older trade is ignored, and the replaced price stays a candidate.
   */
  applyTrade(event: TokenTradeEvent): void {
    if (event.eventTimeMs < this.#tradeTimeMs) return;
    this.#tradeTimeMs = event.eventTimeMs;
    this.#check.guesses.replaced(this.context.lastTradePrice);
    this.context.lastTradePrice = tradePriceText(event.price);
    this.#judgeAgain(event.receivedTimeMs);
  }

  /** The tick size changed. It enters the hash at once, but not the hash of an action that is already waiting. */
  applyTickSize(tickSize: string, receivedTimeMs: number): void {
    if (tickSize !== this.context.tickSize) this.#check.tickReplaced(this.context.tickSize);
    this.context.tickSize = tickSize;
    this.#judgeAgain(receivedTimeMs);
  }

  /** Ends the waiting action after `ACTION_QUIET_MS` without a frame, or at the end of a recording. */
  finishQuiet(): void {
    if (this.waitingSinceMs !== null) this.#finish('quiet');
  }

  /** Loads a stored state, so that an equal snapshot is no change. Mirrored books may omit the NO levels. */
  restore(state: {
    eventTimeMs: number;
    trusted: boolean;
    mirrored: boolean;
    yes: { bids: Levels; asks: Levels };
    no: { bids: Levels; asks: Levels };
  }): void {
    this.eventTimeMs = state.eventTimeMs;
    this.trusted = state.trusted;
    this.yes.restore(state.yes);
    const { bids, asks } = state.yes;
    this.no.restore(state.mirrored ? { bids: mirrorOf(asks), asks: mirrorOf(bids) } : state.no);
  }

  /** The feed is lost: the book may be wrong until the next snapshots of both tokens. */
  disconnect(receivedTimeMs: number): void {
    this.finishQuiet();
    this.yes.reset();
    this.no.reset();
    this.#aloneToken = 0;
    this.distrust(receivedTimeMs);
  }

  /** The book may be wrong for a reason outside it: untrusted until the next announced hashes verify. */
  distrust(receivedTimeMs: number): void {
    this.finishQuiet();
    this.yes.distrust();
    this.no.distrust();
    if (!this.trusted) return;
    // The loss of trust is a state of its own. The venue has no time for it, so it gets that of the last event.
    this.#openTimeMs = this.eventTimeMs;
    this.#publish('disconnected', receivedTimeMs, false);
  }

  /** Publishes the state again as if it had changed. */
  republish(receivedTimeMs: number): void {
    this.finishQuiet();
    this.#changed = true;
    this.reannounce(receivedTimeMs);
  }

  /** Publishes the state again because its trust changed for a reason outside the book. */
  reannounce(receivedTimeMs: number): void {
    this.finishQuiet();
    if (!this.yes.known || !this.no.known) return;
    this.#openTimeMs = this.eventTimeMs;
    this.#publish('quiet', receivedTimeMs, this.#judge('quiet'));
  }

  /**
   * Applies a frame that the other socket lost or that arrived out of order: it sets the levels that nothing newer has
   * set. A proven book ignores it as a repetition.
   */
  #applyLate({ changes, eventTimeMs, receivedTimeMs }: BookChangeEvent): Applied {
    let set = false;
    for (const { tokenId, side, price, size } of changes) {
      const token = this.#token(tokenId) as TokenBook;
      if (eventTimeMs < token.snapshotTimeMs) continue;
      if (!this.recent.isNewest(token === this.yes ? 0 : 1, side, price, eventTimeMs)) continue;
      if (!token.setLate(side, price, size)) continue;
      this.#check.guesses.note(price);
      set = true;
    }
    if (!set) return 'stale';
    this.#changed = true;
    if (this.#form !== 'overdue')
      this.#form = this.#openTimeMs - eventTimeMs > LATE_FRAME_MS ? 'overdue' : 'late';
    if (this.waitingSinceMs !== null) this.#afterFrame(receivedTimeMs);
    else this.#publish('quiet', receivedTimeMs, this.#judge('quiet'));
    return 'late';
  }

  #token(tokenId: string): TokenBook | null {
    if (tokenId === this.yes.tokenId) return this.yes;
    return tokenId === this.no.tokenId ? this.no : null;
  }

  #noteToken(token: TokenBook): void {
    this.#tokensInAction |= token === this.yes ? 1 : 2;
  }

  #supersede(changes: readonly LevelChange[], timeMs: number): void {
    for (const { tokenId, hash } of changes) {
      if (!this.#belongsToAnother(timeMs, this.#token(tokenId) as TokenBook, hash)) continue;
      this.#finish('superseded');
      return;
    }
  }

  /** An action has one time and one hash per token; a different time or hash begins the next action. */
  #belongsToAnother(timeMs: number, token: TokenBook, hash: string | null): boolean {
    if (this.waitingSinceMs === null) return false;
    const seen = (this.#tokensInAction & (token === this.yes ? 1 : 2)) !== 0;
    return timeMs !== this.#openTimeMs || (seen && token.announcedHash !== hash);
  }

  /**
   * Whether the frame belongs to the last action, which ended because its frames came further apart than
   * `ACTION_QUIET_MS`: on a busy machine, one read ends in the middle of an action.
   */
  #isRest({ changes, eventTimeMs }: BookChangeEvent): boolean {
    const half = this.#halfAction;
    if (half === null || this.waitingSinceMs !== null || eventTimeMs !== half.timeMs) return false;
    return changes.every(({ tokenId, hash }) => {
      const token = this.#token(tokenId) as TokenBook;
      return (half.tokens & (token === this.yes ? 1 : 2)) === 0 || token.announcedHash === hash;
    });
  }

  #afterFrame(receivedTimeMs: number): void {
    this.waitingSinceMs = receivedTimeMs;
    this.#finishIfVerified();
  }

  #finishIfVerified(): void {
    if (this.#tokensInAction !== 3 || !this.yes.agreesOnBest || !this.no.agreesOnBest) return;
    if (this.#check.verify(this.context.lastTradePrice)) this.#finish('verified');
  }

  /** A trade happens at a best price: the one before it or the one after it. */
  #noteTradeCandidates(token: TokenBook): void {
    this.#check.guesses.note(token.bids.best);
    this.#check.guesses.note(token.asks.best);
  }

  /** A late input of the hash arrived: the waiting action may now be complete, or the published state proven. */
  #judgeAgain(receivedTimeMs: number): void {
    if (this.waitingSinceMs !== null) this.#finishIfVerified();
    else if (!this.trusted && this.yes.known && this.no.known && this.#judge('quiet'))
      this.#publish('verified', receivedTimeMs, true);
  }

  /** @param showsOneSide Whether to publish an unproven book when the other token's book has never arrived. */
  #finish(end: ActionEnd, showsOneSide = true): void {
    const receivedTimeMs = this.waitingSinceMs as number;
    this.waitingSinceMs = null;
    this.#noteAlone();
    const half = { timeMs: this.#openTimeMs, tokens: this.#tokensInAction };
    this.#tokensInAction = 0;
    if (this.yes.known && this.no.known) this.#publish(end, receivedTimeMs, this.#judge(end));
    else if (showsOneSide && this.isOneSided) this.#publish(end, receivedTimeMs, false);
    this.#halfAction = end === 'quiet' && !this.trusted ? half : null;
    this.#check.guesses.clear();
  }

  #noteAlone(): void {
    const named = this.#tokensInAction === 3 ? 0 : this.#tokensInAction;
    if (named === this.#aloneToken) return;
    this.#aloneToken = named;
    this.#aloneSinceMs = this.#openTimeMs;
  }

  #judge(end: ActionEnd): boolean {
    const verified =
      end === 'verified' ||
      this.#check.verify(this.context.lastTradePrice) ||
      this.#check.verifyWithOtherInputs();
    const byBest = !this.#check.recipeProven && this.yes.agreesOnBest && this.no.agreesOnBest;
    return (verified || byBest) && !this.yes.crossed && !this.no.crossed && !this.isLopsided;
  }

  #publish(end: ActionEnd, receivedTimeMs: number, trusted: boolean): void {
    const [changed, form, isFirstBook] = [this.#changed, this.#form, this.#isFirstBook];
    this.#changed = this.#isFirstBook = false;
    this.#form = 'changes';
    this.trusted = trusted;
    if (trusted) this.recent.proven(this.#openTimeMs);
    this.eventTimeMs = Math.max(this.eventTimeMs, this.#openTimeMs);
    const { eventTimeMs } = this;
    this.#onFinished(this, { end, form, eventTimeMs, receivedTimeMs, changed, isFirstBook, trusted });
  }
}
