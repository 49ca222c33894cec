import { expect, test } from 'vitest';
import { UnderlyingState } from './underlyingState.ts';

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
