/**
 * The simulated underlying: one spot path per ticker (20-80 % annual volatility that varies, rare jumps, moves
 * shared between all of them), in steps of 100 ms, with the Chainlink-like one-second points and TWAP60 that
 * decide windows. Figures: market statistics of 2026-03 to 2026-10.
 */
import { YEAR_SECONDS } from '../core/pricing/probability.ts';
import { Random } from '../core/random.ts';
import { DEFAULT_TICKERS, type Ticker } from '../schema/market.ts';
import { CandleStore, MINUTE_MS } from './candles.ts';

export const STEP_MS = 100;
/** The venue's averaging window since 2026-08: TWAP60. */
export const TWAP_SECONDS = 60;
/** Longer than the longest daily window (25 h), so that every strike of an open window is known. */
const WARM_UP_MS = 27 * 3_600_000;
const RECENT_STEPS = 64;
const RECENT_SECONDS = 400;
const VOLATILITY = { low: 0.2, high: 0.8, median: 0.42, spread: 0.35, halfLifeSeconds: 5400 };
const SHARED_MOVE = 0.8;
const JUMPS_PER_DAY = 4;
const JUMP_MEDIAN = 0.0012;
/** Chainlink's point repeats the previous one in 2-3 % of seconds. */
const REPEATED_POINT = 0.025;

/** Prices of late 2026; `decimals` of the spot market's prices. */
const LISTED: Record<Ticker, { price: number; volatilityScale: number; decimals: number }> = {
  BTC: { price: 97_000, volatilityScale: 1, decimals: 2 },
  ETH: { price: 3_300, volatilityScale: 1.25, decimals: 2 },
  SOL: { price: 190, volatilityScale: 1.4, decimals: 2 },
  XRP: { price: 1.9, volatilityScale: 1.35, decimals: 4 },
  DOGE: { price: 0.097, volatilityScale: 1.5, decimals: 5 },
  BNB: { price: 850, volatilityScale: 1.1, decimals: 2 },
  HYPE: { price: 34, volatilityScale: 1.7, decimals: 3 },
  ZEC: { price: 420, volatilityScale: 1.8, decimals: 2 },
};
/** The futures market's prices beside the spot market's. */
const FUTURES_BASIS = 0.0003;

/** The smallest difference between two prices of the spot market. */
export function priceStep(ticker: Ticker): number {
  return 10 ** -LISTED[ticker].decimals;
}

/** A price as the spot market prints it. */
export function printPrice(ticker: Ticker, price: number): string {
  return price.toFixed(LISTED[ticker].decimals);
}

/** A price rounded as a market prints it. */
export function roundPrice(ticker: Ticker, price: number, market: 'spot' | 'futures' = 'spot'): number {
  const scale = 10 ** LISTED[ticker].decimals;
  return Math.round(price * (market === 'spot' ? 1 : 1 + FUTURES_BASIS) * scale) / scale;
}

/** One ticker's path. */
class PricePath {
  spot: number;
  volatility: number;
  readonly candles = new CandleStore();
  readonly #scale: number;
  readonly #random: Random;
  readonly #recent = new Float64Array(RECENT_STEPS);
  #steps = 0;
  readonly #points = new Float64Array(RECENT_SECONDS);
  #seconds = 0;

  constructor(seed: string, ticker: Ticker) {
    this.#random = new Random(`${seed}/path/${ticker}`);
    this.#scale = LISTED[ticker].volatilityScale;
    this.spot = LISTED[ticker].price * Math.exp(0.05 * this.#random.normal());
    this.volatility = VOLATILITY.median * this.#scale;
  }

  /** Advances the price by `seconds`; `shared` is the standard normal move that all tickers have in common. */
  step(timeMs: number, seconds: number, shared: number): void {
    const random = this.#random;
    const pull = (Math.LN2 * seconds) / VOLATILITY.halfLifeSeconds;
    const centre = Math.log(VOLATILITY.median * this.#scale);
    const wander = VOLATILITY.spread * Math.sqrt(2 * pull) * random.normal();
    const logVolatility = Math.log(this.volatility) + pull * (centre - Math.log(this.volatility)) + wander;
    this.volatility = Math.min(VOLATILITY.high, Math.max(VOLATILITY.low, Math.exp(logVolatility)));
    const own = Math.sqrt(1 - SHARED_MOVE * SHARED_MOVE) * random.normal();
    const deviation = this.volatility * Math.sqrt(seconds / YEAR_SECONDS);
    let move = deviation * (SHARED_MOVE * shared + own) - (deviation * deviation) / 2;
    if (random.chance((JUMPS_PER_DAY * seconds) / 86_400)) {
      move += random.lognormal(JUMP_MEDIAN, 0.5) * (random.chance(0.5) ? 1 : -1);
    }
    this.spot *= Math.exp(move);
    this.#recent[this.#steps++ % RECENT_STEPS] = this.spot;
    this.candles.record(timeMs, this.spot);
  }

  /** The price a number of 100 ms steps ago; at most 6.3 s. */
  lagged(steps: number): number {
    if (this.#steps === 0) return this.spot;
    const back = Math.min(steps, this.#steps - 1, RECENT_STEPS - 1);
    return this.#recent[(this.#steps - 1 - back) % RECENT_STEPS] as number;
  }

  addPoint(): void {
    const repeated = this.#seconds > 0 && this.#random.chance(REPEATED_POINT);
    const value = repeated ? this.point(0) : this.spot;
    this.#points[this.#seconds++ % RECENT_SECONDS] = value;
  }

  /** The one-second point `back` seconds before the newest. */
  point(back: number): number {
    const known = Math.min(back, this.#seconds - 1, RECENT_SECONDS - 1);
    return this.#points[(this.#seconds - 1 - known) % RECENT_SECONDS] as number;
  }

  meanOf(seconds: number, secondsBack: number): number {
    let sum = 0;
    for (let back = 0; back < seconds; back++) sum += this.point(secondsBack + back);
    return sum / seconds;
  }
}

export class PriceBoard {
  /** The priced assets. */
  readonly tickers: readonly Ticker[];
  readonly #paths: ReadonlyMap<Ticker, PricePath>;
  readonly #shared: Random;
  readonly #startMs: number;

  /**
   * @param startMs Start of the venue's time: a whole second. Earlier prices have a resolution of minutes.
   * @param tickers The priced assets. The default ones always are, so their paths do not depend on the others.
   */
  constructor(seed: string, startMs: number, tickers: readonly Ticker[] = DEFAULT_TICKERS) {
    this.#shared = new Random(`${seed}/path`);
    this.#startMs = startMs;
    this.tickers = [...new Set([...DEFAULT_TICKERS, ...tickers])];
    this.#paths = new Map(this.tickers.map((ticker) => [ticker, new PricePath(seed, ticker)]));
    this.#warmUp();
  }

  /** Advances every ticker by one step of 100 ms; at whole seconds also adds their points. */
  step(timeMs: number): void {
    const shared = this.#shared.normal();
    for (const path of this.#paths.values()) {
      path.step(timeMs, STEP_MS / 1000, shared);
      if (timeMs % 1000 === 0) path.addPoint();
    }
  }

  spot(ticker: Ticker): number {
    return this.#pathOf(ticker).spot;
  }

  lagged(ticker: Ticker, lagMs: number): number {
    return this.#pathOf(ticker).lagged(Math.round(lagMs / STEP_MS));
  }

  /** Standard deviation of log prices, per square root of a second. */
  sigma(ticker: Ticker): number {
    return this.#pathOf(ticker).volatility / Math.sqrt(YEAR_SECONDS);
  }

  /** The newest one-second point, or an earlier one. */
  point(ticker: Ticker, secondsBack = 0): number {
    return this.#pathOf(ticker).point(secondsBack);
  }

  /** Mean of the newest points, or of those some seconds ago: TWAP60 for 60. */
  meanOf(ticker: Ticker, seconds: number, secondsBack = 0): number {
    return this.#pathOf(ticker).meanOf(seconds, secondsBack);
  }

  candles(ticker: Ticker): CandleStore {
    return this.#pathOf(ticker).candles;
  }

  /** TWAP60 at a time before the venue's start, approximated from minutes. */
  pastTwap(ticker: Ticker, timeMs: number): number {
    const minute = this.#pathOf(ticker).candles.minute(timeMs - MINUTE_MS);
    return minute ? (minute.open + minute.close) / 2 : this.spot(ticker);
  }

  #pathOf(ticker: Ticker): PricePath {
    const path = this.#paths.get(ticker);
    if (path === undefined) throw new RangeError(`${ticker} is not simulated`);
    return path;
  }

  #warmUp(): void {
    const first = Math.floor((this.#startMs - WARM_UP_MS) / MINUTE_MS) * MINUTE_MS;
    // Ten-second steps give each past minute a body and wicks.
    for (let timeMs = first; timeMs < this.#startMs - 1000 * TWAP_SECONDS; timeMs += 10_000) {
      this.#stepAll(timeMs, 10);
    }
    for (let timeMs = this.#startMs - 1000 * TWAP_SECONDS; timeMs < this.#startMs; timeMs += 1000) {
      this.#stepAll(timeMs, 1);
      for (const path of this.#paths.values()) path.addPoint();
    }
    for (const { candles } of this.#paths.values()) addPastVolume(candles, this.#shared, this.#startMs);
  }

  #stepAll(timeMs: number, seconds: number): void {
    const shared = this.#shared.normal();
    for (const path of this.#paths.values()) path.step(timeMs, seconds, shared);
  }
}

function addPastVolume(candles: CandleStore, random: Random, endMs: number): void {
  for (let at = endMs - WARM_UP_MS; at < endMs; at += MINUTE_MS) {
    const minute = candles.minute(Math.floor(at / MINUTE_MS) * MINUTE_MS);
    if (!minute) continue;
    minute.volume = random.lognormal(8, 0.8);
    minute.trades = Math.round(random.lognormal(1800, 0.5));
  }
}
