import { expect, test } from 'vitest';
import { marketState } from '../../../test/support/marketState.ts';
import { MARKET } from '../../../test/support/wire.ts';
import { TakerFee } from '../fees.ts';
import type { LadderSide } from '../ladderSide.ts';
import { normalCdf } from '../pricing/normal.ts';
import { detectEndgame } from './endgame.ts';
import { repricedEdge } from './signal.ts';

const BOOK = {
  yesBids: [[0.93, 10]],
  yesAsks: [[0.95, 40]],
  noBids: [[0.05, 40]],
  noAsks: [[0.07, 10]],
} as const;
const MIRRORED = { yesBids: BOOK.noBids, yesAsks: BOOK.noAsks, noBids: BOOK.yesBids, noAsks: BOOK.yesAsks };

/** Two minutes before the end at sigma 50 %: a standard deviation is 9.75 bp, 94.6 USD. */
const AHEAD = { spot: 97_200, strike: 97_000 };

function secondsBefore(seconds: number, spot = 97_200) {
  return { ...AHEAD, spot, nowMs: MARKET.endTimeMs - seconds * 1_000 };
}

test('detects the winning side for sale below its value', () => {
  const signal = detectEndgame(marketState(BOOK, { readings: AHEAD }));
  const deviation = 0.5 * Math.sqrt(120 / 31_536_000);
  const p = normalCdf(Math.log(97_200 / 97_000) / deviation - deviation / 2);
  expect(signal).toMatchObject({ tier: 'endgame', direction: 'BUY_YES', confidence: 'stable' });
  expect(signal).toMatchObject({ fillPrice: 0.95, availableSize: 40, marketYesMid: 0.94 });
  expect(signal?.fillSpread).toBeCloseTo(0.02, 12);
  expect(signal?.estFeePerShare).toBeCloseTo(0.003325, 12);
  expect(signal?.modelYesProb).toBeCloseTo(p, 12);
  expect(signal?.edgePerShare).toBeCloseTo(p - 0.95 - 0.003325, 12);
  expect(signal?.model).toMatchObject({ spot: 97_200, strike: 97_000, secondsLeft: 120, sigmaAnnual: 0.5 });
  expect(signal?.model.sigmaTau).toBeCloseTo(deviation, 15);
  expect(signal?.model.logDiff).toBeCloseTo(Math.log(97_200 / 97_000), 15);
  expect(signal && repricedEdge(signal, 0.97)).toBeCloseTo(0.97 - 0.95 - 0.003325, 12);
});

test('detects a win of Down in the same way', () => {
  const signal = detectEndgame(marketState(MIRRORED, { readings: { ...AHEAD, spot: 96_800 } }));
  expect(signal).toMatchObject({ direction: 'BUY_NO', fillPrice: 0.95 });
  expect(signal?.modelYesProb).toBeLessThan(0.03);
  expect(signal && repricedEdge(signal, 0.01)).toBeCloseTo(0.99 - 0.95 - 0.003325, 12);
  expect(signal?.legs).toEqual([{ token: 'no', levels: [{ price: 9_500, size: 40_000_000 }] }]);
});

test.each([
  [121, false],
  [120, true],
  [25, true],
  [24.9, false],
  [0, false],
])('is an opportunity with %d s left: %s', (seconds, expected) => {
  expect(detectEndgame(marketState(BOOK, { readings: secondsBefore(seconds) })) !== null).toBe(expected);
});

test.each([
  ['5m', true],
  ['15m', true],
  ['1h', false],
  ['4h', false],
  ['daily_up_down', false],
  ['unknown', false],
] as const)('is an opportunity in a window of %s: %s', (eventType, expected) => {
  expect(detectEndgame(marketState(BOOK, { eventType, readings: AHEAD })) !== null).toBe(expected);
});

test('requires 95 % certainty by distance: 1.645 standard deviations', () => {
  const cheap = { ...BOOK, yesAsks: [[0.5, 40]], yesBids: [[0.49, 1]] } as const;
  const deviation = 0.5 * Math.sqrt(120 / 31_536_000);
  const at = (deviations: number) =>
    detectEndgame(
      marketState(cheap, { readings: { ...AHEAD, spot: 97_000 * Math.exp(deviations * deviation) } }),
    );
  expect(at(1.644)).toBeNull();
  expect(at(1.646)?.direction).toBe('BUY_YES');
});

test('buys at 0.985 at most, and never above the value of the share', () => {
  const sure = { ...AHEAD, spot: 98_000 };
  const asking = (ask: number) => ({ ...BOOK, yesAsks: [[ask, 5]] as const });
  expect(detectEndgame(marketState(asking(0.985), { readings: sure }))).not.toBeNull();
  expect(detectEndgame(marketState(asking(0.986), { readings: sure }))).toBeNull();
  // P(Up) is 0.983 here.
  expect(detectEndgame(marketState(asking(0.98), { readings: AHEAD }))).not.toBeNull();
  expect(detectEndgame(marketState(asking(0.982), { readings: AHEAD }))).toBeNull();
});

test('signals nothing where the share costs exactly its value', () => {
  const fee = new TakerFee({ rate: 0, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' });
  const state = marketState({ ...BOOK, yesAsks: [[0.98, 5]] }, { readings: AHEAD, fee });
  state.model.yesProb = 0.98;
  expect(detectEndgame(state)).toBeNull();
  state.model.yesProb = 0.9801;
  expect(detectEndgame(state)?.direction).toBe('BUY_YES');
});

test('requires two sources on the winning side', () => {
  const seenBy = (...sourcePrices: number[]) =>
    detectEndgame(marketState(BOOK, { readings: AHEAD, sourcePrices }));
  expect(seenBy(97_200)).toBeNull();
  expect(seenBy(97_200, 96_999)).toBeNull();
  expect(seenBy(97_200, 97_000)).not.toBeNull();
  expect(seenBy(97_200, 96_999, 97_100)).not.toBeNull();
});

test('counts a source at the strike for Up, not for Down: a tie is Up', () => {
  const seenBy = (...sourcePrices: number[]) =>
    detectEndgame(marketState(MIRRORED, { readings: { ...AHEAD, spot: 96_800 }, sourcePrices }));
  expect(seenBy(96_800, 97_000)).toBeNull();
  expect(seenBy(96_800, 96_999)?.direction).toBe('BUY_NO');
});

test('a locked book is not crossed, and a winning side without a bid has the whole price as its spread', () => {
  const locked = { ...BOOK, noBids: [[0.07, 1]] } as const;
  expect(detectEndgame(marketState(locked, { readings: AHEAD }))?.direction).toBe('BUY_YES');
  const asked = detectEndgame(marketState({ ...BOOK, yesBids: [] }, { readings: AHEAD }));
  expect(asked).toMatchObject({ fillSpread: 0.95, marketYesMid: null });
  expect(asked?.best).toEqual({ yesBid: null, yesAsk: 0.95, noBid: 0.05, noAsk: 0.07 });
});

test('a bid that was removed crosses nothing', () => {
  const state = marketState({ ...BOOK, yesBids: [[0.96, 1]] }, { readings: AHEAD });
  expect(detectEndgame(state)).toBeNull();
  (state.yes.bids as LadderSide).set(9_600, 0);
  expect(detectEndgame(state)?.direction).toBe('BUY_YES');
});

test('is as old as the price of the token that it buys', () => {
  const state = marketState(MIRRORED, { readings: { ...AHEAD, spot: 96_800 } });
  (state.no.asks as LadderSide).set(9_400, 1_000_000);
  state.priceAge.update(state, state.nowMs - 4_000);
  expect(detectEndgame(state)).toMatchObject({ direction: 'BUY_NO', heldMs: 4_000, confidence: 'stale' });
});

test('signals nothing for an incomplete book or model', () => {
  const state = (readings: object, rest: object = {}) =>
    marketState(BOOK, { readings: { ...AHEAD, ...readings }, ...rest });
  expect(detectEndgame(state({}, { trusted: false }))).toBeNull();
  expect(detectEndgame(state({ strike: null }))).toBeNull();
  expect(detectEndgame(state({ sigmaAnnual: null }))).toBeNull();
  expect(detectEndgame(state({ spot: null }))).toBeNull();
  expect(detectEndgame(marketState({ ...BOOK, yesAsks: [] }, { readings: AHEAD }))).toBeNull();
  expect(detectEndgame(marketState({ ...BOOK, noBids: [[0.08, 1]] }, { readings: AHEAD }))).toBeNull();
  expect(detectEndgame(marketState({ ...BOOK, yesBids: [[0.96, 1]] }, { readings: AHEAD }))).toBeNull();
});
