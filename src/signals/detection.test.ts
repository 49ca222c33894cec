import { expect, test } from 'vitest';
import type { Signal } from '../core/signals/signal.ts';
import { VENUE_RULES_VERSION } from '../core/venueRules.ts';
import { auditIdOf, detectionOf } from './detection.ts';
import type { WatchedMarket } from './watchedMarket.ts';

const MARKET = {
  marketId: '0xaa',
  slug: 'btc-updown-5m-1',
  endTimeMs: 900,
  strikeSource: 'official',
  strikeBasis: 'listing',
};
const FEE = { rate: 0.07, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' } as const;
const BEST = { yesBid: 1, yesAsk: 2, noBid: 3, noAsk: 4 };
const LEGS = [{ token: 'yes', levels: [{ price: 4_600, size: 5 }] }] as const;
const MODEL = {
  spot: 97_001,
  strike: 97_002,
  sigmaAnnual: 0.4,
  sigmaTau: 0.001,
  logDiff: 0.002,
  secondsLeft: 120,
};

/** The row of a signal of a market with these readings. */
function rowOf(readings: { market: object; model: object; spot: object | null; sigma: object | null }) {
  const signal = {
    ...{ tier: 'stale', confidence: 'stable', direction: 'BUY_YES', fillPrice: 0.46, fillSpread: 0.02 },
    ...{ availableSize: 80, estFeePerShare: 0.017, edgePerShare: 0.03, modelYesProb: 0.51 },
    ...{ marketYesMid: 0.45, heldMs: 40, legs: LEGS, best: BEST, model: readings.model },
  };
  const watched = {
    ...{
      ticker: 'BTC',
      eventType: '5m',
      market: readings.market,
      spot: readings.spot,
      sigma: readings.sigma,
    },
    ...{ sources: { bySource: [], prices: [] }, terms: { feeRule: FEE, takerHoldMs: 150 } },
  };
  const episode = { tier: 'stable', detectedMs: 500, receivedMs: 499 } as const;
  return detectionOf(watched as unknown as WatchedMarket, signal as unknown as Signal, episode);
}

test('a row has every input of its signal, and the kind of its episode', () => {
  const spot = { price: 97_003, source: 'binance_spot', basis: 0.0001 };
  const sigma = { annual: 0.5, source: 'coinbase_spot', windowSeconds: 600 };
  expect(rowOf({ market: MARKET, model: MODEL, spot, sigma })).toEqual({
    ...{ auditId: auditIdOf('0xaa', 'stable'), detectedMs: 500, receivedMs: 499, marketId: '0xaa' },
    ...{ slug: 'btc-updown-5m-1', ticker: 'BTC', eventType: '5m', endMs: 900, tier: 'stable' },
    ...{ confidence: 'stable', direction: 'BUY_YES', fillPrice: 0.46, fillSpread: 0.02, feePerShare: 0.017 },
    ...{ evPerShare: 0.03, modelYesProb: 0.51, marketYesMid: 0.45, availableSize: 80, heldMs: 40 },
    ...{ spot: 97_001, spotSource: 'binance_spot', spotBasis: 0.0001, sourcePrices: [] },
    ...{ strike: 97_002, strikeSource: 'official', strikeBasis: 'listing', sigmaAnnual: 0.4 },
    ...{ sigmaSource: 'coinbase_spot', sigmaWindowSeconds: 600, sigmaTau: 0.001, logDiff: 0.002 },
    ...{ tauSeconds: 120, best: BEST, legs: LEGS, feeRule: FEE, takerHoldMs: 150 },
    rulesVersion: VENUE_RULES_VERSION,
  });
});

test('an input that the model did not have is null, with its source', () => {
  const model = { ...MODEL, spot: null, strike: null, sigmaAnnual: null, sigmaTau: null, logDiff: null };
  expect(rowOf({ market: MARKET, model, spot: null, sigma: null })).toMatchObject({
    ...{ spot: null, spotSource: null, spotBasis: null, strike: null, strikeSource: null, strikeBasis: null },
    ...{ sigmaAnnual: null, sigmaSource: null, sigmaWindowSeconds: null, sigmaTau: null, logDiff: null },
  });
});

test('each kind of a market has a row of its own', () => {
  expect(auditIdOf('0xaa', 'logical')).not.toBe(auditIdOf('0xaa', 'stale'));
  expect(auditIdOf('0xaa', 'logical')).not.toBe(auditIdOf('0xbb', 'logical'));
});
