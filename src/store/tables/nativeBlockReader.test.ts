import { expect, test } from 'vitest';
import { NativeBlockReader } from './nativeBlockReader.ts';

const word = (value: string) => Buffer.concat([Buffer.of(value.length), Buffer.from(value)]);
const int64 = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
};
/** Two rows: a number, a nullable number, and arrays of one and of two ticks. */
const BLOCK = Buffer.concat([
  Buffer.of(3, 2),
  ...[word('a'), word('Int64'), int64(-2n), int64(1_795_176_000_123n)],
  ...[word('b'), word('Nullable(Float64)'), Buffer.of(1, 0), Buffer.alloc(14), Buffer.of(0xf8, 0x3f)],
  ...[word('c'), word('Array(UInt16)'), int64(1n), int64(3n), Buffer.of(1, 0, 0x10, 0x27, 3, 0)],
]);

test('columns of every layout are read, at any cut of the block', () => {
  for (let cut = 0; cut <= BLOCK.length; cut++) {
    const blocks = new NativeBlockReader();
    blocks.add(BLOCK.subarray(0, cut));
    const early = blocks.next();
    expect(early).toBe(cut === BLOCK.length ? 2 : null);
    blocks.add(BLOCK.subarray(cut));
    if (early === null) expect(blocks.next()).toBe(2);
    const [times, prices, levels] = blocks.columns;
    expect([times?.integer(0), times?.integer(1)]).toEqual([-2, 1_795_176_000_123]);
    expect([prices?.nulls[0], prices?.nulls[1], prices?.doubles[1]]).toEqual([1, 0, 1.5]);
    expect([levels?.starts[0], levels?.starts[2], levels?.starts[4]]).toEqual([0, 1, 3]);
    expect([...(levels?.ticks.subarray(0, 3) ?? [])]).toEqual([1, 10_000, 3]);
    expect([blocks.next(), blocks.isWhole]).toEqual([null, true]);
  }
});

test('a block without rows is skipped, and the next one is read', () => {
  const blocks = new NativeBlockReader();
  blocks.add(Buffer.concat([Buffer.of(1, 0), word('a'), word('Array(UInt16)'), BLOCK, BLOCK.subarray(0, 5)]));
  expect([blocks.next(), blocks.next(), blocks.next(), blocks.isWhole]).toEqual([0, 2, null, false]);
});

test('an unknown column type is a program error', () => {
  const blocks = new NativeBlockReader();
  blocks.add(Buffer.concat([Buffer.of(1, 1), word('a'), word('Decimal(18, 8)'), int64(1n)]));
  expect(() => blocks.next()).toThrow(new TypeError('a column of type Decimal(18, 8) is not read here'));
});
