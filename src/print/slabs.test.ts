import { expect, test } from 'vitest';
import { giveBack, SLAB_BYTES, Slab } from './slabs.ts';

/** Whether a new slab reuses the memory of `before`. */
const isUsedAgain = (before: Slab) => new Slab(1).bytes === before.bytes;

test('reuses a slab that is closed when all of its pieces are given back, in any order', () => {
  const slab = new Slab(1);
  const [one, two] = [slab.piece(0, 10), slab.piece(10, 20)];
  giveBack(one);
  slab.close();
  expect(isUsedAgain(slab)).toBe(false);
  giveBack(two);
  expect(isUsedAgain(slab)).toBe(true);
});

test('counts a piece once, and ignores other buffers', () => {
  const slab = new Slab(1);
  const [one] = [slab.piece(0, 10), slab.piece(10, 20)];
  slab.close();
  slab.close();
  giveBack(one);
  giveBack(one);
  giveBack(slab.bytes.subarray(10, 20));
  expect(isUsedAgain(slab)).toBe(false);
});

test('reuses a slab without pieces, but not one larger than usual', () => {
  const small = new Slab(1);
  small.close();
  expect(isUsedAgain(small)).toBe(true);
  const large = new Slab(SLAB_BYTES + 1);
  large.close();
  expect(large.bytes.length).toBe(SLAB_BYTES + 1);
  expect(isUsedAgain(large)).toBe(false);
});

test('does not reuse a slab with a kept view, whatever is given back', () => {
  const slab = new Slab(1);
  const piece = slab.piece(0, 10);
  slab.view(10, 20);
  slab.close();
  giveBack(piece);
  expect(isUsedAgain(slab)).toBe(false);
});
