/** One-minute candles of a spot market, which are combined into longer ones. Times are Unix milliseconds. */
export interface Candle {
  startMs: number;
  open: number;
  high: number;
  low: number;
  close: number;
  /** In coins. */
  volume: number;
  trades: number;
}

export const MINUTE_MS = 60_000;
/** Five days: the longest look-back is a daily window of 25 hours. */
const KEPT_MINUTES = 5 * 24 * 60;

export class CandleStore {
  readonly #minutes: Candle[] = [];

  /** Records a price at a time; times must not decrease. */
  record(timeMs: number, price: number): void {
    const candle = this.#minuteOf(timeMs, price);
    candle.high = Math.max(candle.high, price);
    candle.low = Math.min(candle.low, price);
    candle.close = price;
  }

  addVolume(size: number): void {
    const last = this.#minutes.at(-1);
    if (!last) return;
    last.volume += size;
    last.trades++;
  }

  /** The candle of the minute that starts at `startMs`; null outside the kept period. */
  minute(startMs: number): Candle | null {
    const first = this.#minutes[0];
    return (first && this.#minutes[(startMs - first.startMs) / MINUTE_MS]) ?? null;
  }

  /** Candles of `lengthMs` that start in [fromMs, toMs], oldest first; the last may still be open. */
  range(lengthMs: number, fromMs: number, toMs: number): Candle[] {
    const folded: Candle[] = [];
    for (const minute of this.#minutes) {
      const startMs = Math.floor(minute.startMs / lengthMs) * lengthMs;
      if (startMs < fromMs || startMs > toMs) continue;
      const last = folded.at(-1);
      if (last?.startMs !== startMs) {
        folded.push({ ...minute, startMs });
        continue;
      }
      last.high = Math.max(last.high, minute.high);
      last.low = Math.min(last.low, minute.low);
      last.close = minute.close;
      last.volume += minute.volume;
      last.trades += minute.trades;
    }
    return folded;
  }

  #minuteOf(timeMs: number, price: number): Candle {
    const startMs = Math.floor(timeMs / MINUTE_MS) * MINUTE_MS;
    const last = this.#minutes.at(-1);
    if (last?.startMs === startMs) return last;
    // A minute opens at the close of the previous one, as on a market that never closes.
    const open = last?.close ?? price;
    const candle: Candle = { startMs, open, high: open, low: open, close: price, volume: 0, trades: 0 };
    this.#minutes.push(candle);
    if (this.#minutes.length > KEPT_MINUTES) this.#minutes.shift();
    return candle;
  }
}
