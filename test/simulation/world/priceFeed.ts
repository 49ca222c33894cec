import { Random } from '../../../src/core/random.ts';
import type { UnderlyingEvent, UnderlyingSource } from '../../../src/schema/events.ts';
import { SEQS_PER_MILLISECOND } from '../../../src/schema/records.ts';
import { STRIKE } from './markets.ts';
import type { StoredRow } from './storeModel.ts';
import type { VirtualTime } from './virtualTime.ts';

const PERIOD_MS = 1_000;
const LATENCY_MS = 30;
/** A fraction of the price a second. */
const MOVE = 0.00002;
/** Volatility needs ten minutes. */
const HISTORY_SECONDS = 700;
const SOURCES: readonly UnderlyingSource[] = ['chainlink', 'binance_spot'];

/** The price of BTC from two feeds, once a second: far enough above the strike to decide a window near its end. */
export class PriceFeed {
  readonly faults = { lateByMs: 0 };
  readonly #time: VirtualTime;
  readonly #startMs: number;
  readonly #clock: { now(): number };
  readonly #random: Random;
  readonly #deliver: (price: UnderlyingEvent) => void;
  #price = STRIKE * 1.002;

  constructor(
    parts: { time: VirtualTime; startMs: number; seed: number; clock: { now(): number } },
    deliver: (price: UnderlyingEvent) => void,
  ) {
    this.#time = parts.time;
    this.#startMs = parts.startMs;
    this.#clock = parts.clock;
    this.#random = new Random(`prices ${parts.seed}`);
    this.#deliver = deliver;
    this.#tick();
  }

  /** Stored prices from before the start. */
  history(): StoredRow[] {
    const rows: StoredRow[] = [];
    let price = this.#price;
    for (let second = HISTORY_SECONDS; second > 0; second--) {
      const eventTimeMs = this.#startMs - second * PERIOD_MS;
      price *= 1 + MOVE * this.#random.normal();
      for (const [at, source] of SOURCES.entries()) {
        const seq = eventTimeMs * SEQS_PER_MILLISECOND + at;
        const times = { eventTimeMs, receivedTimeMs: eventTimeMs + LATENCY_MS };
        const record = { kind: 'underlying', ticker: 'BTC', source, price, ...times, seq } as const;
        rows.push({ kind: 'underlying', record });
      }
    }
    return rows;
  }

  #tick(): void {
    this.#time.after(PERIOD_MS, () => this.#tick());
    this.#price *= 1 + MOVE * this.#random.normal();
    const eventTimeMs = this.#startMs + this.#time.nowMs;
    const price = Math.round(this.#price * 100) / 100;
    for (const source of SOURCES) {
      const delayMs = LATENCY_MS + this.#random.below(LATENCY_MS) + this.faults.lateByMs;
      this.#time.after(delayMs, () => {
        const receivedTimeMs = this.#clock.now();
        this.#deliver({ kind: 'underlying', ticker: 'BTC', source, price, eventTimeMs, receivedTimeMs });
      });
    }
  }
}
