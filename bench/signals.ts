/** The detectors on a full book: the cost of one book change and of one tick of the underlying before publication. */
import { TakerFee } from '../src/core/fees.ts';
import { LadderSide } from '../src/core/ladderSide.ts';
import { VolatilityEstimator } from '../src/core/pricing/volatilityEstimator.ts';
import { Random } from '../src/core/random.ts';
import { BestPriceAge } from '../src/core/signals/bestPriceAge.ts';
import { detectEndgame } from '../src/core/signals/endgame.ts';
import { FairValueModel } from '../src/core/signals/fairValueModel.ts';
import { detectLogical } from '../src/core/signals/logical.ts';
import { detectMispricing } from '../src/core/signals/mispricing.ts';
import type { MarketState } from '../src/core/signals/signal.ts';
import type { Figure } from './figure.ts';

const CHANGES = 2_000_000;
const TIMED = 200_000;
const END_MS = 1_795_176_300_000;
const LEVELS = 99;

/** A market at the money in its last two minutes: every detector evaluates it, none finds a signal. */
class Bench {
  readonly #random = new Random('signals');
  readonly #book = { yes: token(), no: token() };
  readonly #holds = new BestPriceAge();
  readonly #model = new FairValueModel({
    endTimeMs: END_MS,
    settlement: { kind: 'chainlink_twap', lookbackSeconds: 60, tie: 'up' },
  });
  readonly #readings = {
    ...{ nowMs: END_MS - 100_000, strike: 97_000, spot: 97_000, sigmaAnnual: 0.5, insideMean: null },
  };
  readonly #state: MarketState = {
    ...{ eventType: '5m', trusted: true, ...this.#book, model: this.#model, priceAge: this.#holds },
    fee: new TakerFee({ rate: 0.07, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' }),
    sourcePrices: [97_000, 97_001],
    nowMs: END_MS - 100_000,
  };
  readonly #noBid: number;
  signals = 0;

  /** @param noBid The best bid for NO in cents: 50 mirrors YES, below that the pair costs less than 1. */
  constructor(noBid: number) {
    this.#noBid = noBid * 100;
    for (let cent = 1; cent <= LEVELS; cent++) this.#set(cent * 100, this.#size());
  }

  change(): void {
    this.#set((1 + this.#random.below(LEVELS)) * 100, this.#size());
    this.#readings.nowMs = END_MS - 120_000 + this.#random.below(90_000);
    this.detect();
  }

  detect(): void {
    const state = this.#state;
    this.#model.update(this.#readings);
    this.#holds.update(this.#book, this.#readings.nowMs);
    if (detectLogical(state) !== null) this.signals++;
    if (detectEndgame(state) !== null) this.signals++;
    if (detectMispricing(state) !== null) this.signals++;
  }

  /** Sets a level of each token: YES has bids below 50 cents and asks from there up. */
  #set(price: number, size: number): void {
    const { yes, no } = this.#book;
    (price < 5_000 ? yes.bids : yes.asks).set(price, size);
    (price <= this.#noBid ? no.bids : no.asks).set(price, size);
  }

  #size(): number {
    return (1 + this.#random.below(500)) * 1_000_000;
  }
}

function token() {
  return { bids: new LadderSide('bids'), asks: new LadderSide('asks') };
}

function perSecond(count: number, run: () => void): number {
  const started = performance.now();
  run();
  return (count * 1_000) / (performance.now() - started);
}

/** Nanoseconds of the 99th percentile. */
function p99(count: number, run: () => void): number {
  const times = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const started = process.hrtime.bigint();
    run();
    times[i] = Number(process.hrtime.bigint() - started);
  }
  return times.sort()[Math.floor(0.99 * count)] as number;
}

export async function run(): Promise<Figure[]> {
  const bench = new Bench(50);
  const cheap = new Bench(40);
  for (let i = 0; i < 50_000; i++) {
    bench.change();
    cheap.change();
  }
  const heap = process.memoryUsage().heapUsed;
  const rate = perSecond(CHANGES, () => {
    for (let i = 0; i < CHANGES; i++) bench.detect();
  });
  const grown = (process.memoryUsage().heapUsed - heap) / CHANGES;
  const quiet = p99(TIMED, () => bench.change());
  if (bench.signals > 0) throw new Error(`${bench.signals} signals in a mirrored book`);
  const loud = p99(TIMED, () => cheap.change());
  if (cheap.signals < TIMED) throw new Error(`${cheap.signals} signals, one a change was due`);
  const estimator = new VolatilityEstimator();
  const random = new Random('sigma');
  const push = perSecond(1_000_000, () => {
    for (let i = 0; i < 1_000_000; i++) estimator.push(i * 1_000, 97_000 + random.below(100));
  });
  const sigma = perSecond(5_000, () => {
    for (let i = 0; i < 5_000; i++) estimator.sigmaAnnual(60 + (i % 3_540));
  });
  return [
    { name: 'model and three detectors, nothing to say', value: rate, unit: 'changes/s', goal: '>= 10,000' },
    { name: '  memory they take a change', value: Math.max(0, grown), unit: 'bytes' },
    { name: 'book change and detection, p99', value: quiet / 1_000, unit: 'us', goal: '<= 100' },
    { name: '  with a pair below 1 to be seen, p99', value: loud / 1_000, unit: 'us', goal: '<= 100' },
    { name: 'prices into the volatility record', value: push, unit: 'prices/s' },
    { name: 'sigma over any window of the hour', value: sigma, unit: 'sigmas/s', goal: '>= 10,000' },
  ];
}
