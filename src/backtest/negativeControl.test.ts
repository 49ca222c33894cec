/**
 * Negative controls: worthless strategies must not pass, and confidence intervals must cover the true value at their
 * stated rate. `npm run bench -- honesty` runs more of them.
 */
import { describe, expect, test } from 'vitest';
import { fairMarketPasses, shuffledCoverage, shuffledPasses } from '../../test/support/negativeControls.ts';

describe.each([40, 100])('with fair prices on %i markets', (markets) => {
  test('at most 5 % of sweeps over worthless strategies pass, wide, zoomed in on the best cell, or with expensive bets', () => {
    const rates = fairMarketPasses({ markets, seeds: 15 });
    expect(Object.entries(rates).filter(([, rate]) => rate > 0.05)).toEqual([]);
  });
});

test('with outcomes shuffled between markets at most 5 % of sweeps pass; with the real outcomes, nearly all do', () => {
  const { own, shuffled } = shuffledPasses({ markets: 300, seeds: 30 });
  expect(shuffled).toBeLessThanOrEqual(0.05);
  expect(own).toBeGreaterThan(0.9);
});

describe.each([40, 150])('with outcomes shuffled between %i markets', (markets) => {
  test('the 95 % intervals of P&L and Sharpe cover zero in 93 to 97 % of runs, that of the win rate one half', () => {
    for (const [name, share] of Object.entries(shuffledCoverage({ markets, seeds: 600 }))) {
      expect(share, name).toBeGreaterThanOrEqual(0.93);
      expect(share, name).toBeLessThanOrEqual(0.97);
    }
  });
});
