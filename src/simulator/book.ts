/**
 * A market's book on the wire. One action of the engine is several level changes that become one or more frames.
 * Each of these frames announces the hash and best prices of the state AFTER THE WHOLE ACTION.
 */

import type { Random } from '../core/random.ts';
import { bookHash } from '../venues/polymarket/book/bookHash.ts';
import { Ladder, type LadderSide, NO_ASK, PRICE_TEXT, sizeText } from './ladder.ts';
import type { MarketFacts, SimulatedMarket } from './markets.ts';
import { type PartedDown, partedDown } from './partedBook.ts';

export interface LevelSet {
  readonly side: LadderSide;
  readonly price: number;
  readonly size: number;
}

/** A trade of one token; `price` and `side` (the taker's) are those of that token. */
export interface Print {
  readonly isUp: boolean;
  readonly side: 'BUY' | 'SELL';
  readonly price: number;
  readonly size: number;
  readonly transactionHash: string;
}

export interface WireFrame {
  readonly text: string;
  /** Sent only to sockets that requested the custom features. */
  readonly custom: boolean;
}

const MISSING_QUOTE_FRAMES = 0.1;
const TWICE_SENT_CHANGES = 0.01;
const SPLIT_ACTIONS = 0.7;
/** Levels per frame when an action is not split into single levels. */
const LEVELS_PER_FRAME = 12;

export class WireBook {
  readonly ladder = new Ladder();
  /** Down quoted apart from Up: the venue keeps one book, but its two halves have disagreed for seconds. */
  #parted: PartedDown | null = null;
  readonly #facts: MarketFacts;
  readonly #random: Random;
  /** Tick size in thousandths: 10, later 1. */
  tick: 10 | 1 = 10;
  #lastTradePrice: string;
  /** The end of every frame and book; nobody has recorded V2 frames other than books yet. */
  readonly #versionTail: string;
  #changedMs: number;

  constructor({ facts, fate }: SimulatedMarket, random: Random, changedMs: number) {
    this.#facts = facts;
    this.#lastTradePrice = fate.lastTradePrice;
    this.#versionTail = facts.version === 'v2' ? ',"version":"v2"}' : '}';
    this.#random = random;
    this.#changedMs = changedMs;
  }

  /**
   * Quotes Down apart from Up: its asks start at `ask`, above all of its bids. Sends both books whole.
   * @param ask Thousandths; null ends the difference.
   */
  part(offer: { ask: number; size: number } | null, timestampMs: number): WireFrame[] {
    this.#changedMs = Math.max(this.#changedMs, timestampMs);
    this.#parted = offer === null ? null : partedDown(this.ladder, offer);
    return [true, false].map((isUp) => ({ custom: false, text: this.bookFrame(isUp, false) }));
  }

  get tickText(): string {
    return PRICE_TEXT[this.tick] as string;
  }

  get lastTradePrice(): string {
    return this.#lastTradePrice;
  }

  /**
   * Applies one action and renders its frames in wire order.
   * @param timestampMs The venue's time; it never decreases in the frames.
   * @param prints Trades that caused the action: their price enters the hash before they are announced.
   */
  apply(sets: readonly LevelSet[], timestampMs: number, prints: readonly Print[] = []): WireFrame[] {
    const before = { bid: this.ladder.bestBid, ask: this.ladder.bestAsk };
    for (const set of sets) this.ladder.set(set.side, set.price, set.size);
    const last = prints.at(-1);
    if (last) this.#lastTradePrice = (last.price / 1000).toFixed(3);
    this.#changedMs = Math.max(this.#changedMs, timestampMs);
    const hashes = { up: this.hash(true), down: this.hash(false) };
    const frames: WireFrame[] = [];
    const touched = before.bid !== this.ladder.bestBid || before.ask !== this.ladder.bestAsk;
    if (touched && !this.#random.chance(MISSING_QUOTE_FRAMES)) frames.push(...this.#quoteFrames());
    this.#pushChanges(frames, sets, hashes);
    if (prints.length > 0) this.#pushPrints(frames, prints);
    return frames;
  }

  /** The two frames of a tick size change, one per token. */
  refineTick(timestampMs: number): WireFrame[] {
    const before = this.tickText;
    this.tick = 1;
    const { conditionId, upToken, downToken } = this.#facts;
    return [upToken, downToken].map((token) => ({
      custom: false,
      text:
        `{"market":"${conditionId}","asset_id":"${token}","old_tick_size":"${before}",` +
        `"new_tick_size":"${this.tickText}","timestamp":"${timestampMs}","event_type":"tick_size_change"` +
        this.#versionTail,
    }));
  }

  /** @param initial Snapshots after subscribing also carry tick size and last trade price. */
  bookFrame(isUp: boolean, initial: boolean): string {
    const { bids, asks } = this.#json(isUp);
    const token = isUp ? this.#facts.upToken : this.#facts.downToken;
    const extra = initial
      ? `,"tick_size":"${this.tickText}","last_trade_price":"${this.#lastTradePrice}"`
      : '';
    return (
      `{"market":"${this.#facts.conditionId}","asset_id":"${token}","timestamp":"${this.#changedMs}",` +
      `"hash":"${this.hash(isUp)}","bids":${bids},"asks":${asks},"event_type":"book"${extra}` +
      this.#versionTail
    );
  }

  /** The REST answer of `/book`. */
  restBook(isUp: boolean): string {
    const { bids, asks } = this.#json(isUp);
    const token = isUp ? this.#facts.upToken : this.#facts.downToken;
    return (
      `{"market":"${this.#facts.conditionId}","asset_id":"${token}","timestamp":"${this.#changedMs}",` +
      `"hash":"${this.hash(isUp)}","bids":${bids},"asks":${asks},"min_order_size":"5",` +
      `"tick_size":"${this.tickText}","neg_risk":false,"last_trade_price":"${this.#lastTradePrice}"` +
      this.#versionTail
    );
  }

  hash(isUp: boolean): string {
    const { bids, asks } = this.#json(isUp);
    return bookHash({
      marketId: this.#facts.conditionId,
      tokenId: isUp ? this.#facts.upToken : this.#facts.downToken,
      timestampMs: this.#changedMs,
      bidsJson: bids,
      asksJson: asks,
      tickSize: this.tickText,
      lastTradePrice: this.#lastTradePrice,
      minOrderSize: '5',
      negRisk: false,
      version: this.#facts.version,
    });
  }

  #json(isUp: boolean): { bids: string; asks: string } {
    return isUp || this.#parted === null ? this.ladder.json(isUp) : this.#parted;
  }

  #best(isUp: boolean): { bid: string; ask: string; spread: string } {
    const { bestBid, bestAsk } = this.ladder;
    const [bid, ask] = isUp ? [bestBid, bestAsk] : [NO_ASK - bestAsk, NO_ASK - bestBid];
    return {
      bid: PRICE_TEXT[bid] as string,
      ask: PRICE_TEXT[ask] as string,
      spread: PRICE_TEXT[ask - bid] as string,
    };
  }

  #quoteFrames(): WireFrame[] {
    const stamp = this.#changedMs + this.#random.below(2);
    return [true, false].map((isUp) => {
      const { bid, ask, spread } = this.#best(isUp);
      const token = isUp ? this.#facts.upToken : this.#facts.downToken;
      return {
        custom: true,
        text:
          `{"market":"${this.#facts.conditionId}","asset_id":"${token}","best_bid":"${bid}","best_ask":"${ask}",` +
          `"spread":"${spread}","timestamp":"${stamp}","event_type":"best_bid_ask"${this.#versionTail}`,
      };
    });
  }

  #pushChanges(frames: WireFrame[], sets: readonly LevelSet[], hashes: { up: string; down: string }): void {
    const up = this.#best(true);
    const down = this.#best(false);
    const upTail = `"hash":"${hashes.up}","best_bid":"${up.bid}","best_ask":"${up.ask}"}`;
    const downTail = `"hash":"${hashes.down}","best_bid":"${down.bid}","best_ask":"${down.ask}"}`;
    const entries = (set: LevelSet, upFirst: boolean): string => {
      const size = sizeText(set.size);
      const [upSide, downSide] = set.side === 'bid' ? ['BUY', 'SELL'] : ['SELL', 'BUY'];
      const ofUp = `{"asset_id":"${this.#facts.upToken}","price":"${PRICE_TEXT[set.price]}","size":"${size}","side":"${upSide}",${upTail}`;
      const ofDown = `{"asset_id":"${this.#facts.downToken}","price":"${PRICE_TEXT[NO_ASK - set.price]}","size":"${size}","side":"${downSide}",${downTail}`;
      return upFirst ? `${ofUp},${ofDown}` : `${ofDown},${ofUp}`;
    };
    const push = (changes: string) => frames.push({ custom: false, text: this.#changeFrame(changes) });
    const upFirst = this.#random.chance(0.5);
    const perFrame = this.#random.chance(SPLIT_ACTIONS) ? 1 : LEVELS_PER_FRAME;
    for (let i = 0; i < sets.length; i += perFrame) {
      push(
        sets
          .slice(i, i + perFrame)
          .map((set) => entries(set, upFirst))
          .join(','),
      );
    }
    const first = sets[0];
    if (first && sets.length === 1 && this.#random.chance(TWICE_SENT_CHANGES)) push(entries(first, !upFirst));
  }

  #changeFrame(changes: string): string {
    return (
      `{"market":"${this.#facts.conditionId}","price_changes":[${changes}],"timestamp":"${this.#changedMs}",` +
      `"event_type":"price_change"${this.#versionTail}`
    );
  }

  #pushPrints(frames: WireFrame[], prints: readonly Print[]): void {
    const books = [true, false].map((isUp) => ({ custom: false, text: this.bookFrame(isUp, false) }));
    const trades = prints.map((print) => ({
      custom: false,
      text:
        `{"market":"${this.#facts.conditionId}","asset_id":"${print.isUp ? this.#facts.upToken : this.#facts.downToken}",` +
        `"price":"${PRICE_TEXT[print.price]}","size":"${sizeText(print.size)}","fee_rate_bps":"0","side":"${print.side}",` +
        `"timestamp":"${this.#changedMs}","transaction_hash":"${print.transactionHash}",` +
        `"event_type":"last_trade_price"${this.#versionTail}`,
    }));
    // The venue does not promise which is first.
    if (this.#random.chance(0.7)) frames.push(...trades, ...books);
    else frames.push(...books, ...trades);
  }
}
