import { expect, test } from 'vitest';
import { UnderlyingState } from './underlyingState.ts';

/** A price at each whole second from 0 to the last, received when the venue made it. */
function pushSeconds(state: UnderlyingState, lastSecond: number): void {
  for (let second = 0; second <= lastSecond; second++) {
    const timeMs = second * 1_000;
    state.push({ receivedMs: timeMs, eventMs: timeMs, price: 97_000 + ((second * second) % 97) });
  }
}

/** Whether the volatility is known after each of these seconds, with a price a second. */
function knownAfter(state: UnderlyingState, seconds: readonly number[]): boolean[] {
  return Array.from({ length: Math.max(...seconds) + 1 }, (_, second) => {
    const timeMs = second * 1_000;
    state.push({ receivedMs: timeMs, eventMs: timeMs, price: 97_000 + (second % 7) });
    return state.sigmaAnnual !== null;
  }).filter((_, second) => seconds.includes(second));
}

test('the volatility is computed from the earliest time on that it is needed', () => {
  const state = new UnderlyingState({ sigmaFromMs: 500_000 });
  state.computeSigmaFrom(400_000);
  state.computeSigmaFrom(450_000);
  expect(knownAfter(state, [399, 400])).toEqual([false, true]);
});

test('the model’s volatility is that of ten minutes', () => {
  const state = new UnderlyingState();
  pushSeconds(state, 1_500);
  const over = (windowSeconds: number) => state.measure({ of: 'volatility', windowSeconds }, 1_500_000);
  expect(state.sigmaAnnual).toBe(over(600));
  expect([over(599), over(601)]).not.toContain(over(600));
});

test('a volatility is that of whole seconds: a second price in a second does not change it', () => {
  const state = new UnderlyingState();
  const volatility = () => state.measure({ of: 'volatility', windowSeconds: 60 }, 100_500);
  pushSeconds(state, 100);
  const before = [volatility(), state.sigmaAnnual];
  for (const [at, price] of [
    [100_200, 98_000],
    [100_500, 96_000],
  ] as const)
    state.push({ receivedMs: at, eventMs: at, price });
  expect([volatility(), state.sigmaAnnual]).toEqual(before);
  expect(before[0]).toBeGreaterThan(0);
});

test('there is no volatility without a fresh price', () => {
  const state = new UnderlyingState();
  knownAfter(state, [100]);
  const volatilityAt = (nowMs: number) => state.measure({ of: 'volatility', windowSeconds: 60 }, nowMs);
  expect(volatilityAt(110_000)).toBeGreaterThan(0);
  expect(volatilityAt(110_001)).toBeNaN();
});

const OPEN_MS = 100_000;
const MOVE = { of: 'move_usd', windowSeconds: null } as const;

/** A state that was given prices: receive time from the open, price, and the venue's own time if it is another. */
function stateWith(...prices: readonly (readonly [at: number, price: number, eventAt?: number])[]) {
  const state = new UnderlyingState({ openMs: OPEN_MS });
  for (const [at, price, eventAt = at] of prices)
    state.push({ receivedMs: OPEN_MS + at, eventMs: OPEN_MS + eventAt, price });
  return state;
}

test('a price is fresh for ten seconds', () => {
  const state = stateWith([0, 97_000]);
  expect([10_000, 10_001].map((at) => state.priceAt(OPEN_MS + at))).toEqual([97_000, Number.NaN]);
});

test('a price is as fresh as its receipt, though the venue made it earlier', () => {
  const state = stateWith([5_000, 97_000, 1_000]);
  expect([15_000, 15_001].map((at) => state.priceAt(OPEN_MS + at))).toEqual([97_000, Number.NaN]);
});

test.each([
  ['one received ten seconds before the open', [[-10_000, 100]], [1_000, 103], 3],
  [
    'one received exactly at the open, before an earlier one',
    [
      [-1_000, 90],
      [0, 100],
    ],
    [1_000, 103],
    3,
  ],
  [
    'one received ten seconds after the open, if the one before it is too old',
    [
      [-10_001, 90],
      [10_000, 100],
    ],
    [11_000, 103],
    3,
  ],
  [
    'the first one received after the open',
    [
      [1_000, 100],
      [2_000, 101],
    ],
    [3_000, 103],
    3,
  ],
  [
    'none, if the one before the open is too old and the one after it too late',
    [
      [-10_001, 90],
      [10_001, 100],
    ],
    [11_000, 103],
    Number.NaN,
  ],
] as const)('the price that a move is measured from: %s', (_, before, [at, price], move) => {
  const state = stateWith(...before, [at, price]);
  expect(state.measure(MOVE, OPEN_MS + at)).toBe(move);
});

test('there is no move before the open', () => {
  const state = stateWith([-1_000, 100], [-1, 103]);
  expect([-1, 0].map((at) => state.measure(MOVE, OPEN_MS + at))).toEqual([Number.NaN, 0]);
});

test('a late price is no current price, and belongs to its own second of a mean', () => {
  const state = stateWith([1_000, 100], [2_000, 100], [8_001, 110, 3_000], [8_002, 90, 3_002]);
  expect(state.priceAt(OPEN_MS + 8_001)).toBe(90);
  const mean = state.mean({ fromMs: OPEN_MS, toMs: OPEN_MS + 3_000 });
  expect(mean).toBeCloseTo((100 + 100 + 90) / 3, 9);
  const late = stateWith([1_000, 100], [2_000, 100], [8_001, 110, 3_000]);
  expect(late.priceAt(OPEN_MS + 8_001)).toBe(100);
  expect(late.mean({ fromMs: OPEN_MS, toMs: OPEN_MS + 3_000 })).toBeCloseTo(310 / 3, 9);
});

test('prices beside quotes count until the deciding feed has one', () => {
  const state = new UnderlyingState();
  state.pushBesideQuote({ receivedMs: 1_000, price: 90 });
  state.pushBesideQuote({ receivedMs: 2_000, price: 0 });
  expect(state.priceAt(2_000)).toBe(90);
  state.push({ receivedMs: 3_000, eventMs: 3_000, price: -1 });
  expect(state.priceAt(3_000)).toBe(90);
  state.push({ receivedMs: 3_000, eventMs: 3_000, price: 100 });
  expect(state.priceAt(3_000)).toBe(100);
  state.pushBesideQuote({ receivedMs: 4_000, price: 91 });
  expect(state.priceAt(4_000)).toBe(100);
});

test('prices beside quotes have no part in a move, a mean or a volatility of the deciding feed', () => {
  const [after, alone] = [{ openMs: 49_000 }, { openMs: 49_000 }].map((terms) => new UnderlyingState(terms));
  for (let receivedMs = 1_000; receivedMs < 50_000; receivedMs += 1_000)
    after?.pushBesideQuote({ receivedMs, price: 50 + (receivedMs % 7_000) });
  for (let receivedMs = 50_000; receivedMs < 200_000; receivedMs += 1_000) {
    const point = { receivedMs, eventMs: receivedMs, price: 97_000 + (receivedMs % 9_000) };
    for (const state of [after, alone]) state?.push(point);
    const [seen, expected] = [after, alone].map((state) => [
      ...[state?.sigmaAnnual, state?.mean({ fromMs: receivedMs - 10_000, toMs: receivedMs })],
      state?.measure({ of: 'volatility', windowSeconds: 60 }, receivedMs),
      state?.measure(MOVE, receivedMs),
    ]);
    expect(seen).toEqual(expected);
  }
  expect(alone?.sigmaAnnual).not.toBeNull();
});

test('a volatility over a window changes with every second', () => {
  const state = new UnderlyingState();
  const volatility = { of: 'volatility', windowSeconds: 60 } as const;
  const read = Array.from({ length: 62 }, (_, second) => {
    const receivedMs = second * 1_000;
    state.push({ receivedMs, eventMs: receivedMs, price: 97_000 + 10 * ((second * second) % 7) });
    return state.measure(volatility, receivedMs);
  });
  const known = read.filter((value) => !Number.isNaN(value));
  expect(known.length).toBeGreaterThan(1);
  expect(new Set(known).size).toBe(known.length);
});

test('a price received in an earlier second than the one before is not the last one of the newer second', () => {
  const volatility = { of: 'volatility', windowSeconds: 60 } as const;
  const [plain, stepped] = [false, true].map((isStepped) => {
    const state = new UnderlyingState();
    for (let second = 0; second < 62; second++) {
      const receivedMs = second * 1_000 + 500;
      state.push({ receivedMs, eventMs: receivedMs, price: 97_000 + 10 * ((second * second) % 7) });
      // The clock went back for a moment.
      if (isStepped && second === 50) state.push({ receivedMs: 49_900, eventMs: 49_900, price: 90_000 });
    }
    return state.measure(volatility, 61_500);
  });
  expect(plain).not.toBeNaN();
  expect(stepped).toBe(plain);
});

test('the volatility of prices beside quotes ends with the deciding feed’s first price, though that is late', () => {
  const state = new UnderlyingState();
  for (let second = 0; second <= 620; second++)
    state.pushBesideQuote({ receivedMs: second * 1_000, price: 97_000 + (second % 7) });
  expect(state.sigmaAnnual).not.toBeNull();
  state.push({ receivedMs: 621_000, eventMs: 615_000, price: 97_000 });
  expect(state.sigmaAnnual).toBeNull();
});
