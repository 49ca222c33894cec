import type { BackoffLimits } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import { UnderroundError, VenueRefusedError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import { Backoff } from '../runtime/reconnectBackoff.ts';
import type { CandleExchange } from '../venues/binance/candleSource.ts';
import type { CandleQuery, Kline } from '../venues/binance/klines.ts';

/** A candle exists moments after it opens; a missing one, or a failure, is retried with growing delays. */
const CANDLE_RETRY: BackoffLimits = { firstMs: 3_000, maxMs: 60_000 };
/** The exchange stamps trades a moment late; an earlier request would find nothing. */
const FIRST_ASK_AFTER_MS = 1_500;
/** A day of hourly and daily windows of eight assets needs 400 candles. */
const CANDLES_KEPT_MAX = 1_000;

/** The part of the candle interface that strikes need. */
export interface Candles {
  candle(query: CandleQuery): Promise<Kline | null>;
}

interface WantedCandle extends CandleQuery {
  readonly price: 'open' | 'close';
}

interface Entry {
  candle: Kline | null;
  asking: boolean;
  readonly backoff: Backoff;
}

/** Caches candles and requests missing ones, at most one request per candle at a time. */
export class CandleCache {
  readonly #options: { candles: Candles; clock: Clock; random: () => number; log: Logger };
  readonly #entries = new Map<string, Entry>();
  /** Until when an exchange wants no request from this address; monotonic. */
  readonly #pausedUntil = new Map<CandleExchange, number>();

  constructor(options: { candles: Candles; clock: Clock; random: () => number; log: Logger }) {
    this.#options = options;
  }

  /** Returns the price if it is final by now; otherwise null, and requests it. */
  finalPrice(wanted: WantedCandle, nowMs: number): number | null {
    const lengthMs = wanted.interval === '1h' ? 3_600_000 : 60_000;
    const dueMs = wanted.startTimeMs + (wanted.price === 'open' ? 0 : lengthMs) + FIRST_ASK_AFTER_MS;
    if (nowMs < dueMs) return null;
    const key = `${wanted.exchange}/${wanted.ticker}/${wanted.interval}/${wanted.startTimeMs}`;
    const entry = this.#entryOf(key);
    const { candle } = entry;
    if (candle !== null && (candle.closed || wanted.price === 'open')) return candle[wanted.price];
    const nowAt = this.#options.clock.monotonic();
    const isPaused = nowAt < (this.#pausedUntil.get(wanted.exchange) ?? 0);
    if (!entry.asking && !isPaused && entry.backoff.ready(nowAt)) void this.#ask(entry, wanted);
    return null;
  }

  async #ask(entry: Entry, wanted: WantedCandle): Promise<void> {
    const { candles, clock, log } = this.#options;
    const { exchange, ticker, interval, startTimeMs } = wanted;
    entry.asking = true;
    try {
      entry.candle = await candles.candle({ exchange, ticker, interval, startTimeMs });
      if (entry.candle === null || !(entry.candle.closed || wanted.price === 'open')) {
        entry.backoff.failed(clock.monotonic());
      }
    } catch (error) {
      if (!(error instanceof UnderroundError)) throw error;
      // Requests during a ban make it longer.
      const pauseMs = error instanceof VenueRefusedError ? (error.retryAfterMs ?? 0) : 0;
      const nowAt = clock.monotonic();
      const pausedUntil = Math.max(this.#pausedUntil.get(exchange) ?? 0, nowAt + pauseMs);
      if (pauseMs > 0) this.#pausedUntil.set(exchange, pausedUntil);
      const retryInMs = entry.backoff.failed(nowAt, pauseMs);
      const { code, message: reason } = error;
      log.warn({ exchange, ticker, interval, startTimeMs, code, reason, retryInMs }, 'candle.failed');
    } finally {
      entry.asking = false;
    }
  }

  #entryOf(key: string): Entry {
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    if (this.#entries.size >= CANDLES_KEPT_MAX) {
      this.#entries.delete(this.#entries.keys().next().value as string);
    }
    const entry: Entry = {
      candle: null,
      asking: false,
      backoff: new Backoff(CANDLE_RETRY, this.#options.random),
    };
    this.#entries.set(key, entry);
    return entry;
  }
}
