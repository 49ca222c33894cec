/** Trades of the spot market: about 35 a second for BTC, fewer for the others, in bursts around the path. */

import { Random } from '../core/random.ts';
import type { Ticker } from '../schema/market.ts';
import { type PriceBoard, printPrice } from './prices.ts';
import type { Schedule } from './schedule.ts';

export interface SpotTrade {
  readonly ticker: Ticker;
  readonly tradeId: number;
  /** "97000.12" */
  readonly price: string;
  readonly size: string;
  /** The buyer is the maker: the taker sold. */
  readonly buyerIsMaker: boolean;
  /** The venue's time of the trade. */
  readonly tradeMs: number;
}

const TRADES_PER_SECOND: Record<Ticker, number> = {
  BTC: 35,
  ETH: 18,
  SOL: 9,
  XRP: 8,
  DOGE: 5,
  BNB: 6,
  HYPE: 2,
  ZEC: 2,
};
const SIZE_MEDIAN: Record<Ticker, number> = {
  BTC: 0.004,
  ETH: 0.08,
  SOL: 1.5,
  XRP: 120,
  DOGE: 1_500,
  BNB: 0.3,
  HYPE: 8,
  ZEC: 0.6,
};
/** With low density, trades still show the price about once a second. */
const MIN_TRADES_PER_SECOND = 1;
const HALF_SPREAD = 0.000001;
const LATENCY_MS = { low: 4, high: 18 };

interface SpotTapeOptions {
  readonly prices: PriceBoard;
  readonly schedule: Schedule;
  readonly tickers: readonly Ticker[];
  density(): number;
  emit(atMs: number, trade: SpotTrade): void;
}

export class SpotTape {
  readonly #options: SpotTapeOptions;
  readonly #seed: string;

  constructor(seed: string, options: SpotTapeOptions) {
    this.#seed = seed;
    this.#options = options;
  }

  start(): void {
    for (const ticker of this.#options.tickers) this.#run(ticker);
  }

  #run(ticker: Ticker): void {
    const { prices, schedule, density, emit } = this.#options;
    const random = new Random(`${this.#seed}/tape/${ticker}`);
    let tradeId = 4_000_000_000 + random.below(1_000_000_000);
    let lastTradeMs = 0;
    const trade = (atMs: number): void => {
      const rate = Math.max(MIN_TRADES_PER_SECOND, TRADES_PER_SECOND[ticker] * density());
      schedule.at(atMs + random.exponential(1000 / rate), trade);
      const buyerIsMaker = random.chance(0.5);
      const price = prices.spot(ticker) * (1 + (buyerIsMaker ? -HALF_SPREAD : HALF_SPREAD));
      const size = random.lognormal(SIZE_MEDIAN[ticker], 1.6);
      prices.candles(ticker).addVolume(size);
      lastTradeMs = Math.max(lastTradeMs, Math.floor(atMs - random.uniform(LATENCY_MS.low, LATENCY_MS.high)));
      tradeId++;
      emit(atMs, {
        ticker,
        tradeId,
        price: printPrice(ticker, price),
        size: size.toFixed(5),
        buyerIsMaker,
        tradeMs: lastTradeMs,
      });
    };
    schedule.at(schedule.nowMs + 50, trade);
  }
}
