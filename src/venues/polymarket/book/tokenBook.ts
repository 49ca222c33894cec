import { LadderSide } from '../../../core/ladderSide.ts';
import type { BookSnapshotEvent, LevelChange, Levels } from '../../../schema/events.ts';
import type { BookView } from '../../../schema/records.ts';
import { bookHash } from './bookHash.ts';

/** What the two tokens of a market share when a book is hashed. */
export interface HashContext {
  readonly marketId: string;
  tickSize: string;
  lastTradePrice: string;
  readonly minOrderSize: string;
  readonly negRisk: boolean;
}

/** The book of one outcome, with what the venue last announced about it. */
export class TokenBook implements BookView {
  /** Changes once at most: a recording may name one token of its market long before the other. */
  tokenId: string;
  readonly bids = new LadderSide('bids');
  readonly asks = new LadderSide('asks');
  /** A snapshot has come since the last reset; before that, changes have nothing to apply to. */
  known = false;
  /** Venue time of the newest frame applied. */
  timeMs = 0;
  /** Venue time of the last snapshot: no change from before it is news. */
  snapshotTimeMs = 0;
  /** Hash the venue announced for the state after the running (or last) action; null when it gave none. */
  announcedHash: string | null = null;
  /** The content equalled the announced hash when last checked. */
  verified = false;
  /** Frames that named this token, whether they were applied or not: a token can fall silent alone. */
  frames = 0;
  #framesAtReset = 0;
  #announcedBestBid: number | null = null;
  #announcedBestAsk: number | null = null;
  #announcesBest = false;
  /** Nothing announced vouches for the book until its next frame. */
  #doubted = false;

  constructor(tokenId: string) {
    this.tokenId = tokenId;
  }

  /** @returns Whether the levels changed. */
  applySnapshot(event: BookSnapshotEvent): boolean {
    const bidsChanged = this.bids.replace(event.bids);
    const asksChanged = this.asks.replace(event.asks);
    this.known = true;
    this.timeMs = this.snapshotTimeMs = event.eventTimeMs;
    this.announcedHash = event.hash;
    this.#announcesBest = false;
    this.#doubted = false;
    this.verified = false;
    return bidsChanged || asksChanged;
  }

  /** @returns Whether the level changed. */
  applyChange(change: LevelChange, eventTimeMs: number): boolean {
    const side = change.side === 'BUY' ? this.bids : this.asks;
    this.timeMs = eventTimeMs;
    this.announcedHash = change.hash;
    this.#announcedBestBid = change.bestBid;
    this.#announcedBestAsk = change.bestAsk;
    this.#announcesBest = change.announcesBest;
    this.#doubted = false;
    this.verified = false;
    return side.set(change.price, change.size);
  }

  /**
   * The local best prices equal those announced (true when none were, false after a doubt). Weaker than the hash, and
   * nearly free.
   */
  get agreesOnBest(): boolean {
    if (this.#doubted) return false;
    return (
      !this.#announcesBest ||
      (this.bids.best === this.#announcedBestBid && this.asks.best === this.#announcedBestAsk)
    );
  }

  /** A frame has named this token since the feed was last gone. */
  get isHeardSinceReset(): boolean {
    return this.frames > this.#framesAtReset;
  }

  /** Bid above ask: an error. Locked (equal) is not, though it is how a half-applied fill looks too. */
  get crossed(): boolean {
    const { best: bid } = this.bids;
    const { best: ask } = this.asks;
    return bid !== null && ask !== null && bid > ask;
  }

  /** Whether the content equals the announced hash, given what the market shares. */
  verify(context: HashContext, lastTradePrice: string): boolean {
    if (this.verified) return true;
    if (this.announcedHash === null) return false;
    const computed = bookHash({
      marketId: context.marketId,
      tokenId: this.tokenId,
      timestampMs: this.timeMs,
      bidsJson: this.bids.toWireJson(),
      asksJson: this.asks.toWireJson(),
      tickSize: context.tickSize,
      lastTradePrice,
      minOrderSize: context.minOrderSize,
      negRisk: context.negRisk,
    });
    this.verified = computed === this.announcedHash;
    return this.verified;
  }

  /** Takes over levels of which only the store knows. */
  restore(levels: { bids: Levels; asks: Levels }): void {
    this.bids.replace(levels.bids);
    this.asks.replace(levels.asks);
  }

  /** Sets a level without what a frame announces: it comes too late for that. @returns Whether the level changed. */
  setLate(side: 'BUY' | 'SELL', price: number, size: number): boolean {
    this.verified = false;
    return (side === 'BUY' ? this.bids : this.asks).set(price, size);
  }

  /** Forgets the announced hash and best prices: what they vouched for may have changed since. */
  doubt(): void {
    this.verified = false;
    this.announcedHash = null;
    this.#doubted = true;
  }

  /** Forgets what vouched for the levels, not the levels: an equal snapshot after a reconnect is no change. */
  reset(): void {
    this.#framesAtReset = this.frames;
    this.known = false;
    this.verified = false;
    this.timeMs = 0;
    this.announcedHash = null;
    this.#announcesBest = false;
  }
}
