import { expect, test } from 'vitest';
import { book } from '../../../test/support/records.ts';
import { snapshotOf } from '../bookCopy.ts';
import { ladderHash } from './ladderHash.ts';

const LEVEL = [[5_000, 1_000_000]] as const;
const hashOf = (yes: ReturnType<typeof book>) => ladderHash({ yes, no: book([], []), mirrored: true });

test('a bid alone and an ask alone of the same price and size are two books', () => {
  expect(hashOf(book(LEVEL, []))).not.toBe(hashOf(book([], LEVEL)));
});

test('only displayed levels count, whatever else the arrays contain', () => {
  const levels = book(LEVEL, [[5_100, 2_000_000]]);
  expect(levels.bids.prices.length).toBeGreaterThan(levels.bids.count);
  expect(hashOf(levels)).toBe(hashOf(snapshotOf(levels)));
});
