import { expect, test } from 'vitest';
import { oneClock } from '../../../test/support/gaps.ts';
import type { GapRecord } from '../../schema/records.ts';
import { appendRecord } from '../tables/encoders.ts';
import { missingRows } from './missingRows.ts';
import { RowBuffer } from './rowBuffer.ts';

function gapOf(gapId: string, seq: number): GapRecord {
  return oneClock({
    ...{ gapId, marketId: '0x1', cause: 'disconnected', feed: 'f', repairedBy: null, seq },
    ...{ startTimeMs: 1_000, endTimeMs: null, knownTimeMs: 1_000, knownSeq: 1 },
  });
}

/** The numbers of the rows that are missing where the engine has the given newest ones. */
async function missing(
  records: readonly (readonly [gapId: string, seq: number])[],
  stored: Record<string, number>,
) {
  const rows = new RowBuffer();
  for (const [gapId, seq] of records) appendRecord(rows, 'gap', gapOf(gapId, seq), false);
  const found = Object.entries(stored).map(([gap_id, newest]) => ({ market_id: '0x1', gap_id, newest }));
  const left = await missingRows({ rows: async () => found as never }, 'gaps', rows);
  return [...left.seqs.subarray(0, left.rows)];
}

test('of several rows of a key only the newest is missing, wherever it is in the batch', async () => {
  expect(
    await missing(
      [
        ['a', 5],
        ['b', 6],
        ['a', 7],
      ],
      {},
    ),
  ).toEqual([6, 7]);
  expect(
    await missing(
      [
        ['a', 7],
        ['b', 6],
        ['a', 5],
      ],
      {},
    ),
  ).toEqual([7, 6]);
});

test('a row is missing only where the engine has none as new', async () => {
  const batch = [
    ['a', 5],
    ['b', 5],
    ['c', 5],
    ['d', 5],
  ] as const;
  expect(await missing(batch, { a: 4, b: 5, c: 6 })).toEqual([5, 5]);
  expect(await missing(batch, { a: 5, b: 5, c: 5, d: 5 })).toEqual([]);
});
