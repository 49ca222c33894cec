/**
 * The venue's price streams as sent by its relay: 1.1-2.2 s late, with lost seconds and occasional minutes
 * of silence. Binance prices arrive 0.8 s late on the same relay.
 */

import { Random } from '../core/random.ts';
import type { Ticker } from '../schema/market.ts';
import { type PriceBoard, roundPrice, TWAP_SECONDS } from './prices.ts';
import type { Schedule } from './schedule.ts';

export type RelayTopic = 'crypto_prices' | 'crypto_prices_chainlink' | 'crypto_prices_twap_sixty';

export interface RelayPoint {
  readonly topic: RelayTopic;
  readonly ticker: Ticker;
  /** The second of the price, Unix milliseconds. */
  readonly timestampMs: number;
  readonly value: number;
}

const LOST = 0.05;
/** About 75 silences of more than 5 s a day; the longest seen lasted 387 s. */
const SILENCES_PER_SECOND = 75 / 86_400;
const SILENCE_MS_MAX = 387_000;

export function relaySymbol(topic: RelayTopic, ticker: Ticker): string {
  const name = ticker.toLowerCase();
  return topic === 'crypto_prices' ? `${name}usdt` : `${name}/usd`;
}

/** One update in the relay's format. */
export function relayFrame(point: RelayPoint, sentMs: number): string {
  const rest = point.topic === 'crypto_prices_twap_sixty' ? `,"window_s":${TWAP_SECONDS}` : '';
  return (
    `{"topic":"${point.topic}","type":"update","timestamp":${sentMs},"payload":{` +
    `"symbol":"${relaySymbol(point.topic, point.ticker)}","timestamp":${point.timestampMs},` +
    `"value":${point.value},"full_accuracy_value":"${fullAccuracy(point)}"${rest}}}`
  );
}

/** Binance prices with 8 decimals; Chainlink's as an integer times 1e18. */
function fullAccuracy(point: RelayPoint): string {
  if (point.topic === 'crypto_prices') return point.value.toFixed(8);
  return `${BigInt(Math.round(point.value * 1e9)) * 1_000_000_000n}`;
}

export class Relay {
  readonly #prices: PriceBoard;
  readonly #schedule: Schedule;
  readonly #emit: (atMs: number, point: RelayPoint) => void;
  readonly #random: Random;
  readonly #silentUntilMs = new Map<Ticker, number>();
  readonly #lastArrivalMs = new Map<string, number>();

  constructor(
    seed: string,
    options: { prices: PriceBoard; schedule: Schedule; emit: (atMs: number, point: RelayPoint) => void },
  ) {
    this.#random = new Random(`${seed}/relay`);
    this.#prices = options.prices;
    this.#schedule = options.schedule;
    this.#emit = options.emit;
  }

  /** Call it once a second, after the points of that second exist. */
  second(nowMs: number): void {
    for (const ticker of this.#prices.tickers) {
      if (this.#random.chance(SILENCES_PER_SECOND)) {
        const lengthMs = Math.min(SILENCE_MS_MAX, 5000 + this.#random.lognormal(5000, 1.1));
        this.#silentUntilMs.set(ticker, nowMs + lengthMs);
      }
      const point = this.#prices.point(ticker);
      const twap = this.#prices.meanOf(ticker, TWAP_SECONDS);
      this.#send(nowMs, {
        topic: 'crypto_prices',
        ticker,
        value: roundPrice(ticker, this.#prices.spot(ticker)),
      });
      this.#send(nowMs, { topic: 'crypto_prices_chainlink', ticker, value: exact(point) });
      this.#send(nowMs, { topic: 'crypto_prices_twap_sixty', ticker, value: exact(twap) });
    }
  }

  #send(nowMs: number, point: Omit<RelayPoint, 'timestampMs'>): void {
    const isLost = this.#random.chance(LOST) || nowMs < (this.#silentUntilMs.get(point.ticker) ?? 0);
    const isBinance = point.topic === 'crypto_prices';
    const delayMs = isBinance
      ? this.#random.lognormal(800, 0.15)
      : Math.min(2400, 1000 + this.#random.lognormal(400, 0.5));
    if (isLost) return;
    const key = `${point.topic}/${point.ticker}`;
    const arrivalMs = Math.round(Math.max(nowMs + delayMs, this.#lastArrivalMs.get(key) ?? 0));
    this.#lastArrivalMs.set(key, arrivalMs);
    this.#schedule.at(arrivalMs, (atMs) => this.#emit(atMs, { ...point, timestampMs: nowMs }));
  }
}

/** Rounds to nine decimals, the precision of strike and close. */
export function exact(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}
