import { DataGapError, VenueMessageError } from '../../runtime/errors.ts';
import type { PerpDepthEvent } from '../../schema/events.ts';
import type { Ticker } from '../../schema/market.ts';
import { bestLevels, DepthSide } from '../depthLadder.ts';
import { parseJson, parseShape } from '../json.ts';
import { type AnswerTimes, PerpRefusedError } from '../perpVenue.ts';
import { namesBy, tickerNamed } from '../symbols.ts';
import { bybitEnvelope, bybitOrderbook, bybitStreamFrame, RATE_LIMIT_CODES } from './messages.ts';

export const BYBIT_SYMBOLS = namesBy((ticker) => `${ticker}USDT`);

export function bybitSymbol(ticker: Ticker): string {
  return BYBIT_SYMBOLS[ticker];
}

/**
 * Maps a REST order-book answer (parsed JSON).
 * @throws {PerpRefusedError} When `retCode` is not 0.
 * @throws {VenueMessageError} When the shape is wrong or the symbol is not one of ours.
 */
export function mapBybitAnswer(raw: unknown, times: AnswerTimes): PerpDepthEvent {
  const { retCode, retMsg, result } = parseShape(bybitEnvelope, raw, 'bybit answer');
  if (retCode !== 0) {
    const refusal = RATE_LIMIT_CODES.has(retCode) ? 'rate_limited' : 'refused';
    throw new PerpRefusedError(`bybit: retCode ${retCode}: ${retMsg}`, refusal);
  }
  const book = parseShape(bybitOrderbook, result, 'bybit order book');
  const ticker = tickerNamed(BYBIT_SYMBOLS, book.s);
  if (!ticker) throw new VenueMessageError(`bybit: an answer for ${book.s.slice(0, 40)}`);
  const { ts, cts = null } = book;
  return {
    kind: 'perp_depth',
    venue: 'bybit',
    ticker,
    updateId: book.u,
    eventTimeMs: ts,
    engineTimeMs: cts,
    ...times,
    bids: bestLevels('bids', book.b),
    asks: bestLevels('asks', book.a),
  };
}

/** The number of levels in a topic. */
const TOPIC = /^orderbook\.(\d+)\./;

/**
 * One symbol's book, built from the WebSocket's `orderbook.N` frames as recordings hold them. `u` proves the chain:
 * each delta's `u` is the previous one plus 1. Each depth N is a stream of its own, with its own numbers: of several in
 * one recording, the book follows the deepest.
 */
export class BybitDepthBook {
  readonly #bids = new DepthSide('bids');
  readonly #asks = new DepthSide('asks');
  readonly #symbol: string;
  #depth = 0;
  #updateId: number | null = null;

  /** @param symbol The venue's symbol; frames of other symbols are ignored. */
  constructor(symbol: string) {
    this.#symbol = symbol;
  }

  /**
   * Applies one text frame.
   * @param ticker Copied into the event; the symbol need not belong to a ticker of ours.
   * @returns The book after the frame; null for other frames and streams, and for a delta without a snapshot before it.
   * @throws {DataGapError} When a delta does not follow the last update; the book then waits for a snapshot.
   * @throws {VenueMessageError} When an order-book frame has the wrong shape.
   */
  apply(text: string, ticker: Ticker, receivedTimeMs: number): PerpDepthEvent | null {
    const raw = parseJson(text);
    const topic = (raw as { topic?: unknown } | null)?.topic;
    const [, levels] = (typeof topic === 'string' && TOPIC.exec(topic)) || [];
    if (levels === undefined) return null;
    const { type, data, ts, cts = null } = parseShape(bybitStreamFrame, raw, 'bybit frame');
    const depth = Number(levels);
    if (data.s !== this.#symbol || depth < this.#depth) return null;
    if (type === 'snapshot') this.#reset();
    else if (this.#updateId === null || depth !== this.#depth) return null;
    else this.#checkChain(this.#updateId, data.u);
    this.#bids.apply(data.b);
    this.#asks.apply(data.a);
    this.#depth = depth;
    this.#updateId = data.u;
    return {
      kind: 'perp_depth',
      venue: 'bybit',
      ticker,
      updateId: data.u,
      eventTimeMs: ts,
      engineTimeMs: cts,
      receivedTimeMs,
      roundTripMs: null,
      bids: this.#bids.top(),
      asks: this.#asks.top(),
    };
  }

  /** Number of levels kept per side; an event shows fewer. */
  get levelCounts(): { bids: number; asks: number } {
    return { bids: this.#bids.count, asks: this.#asks.count };
  }

  #checkChain(last: number, received: number): void {
    if (received === last + 1) return;
    this.#reset();
    throw new DataGapError(`bybit ${this.#symbol}: update ${received} after ${last}`, {
      expectedId: last + 1,
      receivedId: received,
    });
  }

  #reset(): void {
    this.#bids.clear();
    this.#asks.clear();
    this.#updateId = null;
  }
}
