import { isMirror, mirrorOf } from '../../../core/ladderSide.ts';
import type {
  BookChangeEvent,
  BookSnapshotEvent,
  Levels,
  TickSizeChangeEvent,
  TokenTradeEvent,
} from '../../../schema/events.ts';
import { ActionFrames } from './actionFrames.ts';
import {
  type ActionEnd,
  type ActionForm,
  type Applied,
  applied,
  type BookEvent,
  type FinishedAction,
  LATE_FRAME_MS,
} from './bookAction.ts';
import { HashCheck } from './hashCheck.ts';
import { tradePriceText } from './lastTradeGuesser.ts';
import { RecentChangeLog } from './recentChangeLog.ts';
import { type HashContext, TokenBook } from './tokenBook.ts';

/**
 * Both books of one market, built from venue actions.
 *
 * The venue splits one action of its engine over several frames. Each announces the hash and best prices of
 * the state AFTER the whole action (recorded 2026-09-11). So frames are applied on arrival, but the state is
 * published only when the hashes verify, when a frame of another action arrives, or after `ACTION_QUIET_MS`.
 *
 * Every method that finishes an action returns it, and the levels are that action's state until the next call. So an
 * event takes two calls: `finishBefore` returns the action that the event supersedes, `apply` the one that it completes.
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
  /** The changes since the book was last proven. */
  readonly recent = new RecentChangeLog();
  readonly #frames: ActionFrames;
  readonly #check: HashCheck;
  #changed = false;
  #form: ActionForm = 'changes';
  #isFirstBook = false;
  #tradeTimeMs = 0;

  constructor(
    ids: { marketId: string; yesTokenId: string; noTokenId: string; tickSize: string },
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
    this.#frames = new ActionFrames(this.yes);
    this.#check = new HashCheck(this, options.checkHashes);
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
    return this.#frames.isLopsided;
  }

  /** NO is the exact mirror of YES, because the venue keeps one book. */
  get mirrored(): boolean {
    return isMirror(this.yes.bids, this.no.asks) && isMirror(this.yes.asks, this.no.bids);
  }

  /** Ends the waiting action if the event belongs to another one. Call it before `apply`, with the same event. */
  finishBefore(event: BookEvent): FinishedAction | null {
    if (!this.#isSuperseding(event)) return null;
    // Before the book that completes the market, there is no state worth publishing.
    const isSecondBook = event.kind === 'book_snapshot' && this.#token(event.tokenId)?.known === false;
    return this.#finish('superseded', !isSecondBook);
  }

  /**
   * Applies an event. Trades and tick sizes are always `applied`.
   * @returns What it did, and the action that it completed.
   * @throws {Error} If the event supersedes the waiting action: its state would be lost.
   */
  apply(event: BookEvent): Applied {
    if (this.#isSuperseding(event)) throw new Error('finishBefore() was not called before apply()');
    if (event.kind === 'book_change') return this.#applyChanges(event);
    if (event.kind === 'book_snapshot') return this.#applySnapshot(event);
    return applied('applied', event.kind === 'trade' ? this.#applyTrade(event) : this.#applyTickSize(event));
  }

  /** Ends the waiting action after `ACTION_QUIET_MS` without a frame, or at the end of a recording. */
  finishQuiet(): FinishedAction | null {
    return this.waitingSinceMs === null ? null : this.#finish('quiet');
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

  /**
   * The feed is lost: the book may be wrong until the next snapshots of both tokens. As for the three methods below,
   * `finishQuiet` must have ended the waiting action.
   */
  disconnect(receivedTimeMs: number): FinishedAction | null {
    this.#expectNoWaitingAction();
    this.yes.reset();
    this.no.reset();
    this.#frames.reset();
    return this.distrust(receivedTimeMs);
  }

  /** The book may be wrong for a reason outside it: untrusted until the next announced hashes verify. */
  distrust(receivedTimeMs: number): FinishedAction | null {
    this.#expectNoWaitingAction();
    this.yes.distrust();
    this.no.distrust();
    if (!this.trusted) return null;
    // The loss of trust is a state of its own. The venue has no time for it, so it gets that of the last event.
    this.#frames.timeMs = this.eventTimeMs;
    return this.#publish('disconnected', receivedTimeMs, false);
  }

  /** Publishes the state again as if it had changed. */
  republish(receivedTimeMs: number): FinishedAction | null {
    this.#changed = true;
    return this.reannounce(receivedTimeMs);
  }

  /** Publishes the state again because its trust changed for a reason outside the book. */
  reannounce(receivedTimeMs: number): FinishedAction | null {
    this.#expectNoWaitingAction();
    if (!this.yes.known || !this.no.known) return null;
    this.#frames.timeMs = this.eventTimeMs;
    return this.#publish('quiet', receivedTimeMs, this.#judge('quiet'));
  }

  #applySnapshot(event: BookSnapshotEvent): Applied {
    const token = this.#token(event.tokenId);
    if (token === null) return applied('unknown_token');
    token.frames++;
    if (isStale(event, token)) return applied('stale');
    this.#frames.timeMs = event.eventTimeMs;
    if (event.tickSize !== null) this.context.tickSize = event.tickSize;
    if (event.lastTradePrice !== null) this.context.lastTradePrice = event.lastTradePrice;
    if (event.version !== null) this.context.version = event.version;
    this.#frames.add(token);
    if (this.#form === 'changes') this.#form = 'book';
    // Books that follow trades do not carry the last trade price.
    if (event.lastTradePrice !== null) this.#isFirstBook = true;
    this.#noteTradeCandidates(token);
    if (token.applySnapshot(event)) this.#changed = true;
    this.#noteTradeCandidates(token);
    if (event.lastTradePrice !== null) this.#check.judgeSnapshot(token, event.lastTradePrice);
    return applied('applied', this.#afterFrame(event.receivedTimeMs));
  }

  #applyChanges(event: BookChangeEvent): Applied {
    const { changes, eventTimeMs, receivedTimeMs } = event;
    const admission = this.#admit(event);
    if (admission !== 'applied') {
      this.#countFrame(event);
      return admission === 'late' ? this.#applyLate(event) : applied(admission);
    }
    if (changes.length === 0) return applied('applied');
    if (this.#isRest(event)) this.#form = 'rest';
    this.#frames.timeMs = eventTimeMs;
    for (const change of changes) {
      const token = this.#token(change.tokenId) as TokenBook;
      token.frames++;
      if (!token.known) continue;
      this.#frames.add(token);
      if (token.applyChange(change, eventTimeMs)) this.#changed = true;
      this.recent.note(token === this.yes ? 0 : 1, change.side, change.price, eventTimeMs);
      this.#check.guesses.note(change.price);
    }
    return applied('applied', this.#afterFrame(receivedTimeMs));
  }

  /**
   * Applies a frame that the other socket lost or that arrived out of order: it sets the levels that nothing newer has
   * set. A proven book ignores it as a repetition.
   */
  #applyLate({ changes, eventTimeMs, receivedTimeMs }: BookChangeEvent): Applied {
    let set = false;
    for (const { tokenId, side, price, size } of changes) {
      const token = this.#token(tokenId) as TokenBook;
      if (!token.known || eventTimeMs < token.snapshotTimeMs) continue;
      if (!this.recent.isNewest(token === this.yes ? 0 : 1, side, price, eventTimeMs)) continue;
      if (!token.setLate(side, price, size)) continue;
      this.#check.guesses.note(price);
      set = true;
    }
    if (!set) return applied('stale');
    this.#changed = true;
    if (this.#form !== 'overdue')
      this.#form = this.#frames.timeMs - eventTimeMs > LATE_FRAME_MS ? 'overdue' : 'late';
    const isWaiting = this.waitingSinceMs !== null;
    return applied(
      'late',
      isWaiting
        ? this.#afterFrame(receivedTimeMs)
        : this.#publish('quiet', receivedTimeMs, this.#judge('quiet')),
    );
  }

  /**
   * A trade enters the hash of both tokens' books. Its message may arrive before the change it caused, after it, or
   * after a later trade's. So an older trade is ignored, and the replaced price stays a candidate.
   */
  #applyTrade(event: TokenTradeEvent): FinishedAction | null {
    if (event.eventTimeMs < this.#tradeTimeMs) return null;
    this.#tradeTimeMs = event.eventTimeMs;
    this.#check.guesses.replaced(this.context.lastTradePrice);
    this.context.lastTradePrice = tradePriceText(event.price);
    return this.#judgeAgain(event.receivedTimeMs);
  }

  /** The tick size changed. It enters the hash at once, but not the hash of an action that is already waiting. */
  #applyTickSize({ tickSize, receivedTimeMs }: TickSizeChangeEvent): FinishedAction | null {
    if (tickSize !== this.context.tickSize) this.#check.tickReplaced(this.context.tickSize);
    this.context.tickSize = tickSize;
    return this.#judgeAgain(receivedTimeMs);
  }

  #token(tokenId: string): TokenBook | null {
    if (tokenId === this.yes.tokenId) return this.yes;
    return tokenId === this.no.tokenId ? this.no : null;
  }

  #countFrame({ changes }: BookChangeEvent): void {
    for (const { tokenId } of changes) {
      const token = this.#token(tokenId);
      if (token !== null) token.frames++;
    }
  }

  /** Changes of a token without a book are left out, not the whole frame. */
  #admit({ changes, eventTimeMs }: BookChangeEvent): Applied['outcome'] {
    let [late, known] = [false, false];
    for (const { tokenId } of changes) {
      const token = this.#token(tokenId);
      if (token === null) return 'unknown_token';
      if (!token.known) continue;
      known = true;
      if (eventTimeMs < token.timeMs) late = true;
    }
    if (!known && changes.length > 0) return 'before_snapshot';
    return late ? 'late' : 'applied';
  }

  /** Whether the event begins an action while another one waits. All changes of a frame belong to one action. */
  #isSuperseding(event: BookEvent): boolean {
    if (this.waitingSinceMs === null) return false;
    const { eventTimeMs } = event;
    if (event.kind === 'book_snapshot') {
      const token = this.#token(event.tokenId);
      return token !== null && !isStale(event, token) && this.#frames.isOther(token, eventTimeMs, event.hash);
    }
    if (event.kind !== 'book_change' || this.#admit(event) !== 'applied') return false;
    for (const { tokenId, hash } of event.changes) {
      const token = this.#token(tokenId) as TokenBook;
      if (this.#frames.isOther(token, eventTimeMs, hash)) return true;
    }
    return false;
  }

  #isRest({ changes, eventTimeMs }: BookChangeEvent): boolean {
    if (!this.#frames.isHalf || this.waitingSinceMs !== null) return false;
    return changes.every((change) => {
      const token = this.#token(change.tokenId) as TokenBook;
      return this.#frames.isRest(token, eventTimeMs, change);
    });
  }

  #expectNoWaitingAction(): void {
    if (this.waitingSinceMs !== null) throw new Error('finishQuiet() must end the waiting action first');
  }

  #afterFrame(receivedTimeMs: number): FinishedAction | null {
    this.waitingSinceMs = receivedTimeMs;
    return this.#finishIfVerified();
  }

  #finishIfVerified(): FinishedAction | null {
    if (!this.#frames.nameBothTokens || !this.yes.agreesOnBest || !this.no.agreesOnBest) return null;
    return this.#check.verify(this.context.lastTradePrice) ? this.#finish('verified') : null;
  }

  /** A trade happens at a best price: the one before it or the one after it. */
  #noteTradeCandidates(token: TokenBook): void {
    this.#check.guesses.note(token.bids.best);
    this.#check.guesses.note(token.asks.best);
  }

  /** A late input of the hash arrived: the waiting action may now be complete, or the published state proven. */
  #judgeAgain(receivedTimeMs: number): FinishedAction | null {
    if (this.waitingSinceMs !== null) return this.#finishIfVerified();
    const isUnproven = !this.trusted && this.yes.known && this.no.known;
    return isUnproven && this.#judge('quiet') ? this.#publish('verified', receivedTimeMs, true) : null;
  }

  /** @param showsOneSide Whether to publish an unproven book when the other token's book has never arrived. */
  #finish(end: ActionEnd, showsOneSide = true): FinishedAction | null {
    const receivedTimeMs = this.waitingSinceMs as number;
    this.waitingSinceMs = null;
    this.#frames.end();
    let action: FinishedAction | null = null;
    if (this.yes.known && this.no.known) action = this.#publish(end, receivedTimeMs, this.#judge(end));
    else if (showsOneSide && this.isOneSided) action = this.#publish(end, receivedTimeMs, false);
    this.#frames.isHalf = end === 'quiet' && !this.trusted;
    this.#check.guesses.clear();
    return action;
  }

  #judge(end: ActionEnd): boolean {
    const verified =
      end === 'verified' ||
      this.#check.verify(this.context.lastTradePrice) ||
      this.#check.verifyWithOtherInputs();
    const byBest = !this.#check.recipeProven && this.yes.agreesOnBest && this.no.agreesOnBest;
    return (verified || byBest) && !this.yes.crossed && !this.no.crossed && !this.isLopsided;
  }

  #publish(end: ActionEnd, receivedTimeMs: number, trusted: boolean): FinishedAction {
    const { timeMs } = this.#frames;
    this.trusted = trusted;
    if (trusted) this.recent.proven(timeMs);
    this.eventTimeMs = Math.max(this.eventTimeMs, timeMs);
    const action: FinishedAction = {
      end,
      form: this.#form,
      eventTimeMs: this.eventTimeMs,
      receivedTimeMs,
      changed: this.#changed,
      isFirstBook: this.#isFirstBook,
      trusted,
    };
    this.#changed = this.#isFirstBook = false;
    this.#form = 'changes';
    return action;
  }
}

function isStale({ eventTimeMs }: BookSnapshotEvent, token: TokenBook): boolean {
  return token.known && eventTimeMs < token.timeMs;
}
