import { expect, test } from 'vitest';
import { RowBuffer } from './rowBuffer.ts';

const DAY_MS = 86_400_000;
const MIDNIGHT_MS = 20_780 * DAY_MS;

/** One row of as many bytes as its number for each pair of number and time. */
function bufferOf(...rows: readonly (readonly [seq: number, timeMs: number])[]): RowBuffer {
  const buffer = new RowBuffer();
  for (const [seq, timeMs] of rows) {
    buffer.reserve(seq);
    for (let byte = 0; byte < seq; byte++) buffer.u8(seq);
    buffer.endRow(seq, timeMs);
  }
  return buffer;
}

test('a row belongs to its UTC day from midnight to the last millisecond before the next', () => {
  const { days } = bufferOf([1, MIDNIGHT_MS - 1], [2, MIDNIGHT_MS], [3, MIDNIGHT_MS + DAY_MS - 1]);
  expect([...days.subarray(0, 3)]).toEqual([20_779, 20_780, 20_780]);
});

test('joined buffers have the rows of all, with their bytes, ends, numbers, days and bounds', () => {
  const joined = RowBuffer.joined([
    bufferOf([2, MIDNIGHT_MS], [1, MIDNIGHT_MS - 5]),
    bufferOf([3, MIDNIGHT_MS + 7]),
  ]);
  expect([...joined.bytes]).toEqual([2, 2, 1, 3, 3, 3]);
  expect([...joined.ends]).toEqual([2, 3, 6]);
  expect([[...joined.seqs], [...joined.days]]).toEqual([
    [2, 1, 3],
    [20_780, 20_779, 20_780],
  ]);
  expect([joined.timeMsMin, joined.timeMsMax]).toEqual([MIDNIGHT_MS - 5, MIDNIGHT_MS + 7]);
  const picked = joined.filter((row) => row !== 1);
  expect([...picked.bytes.subarray(0, picked.length)]).toEqual([2, 2, 3, 3, 3]);
});
