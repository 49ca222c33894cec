import type { Random } from '../../../src/core/random.ts';
import type { Market } from '../../../src/schema/market.ts';
import type { ProtocolVersion } from '../../../src/schema/protocol.ts';
import { WireMarket } from '../../support/wire.ts';

const SHARE = 1_000_000;
const CENT = 100;
const LEVELS = 4;
/** The mid stays within these prices, in ticks. */
const MID_MIN = 3_000;
const MID_MAX = 7_000;

type Side = 'BUY' | 'SELL';
interface Change {
  readonly side: Side;
  readonly price: number;
  readonly size: number;
}

/** The venue's book after one of its actions. */
interface TruthState {
  readonly timeMs: number;
  readonly ladder: string;
}

/** One market of the venue: its book, and the truth about every state that it had. */
export class VenueMarket {
  readonly market: Market;
  readonly wire: WireMarket;
  /** Mean pause between two actions. */
  readonly pauseMs: number;
  readonly states: TruthState[] = [];
  readonly byTime = new Map<number, string>();
  actedMs: number;
  isResolved = false;
  readonly #random: Random;
  #mid: number;
  #sizes = 0;
  /** Levels that the last action changed: an action never hides the one before. */
  #touched = new Set<string>();
  /** The same of the last action that changed any: one without changes may lie between. */
  #lastChanged = new Set<string>();

  constructor(
    market: Market,
    options: { random: Random; version: ProtocolVersion; nowMs: number; pauseMs: number; mid: number },
  ) {
    this.market = market;
    this.wire = new WireMarket(market, options.version);
    this.#random = options.random;
    this.pauseMs = options.pauseMs;
    this.#mid = options.mid;
    this.actedMs = options.nowMs;
    for (let at = 1; at <= LEVELS; at++) {
      this.wire.set({ side: 'BUY', price: this.#mid - at * CENT, size: this.#size() });
      this.wire.set({ side: 'SELL', price: this.#mid + at * CENT, size: this.#size() });
    }
    this.#note();
  }

  /** The frames of the venue's next action. Two actions have different times. */
  act(nowMs: number): string[] {
    const random = this.#random;
    this.actedMs = Math.max(nowMs, this.actedMs + 1);
    const trade = random.chance(0.08) ? [this.#trade()] : [];
    const count = 1 + random.below(2);
    const changes: Change[] = [];
    for (let n = 0; n < count; n++) {
      const change = this.#change(changes);
      if (change !== null) changes.push(change);
    }
    while (this.#hidesLastState(changes)) changes.pop();
    const frames = this.wire.action(this.actedMs, changes);
    this.#touched = new Set(changes.map(nameOf));
    if (changes.length > 0) this.#note();
    // The same book at another time.
    else this.byTime.set(this.actedMs, this.states.at(-1)?.ladder ?? '');
    return [...trade, ...frames];
  }

  /** Removes every level of a side but those that the last action set; the other side remains. */
  empty(nowMs: number, side: Side): string[] {
    const { bids, asks } = this.wire;
    const levels = JSON.parse((side === 'BUY' ? bids : asks).toWireJson()) as { price: string }[];
    const changes = levels
      .map(({ price }) => ({ side, price: Math.round(Number(price) * 10_000), size: 0 }))
      .filter((change) => !this.#touched.has(nameOf(change)));
    if (changes.length === 0 || this.#hidesLastState(changes)) return [];
    this.actedMs = Math.max(nowMs, this.actedMs + 1);
    const frames = this.wire.action(this.actedMs, changes);
    this.#touched = new Set(changes.map(nameOf));
    this.#note();
    return frames;
  }

  /** The message that names the winner. */
  resolve(nowMs: number): string {
    this.isResolved = true;
    const { marketId, yesTokenId, noTokenId } = this.market;
    return JSON.stringify({
      market: marketId,
      assets_ids: [yesTokenId, noTokenId],
      winning_asset_id: yesTokenId,
      winning_outcome: 'Up',
      timestamp: String(nowMs),
      event_type: 'market_resolved',
    });
  }

  #trade(): string {
    const price = this.#mid + (this.#random.chance(0.5) ? CENT : -CENT);
    const id = `0x${this.#random.bits().toString(16)}${this.#sizes++}`;
    return this.wire.trade(this.actedMs, { price, size: this.#size(), id });
  }

  /** One level within a few cents of the mid is set or removed; the book never crosses. */
  #change(before: readonly Change[]): Change | null {
    const random = this.#random;
    if (before.length === 0 && random.chance(0.15)) this.#move();
    const side: Side = random.chance(0.5) ? 'BUY' : 'SELL';
    const distance = (1 + random.below(LEVELS)) * CENT;
    const price = side === 'BUY' ? this.#mid - distance : this.#mid + distance;
    const own = side === 'BUY' ? this.wire.bids : this.wire.asks;
    const other = side === 'BUY' ? this.wire.asks : this.wire.bids;
    const isCrossing = other.best !== null && (side === 'BUY' ? price >= other.best : price <= other.best);
    const change = { side, price, size: this.#size() };
    const isTouched =
      this.#touched.has(nameOf(change)) || before.some((one) => nameOf(one) === nameOf(change));
    if (isCrossing || isTouched) return this.#removal(side, before);
    return own.best === price && random.chance(0.3) ? { ...change, size: 0 } : change;
  }

  /** Removes the best level of the other side. */
  #removal(side: Side, before: readonly Change[]): Change | null {
    const removed: Side = side === 'BUY' ? 'SELL' : 'BUY';
    const best = (removed === 'BUY' ? this.wire.bids : this.wire.asks).best;
    if (best === null) return null;
    const change = { side: removed, price: best, size: 0 };
    const isTouched =
      this.#touched.has(nameOf(change)) || before.some((one) => nameOf(one) === nameOf(change));
    return isTouched ? null : change;
  }

  #move(): void {
    const moved = this.#mid + (this.#random.chance(0.5) ? CENT : -CENT);
    this.#mid = Math.min(MID_MAX, Math.max(MID_MIN, moved));
  }

  /** Each size is set once, so that two states of a book differ. */
  #size(): number {
    return (5 + (++this.#sizes % 5_000)) * SHARE;
  }

  /** Whether all levels of the last state are set again. If its frames are lost, no hash shows it. */
  #hidesLastState(changes: readonly Change[]): boolean {
    const names = new Set(changes.map(nameOf));
    return this.#lastChanged.size > 0 && [...this.#lastChanged].every((name) => names.has(name));
  }

  #note(): void {
    this.#lastChanged = this.#touched;
    const ladder = `${this.wire.bids.toWireJson()} ${this.wire.asks.toWireJson()}`;
    this.states.push({ timeMs: this.actedMs, ladder });
    this.byTime.set(this.actedMs, ladder);
  }
}

function nameOf({ side, price }: Pick<Change, 'side' | 'price'>): string {
  return `${side} ${price}`;
}
