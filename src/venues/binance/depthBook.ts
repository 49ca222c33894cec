import { DataGapError } from '../../runtime/errors.ts';
import type { PerpDepthEvent } from '../../schema/events.ts';
import type { Ticker } from '../../schema/market.ts';
import { DepthSide } from '../depthLadder.ts';
import { parseShape } from '../json.ts';
import { binanceMessageOf } from './mapper.ts';
import {
  type BinanceDepthSnapshot,
  type BinanceDepthUpdate,
  binanceDepthSnapshot,
  binanceDepthUpdate,
} from './messages.ts';

/** Updates kept while waiting for the snapshot: more than a minute of the fastest stream. */
const WAITING_UPDATES_MAX = 10_000;

/** Spot and futures name the previous update in different fields. */
export type BinanceMarketKind = 'spot' | 'usdm';

/**
 * One symbol's book, built from a REST snapshot and the diff stream as recordings hold them. The chain of update ids
 * proves it: futures name the previous update in `pu`, spot updates start at the last one plus 1. The first
 * update after a snapshot must enclose its `lastUpdateId`.
 * @see https://github.com/binance/binance-spot-api-docs (how to manage a local order book, read 2026-07)
 */
export class BinanceDepthBook {
  readonly #kind: BinanceMarketKind;
  readonly #symbol: string;
  readonly #bids = new DepthSide('bids');
  readonly #asks = new DepthSide('asks');
  #waiting: BinanceDepthUpdate[] = [];
  #lastUpdateId: number | null = null;
  /** A snapshot was applied and no update has followed it yet. */
  #fresh = false;

  constructor(kind: BinanceMarketKind, symbol: string) {
    this.#kind = kind;
    this.#symbol = symbol;
  }

  /** Whether the book waits for a snapshot. */
  get isWaiting(): boolean {
    return this.#lastUpdateId === null;
  }

  /**
   * Applies one text frame: a REST snapshot or a `depthUpdate`. Other frames change nothing.
   * @returns The book after the frame; null while waiting for a snapshot, for old or foreign frames, and for a spot
   *   snapshot alone, which carries no time.
   * @throws {DataGapError} When the chain is broken; the book then waits for a snapshot.
   * @throws {VenueMessageError} When a depth frame has the wrong shape.
   */
  apply(frame: string, ticker: Ticker, receivedTimeMs: number): PerpDepthEvent | null {
    const message = binanceMessageOf(frame) as { e?: unknown; lastUpdateId?: unknown } | null;
    let times: { E?: number | undefined; T?: number | undefined } | null = null;
    if (message?.e === 'depthUpdate') {
      const update = parseShape(binanceDepthUpdate, message, 'binance depthUpdate');
      if (update.s === this.#symbol && this.#update(update)) times = update;
    } else if (message?.lastUpdateId !== undefined && message.e === undefined) {
      times = this.#snapshot(parseShape(binanceDepthSnapshot, message, 'binance snapshot'));
    }
    const eventTimeMs = times?.E ?? times?.T;
    if (eventTimeMs === undefined || this.#lastUpdateId === null) return null;
    return {
      kind: 'perp_depth',
      venue: 'binance',
      ticker,
      updateId: this.#lastUpdateId,
      eventTimeMs,
      engineTimeMs: times?.T ?? null,
      receivedTimeMs,
      roundTripMs: null,
      bids: this.#bids.top(),
      asks: this.#asks.top(),
    };
  }

  /** Replaces the book, applies the updates that waited for it and returns the times of the newest part. */
  #snapshot(snapshot: BinanceDepthSnapshot): { E?: number | undefined; T?: number | undefined } {
    const waiting = this.#waiting;
    this.#reset();
    this.#bids.apply(snapshot.bids);
    this.#asks.apply(snapshot.asks);
    this.#lastUpdateId = snapshot.lastUpdateId;
    this.#fresh = true;
    let newest: { E?: number | undefined; T?: number | undefined } = snapshot;
    for (const update of waiting) if (this.#update(update)) newest = update;
    return newest;
  }

  /** Applies the next update; returns false for one older than the book or one that must wait for a snapshot. */
  #update(update: BinanceDepthUpdate): boolean {
    const last = this.#lastUpdateId;
    if (last === null) {
      if (this.#waiting.length === WAITING_UPDATES_MAX) this.#waiting.shift();
      this.#waiting.push(update);
      return false;
    }
    const old = this.#kind === 'spot' || !this.#fresh ? update.u <= last : update.u < last;
    if (old) return false;
    this.#checkChain(update, last);
    this.#bids.apply(update.b);
    this.#asks.apply(update.a);
    this.#lastUpdateId = update.u;
    this.#fresh = false;
    return true;
  }

  #checkChain(update: BinanceDepthUpdate, last: number): void {
    const next = this.#kind === 'spot' ? last + 1 : last;
    const follows = this.#fresh
      ? update.U <= next
      : this.#kind === 'spot'
        ? update.U === next
        : update.pu === last;
    if (follows) return;
    this.#reset();
    this.#waiting.push(update);
    throw new DataGapError(`binance ${this.#symbol}: update ${update.U}..${update.u} after ${last}`, {
      expectedId: next,
      receivedId: update.pu ?? update.U,
    });
  }

  #reset(): void {
    this.#bids.clear();
    this.#asks.clear();
    this.#waiting = [];
    this.#lastUpdateId = null;
    this.#fresh = false;
  }
}
