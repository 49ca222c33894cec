import { expect, test } from 'vitest';
import { takerDelayOf } from './takerDelay.ts';

test.each([
  [3, 3000, 'whole seconds, as in sports'],
  ['0.25', 250, 'the text of an older answer'],
  ['1', 1000, 'a whole number as text'],
  [0.0005, 1, 'rounded to whole milliseconds'],
  [0, null, 'windows held for 150 ms had 0'],
  ['0', null, 'the same as text'],
  [-1, null, 'no delay is negative'],
  [60, 60_000, 'the longest that is plausible'],
  [61, null, 'not plausible in seconds: perhaps milliseconds'],
  [250, null, 'the same'],
  ['soon', null, 'no number'],
  ['', null, 'empty'],
  [null, null, 'absent'],
  [undefined, null, 'absent'],
  [true, null, 'another type'],
  [Number.NaN, null, 'not a number'],
])('%j is %j ms: %s', (seconds, delayMs, _) => {
  expect(takerDelayOf(seconds)).toBe(delayMs);
});
