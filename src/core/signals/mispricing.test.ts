import { expect, test } from 'vitest';
import { marketState } from '../../../test/support/marketState.ts';
import { MARKET } from '../../../test/support/wire.ts';
import { TakerFee } from '../fees.ts';
import type { LadderSide } from '../ladderSide.ts';
import { detectMispricing, mispricedToken } from './mispricing.ts';

/** At the money the model says one half; five minutes are left. */
const READINGS = { nowMs: MARKET.endTimeMs - 300_000 };

/** YES at a bid and an ask, NO its mirror. */
function book(bid: number, ask: number) {
  return {
    yesBids: [[bid, 10]],
    yesAsks: [[ask, 20]],
    noBids: [[1 - ask, 20]],
    noAsks: [[1 - bid, 10]],
  } as const;
}

function detect(bid: number, ask: number, changes: Parameters<typeof marketState>[1] = {}) {
  return detectMispricing(
    marketState(book(bid, ask), { ...changes, readings: { ...READINGS, ...changes.readings } }),
  );
}

test('detects YES too cheap', () => {
  const signal = detect(0.42, 0.44);
  const yesProb = signal?.modelYesProb as number;
  expect(yesProb).toBeCloseTo(0.4997, 3);
  expect(signal).toMatchObject({
    tier: 'stable',
    confidence: 'stable',
    direction: 'BUY_YES',
    fillPrice: 0.44,
  });
  expect(signal).toMatchObject({ availableSize: 20, marketYesMid: 0.43 });
  expect(signal?.estFeePerShare).toBeCloseTo(0.07 * 0.44 * 0.56, 12);
  expect(signal?.edgePerShare).toBeCloseTo(yesProb - 0.44 - 0.07 * 0.44 * 0.56, 12);
});

test('detects NO too cheap', () => {
  const signal = detect(0.56, 0.58);
  expect(signal).toMatchObject({ direction: 'BUY_NO', fillPrice: 0.44, availableSize: 10 });
  expect(signal?.edgePerShare).toBeCloseTo(
    1 - (signal?.modelYesProb as number) - 0.44 - 0.07 * 0.44 * 0.56,
    12,
  );
});

test('of two tokens below their value it buys the one with the higher edge, and YES of two equal ones', () => {
  const both = (yesAsk: number, noAsk: number) => {
    const sides = { yesBids: [[yesAsk - 0.02, 10]], yesAsks: [[yesAsk, 20]] } as const;
    const mirror = { noBids: [[noAsk - 0.02, 10]], noAsks: [[noAsk, 20]] } as const;
    const state = marketState({ ...sides, ...mirror }, { readings: READINGS });
    return [mispricedToken(state, 0.5), detectMispricing(state)?.direction];
  };
  expect(both(0.43, 0.42)).toEqual(['no', 'BUY_NO']);
  expect(both(0.42, 0.43)).toEqual(['yes', 'BUY_YES']);
  // The model says a little below one half: there NO has the higher edge.
  expect(both(0.42, 0.42)).toEqual(['yes', 'BUY_NO']);
});

test('a price unchanged for less than 30 s makes it stale', () => {
  expect(detect(0.42, 0.44, { heldMs: 29_999 })).toMatchObject({ tier: 'stale', confidence: 'stale' });
  expect(detect(0.42, 0.44, { heldMs: 30_000 })?.tier).toBe('stable');
});

test('requires four cents after the fee', () => {
  // At 0.4429 and 0.443 the edge is 0.03953 and 0.03943; at 0.4420, 0.0404.
  expect(detect(0.43, 0.442)?.edgePerShare).toBeGreaterThan(0.04);
  expect(detect(0.43, 0.443)).toBeNull();
});

test('requires a spread of six cents at most, and a bid', () => {
  expect(detect(0.38, 0.44)).not.toBeNull();
  expect(detect(0.3799, 0.44)).toBeNull();
  expect(detectMispricing(marketState({ yesAsks: [[0.44, 20]] }, { readings: READINGS }))).toBeNull();
});

test.each([
  // A standard deviation is 15.4 bp: 40 bp ahead the model says 0.995, 25 bp behind 0.053.
  [0.05, 97_000 * Math.exp(-0.0025), 'fair'],
  [0.05, 97_000, 'BUY_YES'],
  [0.0499, 97_000, 'capped'],
  [0.85, 97_000 * Math.exp(0.004), 'BUY_YES'],
  [0.8501, 97_000 * Math.exp(0.004), 'capped'],
])('at an ask of %d with spot %d: %s', (ask, spot, expected) => {
  const side = { yesBids: [[ask - 0.01, 1]], yesAsks: [[ask, 1]] } as const;
  const signal = detectMispricing(marketState(side, { readings: { ...READINGS, spot } }));
  expect(signal?.direction ?? null).toBe(expected === 'BUY_YES' ? expected : null);
});

test('requires three minutes', () => {
  expect(detect(0.42, 0.44, { readings: { nowMs: MARKET.endTimeMs - 180_000 } })).not.toBeNull();
  expect(detect(0.42, 0.44, { readings: { nowMs: MARKET.endTimeMs - 179_999 } })).toBeNull();
});

test('signals nothing for an incomplete book or model', () => {
  expect(detect(0.42, 0.44, { trusted: false })).toBeNull();
  expect(detect(0.42, 0.44, { readings: { strike: null } })).toBeNull();
  expect(detect(0.42, 0.44, { readings: { sigmaAnnual: null } })).toBeNull();
  const crossed = { ...book(0.42, 0.44), noBids: [[0.59, 1]] as const };
  expect(detectMispricing(marketState(crossed, { readings: READINGS }))).toBeNull();
  const yesCrossed = { ...book(0.42, 0.44), yesBids: [[0.45, 1]] as const };
  expect(detectMispricing(marketState(yesCrossed, { readings: READINGS }))).toBeNull();
});

test('an edge of exactly four cents is enough', () => {
  const fee = new TakerFee({ rate: 0, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' });
  const { yes, no } = marketState({ yesBids: [[0.05, 1]], yesAsks: [[0.0501, 1]] });
  const yesProb = 0.0901;
  expect(fee.edge(501, yesProb)).toBe(0.04);
  expect(mispricedToken({ yes, no, fee }, yesProb)).toBe('yes');
});

test('an ask that was removed is not bought', () => {
  const state = marketState({ yesBids: [[0.42, 10]], yesAsks: [[0.44, 20]] }, { readings: READINGS });
  expect(mispricedToken(state, 0.5)).toBe('yes');
  (state.yes.asks as LadderSide).set(4_400, 0);
  expect(mispricedToken(state, 0.5)).toBeNull();
});
