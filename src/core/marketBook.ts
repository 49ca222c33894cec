import type {
  BookChangeEvent,
  BookSnapshotEvent,
  LevelChange,
  Levels,
  TokenTradeEvent,
} from '../schema/events.ts';
import { isMirror } from './ladderSide.ts';
import { TICKS_PER_USDC } from './money.ts';
import { type HashContext, TokenBook } from './tokenBook.ts';
import { TradeGuesses, tradePriceText } from './tradeGuesses.ts';

/** How long an action whose hash has not verified waits for more of its frames. */
export const ACTION_QUIET_MS = 20;
/** Snapshots carry all the hash's inputs: this many failing in a row refute the recipe, not the books. */
const SNAPSHOT_FAILURES_MAX = 3;
/** The step a market goes to next when its price nears 0 or 1; the hash may have it before its message comes. */
const FINER_TICK: ReadonlyMap<string, string> = new Map([['0.01', '0.001']]);

/** What ends an action: its hash verified, the next action began, nothing more came, or the feed was lost. */
export type ActionEnd = 'verified' | 'superseded' | 'quiet' | 'disconnected';

export interface FinishedAction {
  readonly end: ActionEnd;
  /** Venue time, made monotonic per market. */
  readonly eventTimeMs: number;
  /** Receipt of the action's last frame. */
  readonly receivedTimeMs: number;
  /** The levels of either token changed since the last finished action. */
  readonly changed: boolean;
  readonly trusted: boolean;
}

/** What became of an event that was offered. */
export type Applied = 'applied' | 'stale' | 'before_snapshot' | 'unknown_token';

/**
 * Both books of one market, built from venue actions.
 *
 * The venue splits one action of its engine over several frames, each announcing the hash and best prices of
 * the state AFTER the whole action (recorded 2026-09-11). So frames are applied as they come but the state is
 * shown only when the hashes verify, when a frame of another action arrives, or after `ACTION_QUIET_MS`.
 */
export class MarketBook {
  readonly marketId: string;
  readonly yes: TokenBook;
  readonly no: TokenBook;
  readonly context: HashContext;
  /**
   * The venue still hashes as we know it: some hash verified, and fewer than `SNAPSHOT_FAILURES_MAX` whole snapshots
   * in a row failed since. Unless proven, announced best prices alone vouch for the book.
   */
  recipeProven = false;
  /** Receipt of the newest frame of the action that still waits; null when none does. */
  waitingSinceMs: number | null = null;
  /** State of the last finished action. */
  trusted = false;
  /** Venue time of the last finished action, never falling. */
  eventTimeMs = 0;
  #openTimeMs = 0;
  #changed = false;
  #tokensInAction = 0;
  #snapshotFailures = 0;
  readonly #guesses = new TradeGuesses();
  #tradeTimeMs = 0;
  readonly #checkHashes: boolean;
  readonly #onFinished: (book: MarketBook, action: FinishedAction) => void;

  constructor(
    ids: { marketId: string; yesTokenId: string; noTokenId: string; tickSize: string },
    onFinished: (book: MarketBook, action: FinishedAction) => void,
    options: { checkHashes: boolean } = { checkHashes: true },
  ) {
    this.#checkHashes = options.checkHashes;
    this.marketId = ids.marketId;
    this.yes = new TokenBook(ids.yesTokenId);
    this.no = new TokenBook(ids.noTokenId);
    this.context = {
      marketId: ids.marketId,
      tickSize: ids.tickSize,
      lastTradePrice: '',
      minOrderSize: '5',
      negRisk: false,
    };
    this.#onFinished = onFinished;
  }

  /** NO is the exact mirror of YES: the venue keeps one book. */
  get mirrored(): boolean {
    return isMirror(this.yes.bids, this.no.asks) && isMirror(this.yes.asks, this.no.bids);
  }

  applySnapshot(event: BookSnapshotEvent): Applied {
    const token = this.#token(event.tokenId);
    if (token === null) return 'unknown_token';
    if (token.known && event.eventTimeMs < token.timeMs) return 'stale';
    if (this.#belongsToAnother(event.eventTimeMs, token, event.hash)) this.#finish('superseded');
    this.#openTimeMs = event.eventTimeMs;
    if (event.tickSize !== null) this.context.tickSize = event.tickSize;
    if (event.lastTradePrice !== null) this.context.lastTradePrice = event.lastTradePrice;
    this.#noteToken(token);
    this.#noteTradeCandidates(token);
    if (token.applySnapshot(event)) this.#changed = true;
    this.#noteTradeCandidates(token);
    if (this.#checkHashes && event.lastTradePrice !== null) {
      this.#judgeRecipe(token.verify(this.context, event.lastTradePrice));
    }
    this.#afterFrame(event.receivedTimeMs);
    return 'applied';
  }

  applyChanges(event: BookChangeEvent): Applied {
    const { changes, eventTimeMs, receivedTimeMs } = event;
    for (const { tokenId } of changes) {
      const token = this.#token(tokenId);
      if (token === null) return 'unknown_token';
      if (!token.known) return 'before_snapshot';
      if (eventTimeMs < token.timeMs) return 'stale';
    }
    // A frame is whole within one action: what it supersedes ends before any of it is applied.
    if (this.waitingSinceMs !== null) this.#supersede(changes, eventTimeMs);
    this.#openTimeMs = eventTimeMs;
    for (const change of changes) {
      const token = this.#token(change.tokenId) as TokenBook;
      this.#noteToken(token);
      if (token.applyChange(change, eventTimeMs)) this.#changed = true;
      this.#guesses.note(change.price);
    }
    if (changes.length > 0) this.#afterFrame(receivedTimeMs);
    return 'applied';
  }

  /**
   * A trade enters the hash of both tokens' books. Its message may come before the change it caused, after it, or
   * behind a later trade: so an older one is ignored, and the price it replaces stays a candidate.
   */
  applyTrade(event: TokenTradeEvent): void {
    if (event.eventTimeMs < this.#tradeTimeMs) return;
    this.#tradeTimeMs = event.eventTimeMs;
    this.#guesses.replaced(this.context.lastTradePrice);
    this.context.lastTradePrice = tradePriceText(event.price);
    this.#judgeAgain(event.receivedTimeMs);
  }

  /** The venue changed the price step; it enters the hash at once. */
  applyTickSize(tickSize: string, receivedTimeMs: number): void {
    this.context.tickSize = tickSize;
    this.#judgeAgain(receivedTimeMs);
  }

  /** Ends the waiting action: its frames have had `ACTION_QUIET_MS`, or its recording is over. */
  finishQuiet(): void {
    if (this.waitingSinceMs !== null) this.#finish('quiet');
  }

  /** Takes over a stored state, so that an equal snapshot is no change. NO levels may be left out where mirrored. */
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

  /** The feed is gone: what is known may be wrong from here until the next snapshots of both tokens. */
  disconnect(receivedTimeMs: number): void {
    this.finishQuiet();
    this.yes.reset();
    this.no.reset();
    if (!this.trusted) return;
    // The loss of trust is a state of its own; the venue has no time for it, so it takes that of the last event.
    this.#openTimeMs = this.eventTimeMs;
    this.#publish('disconnected', receivedTimeMs, false);
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

  /** One action has one time and, per token, one hash; anything else begins the next action. */
  #belongsToAnother(timeMs: number, token: TokenBook, hash: string | null): boolean {
    if (this.waitingSinceMs === null) return false;
    const seen = (this.#tokensInAction & (token === this.yes ? 1 : 2)) !== 0;
    return timeMs !== this.#openTimeMs || (seen && token.announcedHash !== hash);
  }

  #afterFrame(receivedTimeMs: number): void {
    this.waitingSinceMs = receivedTimeMs;
    if (this.#tokensInAction !== 3) return;
    if (this.yes.agreesOnBest && this.no.agreesOnBest && this.#verify(this.context.lastTradePrice)) {
      this.#finish('verified');
    }
  }

  #verify(lastTradePrice: string): boolean {
    if (!this.#checkHashes) return false;
    const { yes, no, context } = this;
    if (!yes.verify(context, lastTradePrice) || !no.verify(context, lastTradePrice)) return false;
    this.#judgeRecipe(true);
    return true;
  }

  #judgeRecipe(verified: boolean): void {
    this.#snapshotFailures = verified ? 0 : this.#snapshotFailures + 1;
    if (verified) this.recipeProven = true;
    else if (this.#snapshotFailures >= SNAPSHOT_FAILURES_MAX) this.recipeProven = false;
  }

  /** A trade happened at a best price: the one before it or the one it left. */
  #noteTradeCandidates(token: TokenBook): void {
    this.#guesses.note(token.bids.best);
    this.#guesses.note(token.asks.best);
  }

  /**
   * The hash may hold a trade we have not heard of (at a price this action touched), not yet the one we have, the
   * other token's side of it, or the finer tick whose message is still to come.
   */
  #verifyWithOtherInputs(): boolean {
    if (!this.#checkHashes) return false;
    const { lastTradePrice: known, tickSize } = this.context;
    const finer = FINER_TICK.get(tickSize);
    if (finer !== undefined) {
      this.context.tickSize = finer;
      if (this.#verify(known)) return true;
      this.context.tickSize = tickSize;
    }
    for (const text of this.#guesses.texts(known)) {
      if (!this.#verify(text)) continue;
      this.context.lastTradePrice = text;
      return true;
    }
    return false;
  }

  /** What the hash needed came late: a state already shown as unproven may be proven now. */
  #judgeAgain(receivedTimeMs: number): void {
    if (this.trusted || this.waitingSinceMs !== null || !this.yes.known || !this.no.known) return;
    if (this.#judge('quiet')) this.#publish('verified', receivedTimeMs, true);
  }

  #finish(end: ActionEnd): void {
    const receivedTimeMs = this.waitingSinceMs as number;
    this.waitingSinceMs = null;
    this.#tokensInAction = 0;
    if (this.yes.known && this.no.known) this.#publish(end, receivedTimeMs, this.#judge(end));
    this.#guesses.clear();
  }

  #judge(end: ActionEnd): boolean {
    const verified =
      end === 'verified' || this.#verify(this.context.lastTradePrice) || this.#verifyWithOtherInputs();
    const byBest = !this.recipeProven && this.yes.agreesOnBest && this.no.agreesOnBest;
    return (verified || byBest) && !this.yes.crossed && !this.no.crossed;
  }

  #publish(end: ActionEnd, receivedTimeMs: number, trusted: boolean): void {
    const changed = this.#changed;
    this.#changed = false;
    this.trusted = trusted;
    this.eventTimeMs = Math.max(this.eventTimeMs, this.#openTimeMs);
    this.#onFinished(this, { end, eventTimeMs: this.eventTimeMs, receivedTimeMs, changed, trusted });
  }
}

function mirrorOf({ prices, sizes }: Levels): Levels {
  return { prices: prices.map((price) => TICKS_PER_USDC - price), sizes };
}
