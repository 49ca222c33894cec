import { LadderSide } from '../../../core/ladderSide.ts';
import type { BookSnapshotEvent, LevelChange, Levels } from '../../../schema/events.ts';
import { PROTOCOL_VERSIONS, type ProtocolVersion } from '../../../schema/protocol.ts';
import type { BookView } from '../../../schema/records.ts';
import { bookHash } from './bookHash.ts';

/** The hash inputs that the two tokens of a market share. */
export interface HashContext {
  readonly marketId: string;
  tickSize: string;
  lastTradePrice: string;
  readonly minOrderSize: string;
  readonly negRisk: boolean;
  /**
   * The version whose hash recipe applies. Null until a book states it or a hash shows it: only one recipe can verify,
   * so the data decides, and a wrong listing cannot.
   */
  version: ProtocolVersion | null;
}

const ONE_VERSION: Record<ProtocolVersion, readonly ProtocolVersion[]> = { v1: ['v1'], v2: ['v2'] };

/** The book of one outcome and the hash and best prices that the venue last announced for it. */
export class TokenBook implements BookView {
  /** Changes at most once: a recording may name one token of its market long before the other. */
  tokenId: string;
  readonly bids = new LadderSide('bids');
  readonly asks = new LadderSide('asks');
  /** A snapshot has arrived since the last reset; before it, changes have nothing to apply to. */
  known = false;
  /** Venue time of the newest frame applied. */
  timeMs = 0;
  /** Venue time of the last snapshot: earlier changes are ignored. */
  snapshotTimeMs = 0;
  /** The announced hash of the state after the current (or last) action; null when the venue announced none. */
  announcedHash: string | null = null;
  /** The levels equalled the announced hash when last checked. */
  verified = false;
  /** Frames that named this token, applied or not: one token can go silent alone. */
  frames = 0;
  #framesAtReset = 0;
  #announcedBestBid: number | null = null;
  #announcedBestAsk: number | null = null;
  #announcesBest = false;
  /** No announcement proves the book until its next frame. */
  #distrusted = false;

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
    this.#distrusted = false;
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
    this.#distrusted = false;
    this.verified = false;
    return side.set(change.price, change.size);
  }

  /**
   * The local best prices equal those announced (true when none were, false after a doubt). A weaker proof than the
   * hash, and nearly free.
   */
  get agreesOnBest(): boolean {
    if (this.#distrusted) return false;
    return (
      !this.#announcesBest ||
      (this.bids.best === this.#announcedBestBid && this.asks.best === this.#announcedBestAsk)
    );
  }

  /** A frame has named this token since the feed was last lost. */
  get hasFramesSinceReset(): boolean {
    return this.frames > this.#framesAtReset;
  }

  /** Bid above ask: an error. Locked (equal) is none, although a half-applied fill looks the same. */
  get crossed(): boolean {
    const { best: bid } = this.bids;
    const { best: ask } = this.asks;
    return bid !== null && ask !== null && bid > ask;
  }

  /**
   * Whether the levels equal the announced hash, given the inputs that the market shares. The first hash that verifies
   * fixes the market's version, if none is known.
   */
  verify(context: HashContext, lastTradePrice: string): boolean {
    if (this.verified) return true;
    if (this.announcedHash === null) return false;
    for (const version of context.version === null ? PROTOCOL_VERSIONS : ONE_VERSION[context.version]) {
      if (this.#hash(context, lastTradePrice, version) !== this.announcedHash) continue;
      context.version = version;
      this.verified = true;
      return true;
    }
    return false;
  }

  #hash(context: HashContext, lastTradePrice: string, version: ProtocolVersion): string {
    return bookHash({
      marketId: context.marketId,
      tokenId: this.tokenId,
      timestampMs: this.timeMs,
      bidsJson: this.bids.toWireJson(),
      asksJson: this.asks.toWireJson(),
      tickSize: context.tickSize,
      lastTradePrice,
      minOrderSize: context.minOrderSize,
      negRisk: context.negRisk,
      version,
    });
  }

  /** Loads levels from the store. */
  restore(levels: { bids: Levels; asks: Levels }): void {
    this.bids.replace(levels.bids);
    this.asks.replace(levels.asks);
  }

  /** Sets a level but ignores the frame's announcements, which are outdated. @returns Whether the level changed. */
  setLate(side: 'BUY' | 'SELL', price: number, size: number): boolean {
    this.verified = false;
    return (side === 'BUY' ? this.bids : this.asks).set(price, size);
  }

  /** Forgets the announced hash and best prices: the levels they proved may have changed since. */
  distrust(): void {
    this.verified = false;
    this.announcedHash = null;
    this.#distrusted = true;
  }

  /** Waits for the next snapshot. The levels stay: an equal snapshot after a reconnect is no change. */
  reset(): void {
    this.#framesAtReset = this.frames;
    this.known = false;
    this.timeMs = 0;
  }
}
