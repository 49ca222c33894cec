/**
 * The accuracy of prices and volatilities, by simulation: figures of docs/PRICING.md. Seeded, so every run prints the
 * same; `BENCH_PATHS` sets the paths per point (two million by default).
 */
import { probabilityUp, sigmaPerSecond } from '../src/core/pricing/probability.ts';
import { Random } from '../src/core/random.ts';
import { sigmaRatio, simulateTwap } from '../test/support/pricePaths.ts';
import type { Figure } from './figure.ts';

const PAIRS = Number(process.env.BENCH_PATHS ?? 2_000_000) / 2;
const SECONDS_LEFT = [5, 15, 25, 45, 60, 90, 120, 300];
const SIGMAS = [0.3, 1];
/** Strikes in standard deviations from the expected price. */
const DISTANCES = [-2, -1, -0.3, 0, 0.3, 1, 2];
const NOISES_BP = [0, 0.5, 1, 2];
const WINDOWS = [30, 60, 120, 300, 600, 900, 3_600];
const ROUNDS = 600;

export async function run(): Promise<Figure[]> {
  return [...twapFigures(), ...sigmaFigures()];
}

function twapFigures(): Figure[] {
  const scores: number[] = [];
  let worst = 0;
  for (const secondsLeft of SECONDS_LEFT) {
    for (const sigmaAnnual of SIGMAS) {
      for (const { score, error } of twapErrors(secondsLeft, sigmaPerSecond(sigmaAnnual))) {
        scores.push(score);
        worst = Math.max(worst, error);
      }
    }
  }
  const unit = 'std. errors';
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  return [
    {
      name: `TWAP price against simulation, worst of ${scores.length}`,
      value: Math.max(...scores),
      unit,
      goal: '<= 3',
    },
    { name: '  the mean of them (0.8 by chance)', value: mean, unit },
    { name: '  the worst in probability, x 10,000', value: worst * 10_000, unit: '' },
  ];
}

function twapErrors(secondsLeft: number, sigma: number): { score: number; error: number }[] {
  const twapSeconds = 60;
  // The elapsed part of the average is slightly above the current price.
  const insideMean = 1.0002;
  const share = Math.min(secondsLeft, twapSeconds) / twapSeconds;
  const expected = 1 * share + insideMean * (1 - share);
  const seconds = secondsLeft >= twapSeconds ? secondsLeft - 40 : secondsLeft / 3;
  const deviation = share * sigma * Math.sqrt(seconds);
  const strikes = DISTANCES.map((distance) => expected * Math.exp(distance * deviation));
  const random = new Random(`twap ${secondsLeft} ${sigma}`);
  const points = simulateTwap(
    { secondsLeft, twapSeconds, sigma, insideMean, strikes },
    { pairs: PAIRS, random },
  );
  return points.map(({ strike, probability, standardError }) => {
    const price = probabilityUp({ spot: 1, strike, secondsLeft, sigma, twapSeconds, insideMean });
    const error = Math.abs(price - probability);
    return { score: error / standardError, error };
  });
}

function sigmaFigures(): Figure[] {
  const figures: Figure[] = [];
  for (const windowSeconds of WINDOWS) {
    for (const [kind, seconds] of [
      ['first window', windowSeconds],
      ['after an hour', 3_600],
    ] as const) {
      if (kind === 'after an hour' && windowSeconds === 30) continue;
      const ratios = NOISES_BP.map((noiseBp) => {
        const random = new Random(`sigma ${windowSeconds} ${seconds} ${noiseBp}`);
        return sigmaRatio({ windowSeconds, seconds, noiseBp, rounds: ROUNDS }, random);
      });
      const worst = ratios.reduce((a, b) => (Math.abs(b.mean - 1) > Math.abs(a.mean - 1) ? b : a));
      figures.push({
        name: `sigma over ${windowSeconds} s, ${kind}: worst bias at 0-2 bp (sd ${ratios.map((r) => Math.round(100 * r.deviation)).join('/')} %)`,
        value: 100 * (worst.mean - 1),
        unit: '%',
        goal: windowSeconds >= 300 ? 'within 5' : 'within 15',
      });
    }
  }
  return figures;
}
