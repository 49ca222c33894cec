/** Recorded frames of a period of simulated time, generated at full speed, in receive order. */
import type { Ticker } from '../schema/market.ts';
import { gammaEvent } from './gammaObjects.ts';
import type { SimulatedMarket } from './markets.ts';
import type { VenueModel, VenueSink } from './model.ts';
import { PERP_FORMATS } from './perpAnswers.ts';
import { relayFrame } from './relay.ts';
import { spotTradeFrame } from './spotFrames.ts';

export type RecordedFeed =
  | 'polymarket.clob'
  | 'polymarket.gamma'
  | 'polymarket.rtds'
  | 'binance.spot'
  | 'bybit.rest';

export interface RecordedFrame {
  /** Unix milliseconds; never decreases from one frame to the next. */
  readonly receivedTimeMs: number;
  readonly feed: RecordedFeed;
  readonly frame: string;
}

interface HistoryOptions {
  readonly endTimeMs: number;
  /** Interval between polls of each perpetual's depth; default 1.5 s. */
  readonly perpPeriodMs?: number;
  readonly tickers?: readonly Ticker[];
}

const PERP_PERIOD_MS = 1500;
/** Simulated time generated at once: bounds the frames in memory. */
const SLICE_MS = 500;

/**
 * Advances the model to `endTimeMs` and yields the frames that a recorder would have received: market listings, book
 * snapshots when each window starts, every later frame, prices, and perpetual depth.
 */
export function* generateHistory(
  model: VenueModel,
  options: HistoryOptions,
): Generator<RecordedFrame, void, void> {
  const { endTimeMs, perpPeriodMs = PERP_PERIOD_MS, tickers = model.prices.tickers } = options;
  const sink = new RecordingSink(model);
  let nextPollMs = model.nowMs + perpPeriodMs;
  for (let fromMs = model.nowMs; fromMs < endTimeMs; ) {
    const toMs = Math.min(endTimeMs, fromMs + SLICE_MS, nextPollMs);
    model.advance(toMs, sink);
    yield* sink.drain();
    if (toMs >= nextPollMs) {
      for (const ticker of tickers) {
        yield {
          receivedTimeMs: Math.floor(toMs),
          feed: 'bybit.rest',
          frame: PERP_FORMATS.bybit.book(model.perp.poll(ticker, toMs)),
        };
      }
      nextPollMs += perpPeriodMs;
    }
    fromMs = toMs;
  }
}

/** The listing and books of every open market, which a recorder receives when it starts at the model's current time. */
export function inPlayFrames(model: VenueModel): RecordedFrame[] {
  const sink = new RecordingSink(model);
  for (const market of model.playing) sink.entered(Math.floor(model.nowMs), market);
  return sink.drain();
}

class RecordingSink implements VenueSink {
  readonly #model: VenueModel;
  #frames: RecordedFrame[] = [];

  constructor(model: VenueModel) {
    this.#model = model;
  }

  drain(): RecordedFrame[] {
    const drained = this.#frames;
    this.#frames = [];
    return drained;
  }

  clob(atMs: number, _market: SimulatedMarket | null, frame: string): void {
    this.#push(atMs, 'polymarket.clob', frame);
  }

  relay(atMs: number, point: Parameters<VenueSink['relay']>[1]): void {
    this.#push(atMs, 'polymarket.rtds', relayFrame(point, atMs));
  }

  spot(atMs: number, trade: Parameters<VenueSink['spot']>[1]): void {
    this.#push(atMs, 'binance.spot', spotTradeFrame(trade, 'trade'));
  }

  entered(atMs: number, market: SimulatedMarket): void {
    this.#push(atMs, 'polymarket.gamma', JSON.stringify([gammaEvent(market, atMs)]));
    const book = this.#model.bookOf(market)?.book;
    if (book)
      this.#push(atMs, 'polymarket.clob', `[${book.bookFrame(true, true)},${book.bookFrame(false, true)}]`);
  }

  final(atMs: number, market: SimulatedMarket): void {
    this.#push(atMs, 'polymarket.gamma', JSON.stringify([gammaEvent(market, atMs)]));
  }

  stated(atMs: number, market: SimulatedMarket): void {
    this.#push(atMs, 'polymarket.gamma', JSON.stringify([gammaEvent(market, atMs)]));
  }

  #push(receivedTimeMs: number, feed: RecordedFeed, frame: string): void {
    this.#frames.push({ receivedTimeMs, feed, frame });
  }
}
