import { DataGapError, VenueMessageError, VenueRefusedError } from '../../runtime/errors.ts';
import type { PerpDepthEvent } from '../../schema/events.ts';
import type { Ticker } from '../../schema/market.ts';
import { DEPTH_LEVELS_MAX, type DepthLevel, DepthSide } from '../depthLadder.ts';
import { parseJson, parseShape } from '../json.ts';
import { tickerNamed, type VenueNames } from '../symbols.ts';
import { bybitEnvelope, bybitOrderbook, bybitStreamFrame, RATE_LIMIT_CODES } from './messages.ts';

const SYMBOLS = {
  BTC: 'BTCUSDT',
  ETH: 'ETHUSDT',
  SOL: 'SOLUSDT',
  XRP: 'XRPUSDT',
  DOGE: 'DOGEUSDT',
  BNB: 'BNBUSDT',
  HYPE: 'HYPEUSDT',
  ZEC: 'ZECUSDT',
} as const satisfies VenueNames;

export function bybitSymbol(ticker: Ticker): string {
  return SYMBOLS[ticker];
}

/** Bybit refused the request with a code of its own in a readable answer. */
export class BybitRefusedError extends VenueRefusedError {
  readonly retCode: number;
  readonly isRateLimit: boolean;

  constructor(retCode: number, retMsg: string) {
    super(`bybit: retCode ${retCode}: ${retMsg}`);
    this.retCode = retCode;
    this.isRateLimit = RATE_LIMIT_CODES.has(retCode);
  }
}

/** Receive time and round trip of an answer; the round trip is null in recordings, where nobody measured it. */
interface AnswerTimes {
  readonly receivedTimeMs: number;
  readonly roundTripMs: number | null;
}

/**
 * Maps a REST order-book answer (parsed JSON).
 * @throws {BybitRefusedError} When `retCode` is not 0.
 * @throws {VenueMessageError} When the shape is wrong or the symbol is not one of ours.
 */
export function mapBybitAnswer(raw: unknown, times: AnswerTimes): PerpDepthEvent {
  const { retCode, retMsg, result } = parseShape(bybitEnvelope, raw, 'bybit answer');
  if (retCode !== 0) throw new BybitRefusedError(retCode, retMsg);
  const book = parseShape(bybitOrderbook, result, 'bybit order book');
  const ticker = tickerNamed(SYMBOLS, book.s);
  if (!ticker) throw new VenueMessageError(`bybit: an answer for ${book.s.slice(0, 40)}`);
  const { ts, cts = null } = book;
  return {
    kind: 'perp_depth',
    ticker,
    updateId: book.u,
    eventTimeMs: ts,
    engineTimeMs: cts,
    ...times,
    bids: ordered('bids', book.b),
    asks: ordered('asks', book.a),
  };
}

/**
 * One symbol's book, built from the WebSocket's `orderbook.N` frames as recordings hold them. `u` proves the chain:
 * each delta's `u` is the previous one plus 1.
 */
export class BybitDepthBook {
  readonly #bids = new DepthSide('bids');
  readonly #asks = new DepthSide('asks');
  readonly #symbol: string;
  #updateId: number | null = null;

  /** @param symbol The venue's symbol; frames of other symbols are ignored. */
  constructor(symbol: string) {
    this.#symbol = symbol;
  }

  /**
   * Applies one text frame.
   * @param ticker Copied into the event; the symbol need not belong to a ticker of ours.
   * @returns The book after the frame; null for other frames, and for a delta without a snapshot before it.
   * @throws {DataGapError} When a delta does not follow the last update; the book then waits for a snapshot.
   * @throws {VenueMessageError} When an order-book frame has the wrong shape.
   */
  apply(text: string, ticker: Ticker, receivedTimeMs: number): PerpDepthEvent | null {
    const raw = parseJson(text);
    const topic = (raw as { topic?: unknown } | null)?.topic;
    if (typeof topic !== 'string' || !/^orderbook\.\d+\./.test(topic)) return null;
    const { type, data, ts, cts = null } = parseShape(bybitStreamFrame, raw, 'bybit frame');
    if (data.s !== this.#symbol) return null;
    if (type === 'snapshot') this.#reset();
    else if (this.#updateId === null) return null;
    else this.#checkChain(this.#updateId, data.u);
    this.#bids.apply(data.b);
    this.#asks.apply(data.a);
    this.#updateId = data.u;
    return {
      kind: 'perp_depth',
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

/** Sorts levels best first and keeps at most `DEPTH_LEVELS_MAX`. The input may have any order. */
function ordered(side: 'bids' | 'asks', levels: readonly DepthLevel[]): readonly DepthLevel[] {
  const ladder = new DepthSide(side);
  ladder.apply(levels);
  return ladder.top(DEPTH_LEVELS_MAX);
}
