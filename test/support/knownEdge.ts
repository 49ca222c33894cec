import { TakerFee } from '../../src/core/fees.ts';
import { normalCdf } from '../../src/core/pricing/normal.ts';
import { sigmaPerSecond } from '../../src/core/pricing/probability.ts';
import { Random } from '../../src/core/random.ts';
import { MODEL_SECONDS_MIN } from '../../src/core/signals/mispricing.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { Detection } from '../../src/signals/detection.ts';
import { DetectorHost } from '../../src/signals/detectorHost.ts';
import { bookRecord, type LevelPairs, marketRecord } from './api.ts';
import { SteppedClock } from './steppedClock.ts';

const FEE = { rate: 0.07, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' } as const;
const SHARES = 100_000_000;
const SPREAD_TICKS = 200;
const WINDOW_SECONDS = 300;
const AVERAGED_SECONDS = 60;
/** Variance of the mean of the last minute's points, in seconds of the price's own variance. */
const AVERAGED_VARIANCE = averagedVariance();
/** Delay of a second's price in the relayed feed. */
const RELAY_LATE_SECONDS = 2;
const BASIS_POINT = 1e-4;
const WARM_UP_WINDOWS = 13;
const HISTORY_SECONDS = 1_024;
/** Annual volatility: its median, its spread (log), and the half-life of a deviation. */
const VOLATILITY = { median: 0.5, spread: 0.35, halfLifeWindows: 18 };
/**
 * Difference between the deciding feed and the exchange, in basis points; points of the deciding feed have additional
 * noise.
 */
const BASIS = { spread: 2, halfLifeWindows: 12, noise: 0.3 };
const START_MS = Date.UTC(2026, 10, 1);

/** A market with known edges: the simulation knows the true odds behind its quotes. */
export interface KnownMarket {
  readonly seed: string;
  readonly windows: number;
  /** How far below its worth one side of every window is offered, USDC per share after the fee. */
  readonly plantedEdge: number;
  /** Quotes follow the price of this many seconds ago. */
  readonly quotesLateSeconds: number;
  /** Age of the exchange's price when it is received. */
  readonly priceLateSeconds: number;
}

/** One row of the audit log, USDC per share after the fee. */
export interface KnownRow {
  readonly tier: Detection['tier'];
  /** The detector's value. */
  readonly stated: number;
  /** The value from the true odds of that moment. */
  readonly known: number;
  readonly realized: number;
}

/**
 * Runs the detector host over 5m windows of one ticker. Every second quotes are withdrawn, the price moves, and both
 * tokens are quoted again. One side, drawn for each window, is offered `plantedEdge` below its worth after the fee, the
 * other a spread away. Volatility and the feeds' difference change from window to window; the quotes include both.
 */
export function rowsOfKnownMarket(options: KnownMarket): KnownRow[] {
  return new KnownEdge(options).run();
}

class KnownEdge {
  readonly #options: KnownMarket;
  readonly #random: Random;
  readonly #clock = new SteppedClock(START_MS);
  readonly #host: DetectorHost;
  readonly #fee = new TakerFee(FEE);
  /** Log prices of the exchange and of the deciding feed, by second. */
  readonly #spots = new Float64Array(HISTORY_SECONDS);
  readonly #points = new Float64Array(HISTORY_SECONDS);
  readonly #rows: KnownRow[] = [];
  #found: { detection: Detection; known: number }[] = [];
  #second = 0;
  #seq = 0;
  #log = Math.log(97_000);
  #sigma = sigmaPerSecond(VOLATILITY.median);
  #sigmaLog = 0;
  #basis = 0;
  #probability = 0.5;

  constructor(options: KnownMarket) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#host = new DetectorHost({
      ...{ clock: this.#clock, metrics: new Metrics() },
      sink: {
        detected: async (detection) => this.#detected(detection),
        executable: async () => {},
      },
    });
  }

  run(): KnownRow[] {
    for (let window = 0; window < this.#options.windows + WARM_UP_WINDOWS; window++) this.#window(window);
    this.#host.close();
    return this.#rows;
  }

  #window(window: number): void {
    this.#drawVolatility();
    const marketId = `0x${window.toString(16).padStart(64, '0')}`;
    const endSecond = this.#second + WINDOW_SECONDS;
    const strike = this.#decided();
    const isWarm = window >= WARM_UP_WINDOWS;
    if (isWarm) this.#list(marketId, strike);
    const side = this.#random.chance(0.5) ? 'yes' : 'no';
    while (this.#second < endSecond) {
      if (isWarm && endSecond - this.#second >= MODEL_SECONDS_MIN) this.#quote(marketId, null);
      this.#move();
      const secondsLeft = endSecond - this.#second;
      // After the last possible purchase, so that the next window starts with a known difference between the feeds.
      if (secondsLeft === MODEL_SECONDS_MIN - 1) this.#basis = wander(this.#basis, BASIS, this.#random);
      if (!isWarm || secondsLeft < MODEL_SECONDS_MIN) continue;
      const quotedBy = Math.max(this.#second - this.#options.quotesLateSeconds, endSecond - WINDOW_SECONDS);
      this.#probability = this.#odds(this.#second, { secondsLeft, strike });
      this.#quote(marketId, { side, worth: this.#odds(quotedBy, { secondsLeft, strike }) });
    }
    this.#settle(this.#decided() >= strike);
  }

  #drawVolatility(): void {
    this.#sigmaLog = wander(this.#sigmaLog, VOLATILITY, this.#random);
    this.#sigma = sigmaPerSecond(VOLATILITY.median * Math.exp(this.#sigmaLog));
  }

  /** The deciding mean of the minute that ends now. */
  #decided(): number {
    let sum = 0;
    for (let back = 0; back < AVERAGED_SECONDS; back++) {
      sum += Math.exp(this.#points[(this.#second - back + HISTORY_SECONDS) % HISTORY_SECONDS] as number);
    }
    return sum / AVERAGED_SECONDS;
  }

  #list(marketId: string, strikePrice: number): void {
    const startTimeMs = this.#clock.now();
    this.#host.onMarket(
      marketRecord({
        ...{ marketId, startTimeMs, endTimeMs: startTimeMs + WINDOW_SECONDS * 1_000, strikePrice },
        ...{ strikeSource: 'official', strikeBasis: 'listing', takerFeeRate: FEE.rate, takerFeeExponent: 1 },
      }),
    );
  }

  /** Advances one second: the price moves and is published. */
  #move(): void {
    const random = this.#random;
    this.#second++;
    this.#clock.stepTo(START_MS + this.#second * 1_000);
    this.#log += this.#sigma * random.normal() - this.#sigma ** 2 / 2;
    const at = this.#second % HISTORY_SECONDS;
    this.#spots[at] = this.#log;
    this.#points[at] = this.#log + BASIS_POINT * (this.#basis + BASIS.noise * random.normal());
    this.#tick('chainlink', this.#points, RELAY_LATE_SECONDS);
    this.#tick('binance_spot', this.#spots, this.#options.priceLateSeconds);
  }

  #tick(source: 'chainlink' | 'binance_spot', logs: Float64Array, lateSeconds: number): void {
    const second = this.#second - lateSeconds;
    if (second < 1) return;
    const price = Math.exp(logs[second % HISTORY_SECONDS] as number);
    const eventTimeMs = START_MS + second * 1_000;
    const receivedTimeMs = this.#clock.now();
    this.#host.onPrice({ ticker: 'BTC', source, price, eventTimeMs, receivedTimeMs });
  }

  /** P(Up) from complete information, at the price of a given second. */
  #odds(second: number, { secondsLeft, strike }: { secondsLeft: number; strike: number }): number {
    const kept = keptOf(BASIS);
    const basisDeviation = BASIS_POINT * BASIS.spread * Math.sqrt(1 - kept * kept);
    const priceDeviation = this.#sigma * Math.sqrt(secondsLeft - AVERAGED_SECONDS + AVERAGED_VARIANCE);
    const deviation = Math.hypot(priceDeviation, basisDeviation);
    const level = (this.#spots[second % HISTORY_SECONDS] as number) + BASIS_POINT * kept * this.#basis;
    return normalCdf((level - Math.log(strike)) / deviation - deviation / 2);
  }

  /** Publishes both tokens' books; empty ones where `quotes` is null. */
  #quote(marketId: string, quotes: { side: 'yes' | 'no'; worth: number } | null): void {
    const empty = { yesBids: [], yesAsks: [] } as { yesBids: LevelPairs; yesAsks: LevelPairs };
    const sides = quotes === null ? empty : this.#sides(quotes);
    const timeMs = this.#clock.now() - 40;
    // Detectors skip an untrusted book, which saves half of the time.
    const trusted = quotes !== null;
    this.#host.onBook(bookRecord({ seq: ++this.#seq, marketId, timeMs, trusted, ...sides }));
  }

  #sides({ side, worth }: { side: 'yes' | 'no'; worth: number }) {
    const wanted = (side === 'yes' ? worth : 1 - worth) - this.#options.plantedEdge;
    const ask = Math.min(9_900, Math.max(SPREAD_TICKS + 100, askWorth(wanted)));
    const [asks, bids] = [[[ask, SHARES]], [[ask - SPREAD_TICKS, SHARES]]] as [LevelPairs, LevelPairs];
    const mirror = (levels: LevelPairs): LevelPairs => levels.map(([price, size]) => [10_000 - price, size]);
    return side === 'yes'
      ? { yesBids: bids, yesAsks: asks }
      : { yesBids: mirror(asks), yesAsks: mirror(bids) };
  }

  #detected(detection: Detection): Detection {
    const { direction, legs } = detection;
    const price = legs[0]?.levels[0]?.price ?? 0;
    const worth = direction === 'BUY_YES' ? this.#probability : 1 - this.#probability;
    if (direction !== 'BUY_BOTH') this.#found.push({ detection, known: this.#fee.edge(price, worth) });
    return detection;
  }

  #settle(isUp: boolean): void {
    for (const { detection, known } of this.#found) {
      const { tier, evPerShare: stated, direction, fillPrice, feePerShare } = detection;
      const paid = (direction === 'BUY_YES') === isUp ? 1 : 0;
      this.#rows.push({ tier, stated, known, realized: paid - fillPrice - feePerShare });
    }
    this.#found = [];
  }
}

/** The lowest price in ticks at which a share with its fee costs `worth` or more. */
function askWorth(worth: number): number {
  const b = 1 + FEE.rate;
  return Math.ceil(((b - Math.sqrt(b * b - 4 * FEE.rate * Math.max(worth, 0))) / (2 * FEE.rate)) * 10_000);
}

interface Wandering {
  readonly spread: number;
  readonly halfLifeWindows: number;
}

/** Share of a deviation that remains one window later. */
function keptOf({ halfLifeWindows }: Wandering): number {
  return 0.5 ** (1 / halfLifeWindows);
}

function wander(value: number, wandering: Wandering, random: Random): number {
  const kept = keptOf(wandering);
  return kept * value + wandering.spread * Math.sqrt(1 - kept * kept) * random.normal();
}

function averagedVariance(): number {
  let sum = 0;
  for (let k = 1; k <= AVERAGED_SECONDS; k++) sum += (k / AVERAGED_SECONDS) ** 2;
  return sum;
}
