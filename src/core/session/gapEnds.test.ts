import { expect, test } from 'vitest';
import { GapEnds } from './gapEnds.ts';

test('a record received at the very end of a gap is still in it, the next millisecond is not', () => {
  const ends = new GapEnds();
  ends.add(1_000);
  expect([ends.pass(1_000), ends.count]).toEqual([null, 1]);
  expect([ends.pass(1_001), ends.count]).toEqual([1_000, 0]);
});

test('ends are passed one by one, the earliest first, in whatever order they became known', () => {
  const ends = new GapEnds();
  for (const endMs of [3_000, 1_000, 2_000]) ends.add(endMs);
  expect([ends.pass(2_500), ends.pass(2_500), ends.pass(2_500), ends.count]).toEqual([1_000, 2_000, null, 1]);
});
