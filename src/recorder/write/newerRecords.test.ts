import { expect, test } from 'vitest';
import { MemoryValues } from '../../../test/support/memoryElection.ts';
import { SEQS_PER_MILLISECOND } from '../../schema/records.ts';
import { readCheckpoint, valuesOfStream, writeCheckpoint } from './checkpoint.ts';
import { newerRecords } from './newerRecords.ts';

const storeWith = (seq: number) => ({
  rows: async <T>() => [{ seq: String(seq) }] as T[],
  stream: () => Promise.reject(new Error('not used')),
});

test.each([
  ['an empty store', 0, 0],
  ['records of the stream alone', 1_021, 0],
  // A server that lost its power, or leads the stream for a moment only, has not all of the stored messages.
  ['a record that is a million messages ahead of the stream', 2_001_021, 0],
  ['a record that is further ahead', 2_001_022, 1],
  ['a record of a second after the creation of the stream', 1_000 + 1_000 * SEQS_PER_MILLISECOND, 1],
  ['a record numbered by the clock', 8e15, 1],
])('%s', async (_, newest, reasons) => {
  const stream = { baseSeq: 1_000, lastSeq: async () => 10 };
  expect(await newerRecords(storeWith(newest), stream)).toHaveLength(reasons);
});

test('a stream that was created again has no checkpoint', async () => {
  const values = new MemoryValues();
  const checkpoint = { streamSeq: 70, timeMs: 5, state: null };
  await writeCheckpoint(valuesOfStream(values, { baseSeq: 1_000 }), 0, checkpoint);
  expect(await readCheckpoint(valuesOfStream(values, { baseSeq: 1_000 }), 0)).toEqual(checkpoint);
  expect((await readCheckpoint(valuesOfStream(values, { baseSeq: 2_000 }), 0)).streamSeq).toBe(0);
});
