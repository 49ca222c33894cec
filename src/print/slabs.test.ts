import { expect, test } from 'vitest';
import { giveBack, SLAB_BYTES, Slab } from './slabs.ts';

/** Whether a slab made now prints into the memory of `before`. */
const isUsedAgain = (before: Slab) => new Slab(1).bytes === before.bytes;

test('a slab is used again once it is closed and all of its pieces are back, in whatever order', () => {
  const slab = new Slab(1);
  const [one, two] = [slab.piece(0, 10), slab.piece(10, 20)];
  giveBack(one);
  slab.close();
  expect(isUsedAgain(slab)).toBe(false);
  giveBack(two);
  expect(isUsedAgain(slab)).toBe(true);
});

test('a piece counts once, and what is no piece does not count', () => {
  const slab = new Slab(1);
  const [one] = [slab.piece(0, 10), slab.piece(10, 20)];
  slab.close();
  slab.close();
  giveBack(one);
  giveBack(one);
  giveBack(slab.bytes.subarray(10, 20));
  expect(isUsedAgain(slab)).toBe(false);
});

test('a slab of which nothing was sent is used again, one larger than usual is not kept', () => {
  const small = new Slab(1);
  small.close();
  expect(isUsedAgain(small)).toBe(true);
  const large = new Slab(SLAB_BYTES + 1);
  large.close();
  expect(large.bytes.length).toBe(SLAB_BYTES + 1);
  expect(isUsedAgain(large)).toBe(false);
});

test('a slab of which somebody keeps a view is not used again, whatever is given back', () => {
  const slab = new Slab(1);
  const piece = slab.piece(0, 10);
  slab.view(10, 20);
  slab.close();
  giveBack(piece);
  expect(isUsedAgain(slab)).toBe(false);
});
