import { expect, test } from 'vitest';
import { crashPaper } from '../crash/paper.ts';
import { bundle } from '../support/store.ts';

test('a trading process killed ten times has the same result as an undisturbed one', async () => {
  const script = await bundle('test/crash/tradingPaper.ts');
  const result = await crashPaper({ kills: 10, script, random: Math.random });
  expect(result).toMatchObject({ kills: 10, differing: 0, unbalanced: 0 });
  expect(result.positions).toBeGreaterThan(5);
});
