import { expect, it } from 'vitest';
import { boundedCache } from './boundedCache.ts';

it('keeps as many entries as it may, and forgets the one that was not used for longest', () => {
  const cache = boundedCache<{ number: number }>(3);
  for (const name of ['a', 'b', 'c']) cache.set(name, { number: 1 });
  expect(cache.size).toBe(3);
  cache.get('a');
  cache.set('d', { number: 2 });
  expect([...cache.keys()].sort()).toEqual(['a', 'c', 'd']);
  cache.set('a', { number: 3 });
  expect([cache.size, cache.get('a')]).toEqual([3, { number: 3 }]);
});
