import { expect, test } from 'vitest';
import { HUNDREDTH, isNarrow } from './narrowSizes.ts';

const MOST = 2 ** 32 - 1;

test.each([
  ['the smallest', HUNDREDTH, true],
  ['finer than 1/100 share', HUNDREDTH + 1, false],
  ['the largest of 32 bits', MOST * HUNDREDTH, true],
  ['more than 32 bits have', (MOST + 1) * HUNDREDTH, false],
])('a size is narrow if it is whole in 1/100 share and fits into 32 bits: %s', (_, size, narrow) => {
  const side = (sizes: number[], count: number) => ({
    ...{ count, prices: new Uint16Array(sizes.length) },
    sizes: Float64Array.from(sizes),
  });
  expect(isNarrow(side([HUNDREDTH, size], 2))).toBe(narrow);
  expect(isNarrow(side([HUNDREDTH, size], 1)), 'beyond the last level').toBe(true);
});
