import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { rowHash } from './rowHash.ts';

const TEXT = [{ name: 'text', kind: 'text', nullable: false, unit: null }] as const;
const LEVELS = [{ name: 'bids', kind: 'levels', nullable: false, unit: null }] as const;

// RowBinary's lengths: seven bits a byte, the lowest first; the high bit says that more follow.
test.each([
  [0, [0]],
  [127, [0x7f]],
  [128, [0x80, 0x01]],
  [16_383, [0xff, 0x7f]],
  [16_384, [0x80, 0x80, 0x01]],
])('a text of %i bytes, and as many levels, are hashed as RowBinary', (length, varint) => {
  const text = Buffer.concat([Buffer.from(varint), Buffer.alloc(length, 'x')]);
  expect(rowHash(TEXT, ['x'.repeat(length)])).toEqual(hash('sha256', text, 'buffer'));
  const level = Buffer.alloc(16);
  level.writeDoubleLE(0.5, 0);
  level.writeDoubleLE(3, 8);
  const levels = Buffer.concat([Buffer.from(varint), ...Array.from({ length }, () => level)]);
  const row = [Array.from({ length }, () => [0.5, 3] as const)];
  expect(rowHash(LEVELS, row)).toEqual(hash('sha256', levels, 'buffer'));
});
