import type { Detection } from '../../src/signals/detection.ts';
import { auditIdOf } from '../../src/signals/detection.ts';
import { T0 } from './signalRig.ts';

/** A detected pair at 0.46 and 0.47, with the given changes. */
export function detection(changes: Partial<Detection> = {}): Detection {
  const marketId = changes.marketId ?? `0x${'1'.repeat(64)}`;
  const tier = changes.tier ?? 'logical';
  return {
    auditId: auditIdOf(marketId, tier),
    ...{ detectedMs: T0 + 10_000, receivedMs: T0 + 9_999, marketId, slug: 'btc-updown-5m-1' },
    ...{ ticker: 'BTC', eventType: '5m', endMs: T0 + 300_000, tier, confidence: 'stale' },
    ...{ direction: 'BUY_BOTH', fillPrice: 0.93, fillSpread: 0.91, feePerShare: 0.034825 },
    ...{ evPerShare: 0.035175, modelYesProb: 0.49, marketYesMid: null, availableSize: 80, heldMs: 0 },
    ...{ spot: 97_000.12, spotSource: 'binance_spot', spotBasis: null, sourcePrices: [] },
    ...{ strike: 96_990, strikeSource: 'official', strikeBasis: 'listing' },
    ...{ sigmaAnnual: 0.41, sigmaSource: 'binance_spot', sigmaWindowSeconds: 600, sigmaTau: 0.001 },
    ...{ logDiff: 0.0001, tauSeconds: 290, best: { yesBid: 0.01, yesAsk: 0.46, noBid: 0.01, noAsk: 0.47 } },
    legs: [
      { token: 'yes', levels: [{ price: 4600, size: 80_000_000 }] },
      { token: 'no', levels: [{ price: 4700, size: 80_000_000 }] },
    ],
    feeRule: { rate: 0.07, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' },
    ...{ takerHoldMs: 250, rulesVersion: '2026-11-20-abc' },
    ...changes,
  };
}
