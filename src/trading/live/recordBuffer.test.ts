import { expect, test } from 'vitest';
import { RecordBuffer } from './recordBuffer.ts';

test('a buffer overflows with the first record beyond its limit, and knows the first number', () => {
  const buffer = new RecordBuffer(2);
  const push = (seq: number) => buffer.price({ seq, receivedMs: seq, eventMs: seq, price: 97_000 });
  push(8);
  push(9);
  expect(buffer.overflowed).toBe(false);
  push(10);
  expect([buffer.overflowed, buffer.firstSeq]).toEqual([true, 8]);
});
