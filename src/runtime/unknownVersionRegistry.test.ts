import { expect, test } from 'vitest';
import { UnknownVersionRegistry } from './unknownVersionRegistry.ts';

test('each version and place is one row, and each of its markets is new once', () => {
  const versions = new UnknownVersionRegistry();
  const note = (market: string, timeMs: number, where = 'frame') =>
    versions.note({ where, version: 'v3', market, timeMs });
  expect([note('a', 1), note('a', 2), note('b', 3), note('a', 9), note('a', 4, 'gamma')]).toEqual([
    true,
    false,
    true,
    false,
    true,
  ]);
  expect(versions.rows()).toEqual([
    { where: 'frame', version: 'v3', markets: 2, newestMarket: 'b', lastTimeMs: 9 },
    { where: 'gamma', version: 'v3', markets: 1, newestMarket: 'a', lastTimeMs: 4 },
  ]);
});

test('the number of rows is limited', () => {
  const versions = new UnknownVersionRegistry();
  for (let i = 0; i < 30; i++) versions.note({ where: 'frame', version: `v${i}`, market: 'a', timeMs: i });
  expect(versions.rows()).toHaveLength(20);
});
