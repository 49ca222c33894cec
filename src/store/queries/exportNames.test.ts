import { expect, test } from 'vitest';
import { firstAndLast } from './exportNames.ts';

const ASSET = { dataset: 'underlying', ticker: 'BTC', source: 'rtds' } as never;

/** A store that has rows from 100 to 900, and the number of its queries. */
function storeWithRows() {
  let queries = 0;
  const store = {
    rows: async <T>() => {
      queries++;
      return [{ startMs: 100, endMs: 900 }] as T[];
    },
    stream: () => Promise.reject(new Error('not used')),
  };
  return { store, queries: () => queries };
}

test.each([
  ['both ends', { startMs: 5, endMs: 7 }, { startMs: 5, endMs: 7 }, 0],
  ['a start alone', { startMs: 5, endMs: null }, { startMs: 100, endMs: 900 }, 1],
  ['an end alone', { startMs: null, endMs: 7 }, { startMs: 100, endMs: 900 }, 1],
])('the name of a range with %s', async (_, range, named, queries) => {
  const asked = storeWithRows();
  const { signal } = new AbortController();
  expect(await firstAndLast(asked.store, ASSET, { range, signal })).toEqual(named);
  expect(asked.queries()).toBe(queries);
});
